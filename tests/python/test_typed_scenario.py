"""The typed scenario objects are those of the schema."""

import subprocess
import sys

from conftest import REPOSITORY


def test_the_typed_scenario_fits_the_schema() -> None:
    tool = REPOSITORY / "tools" / "typed_scenario.py"
    done = subprocess.run([sys.executable, tool, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
