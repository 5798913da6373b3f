"""Files that are written from the schema fit it."""

import subprocess
import sys

import pytest

from conftest import REPOSITORY


@pytest.mark.parametrize("tool", ["typed_scenario", "scenario_reference", "transports"])
def test_what_is_written_from_the_schema_fits_it(tool: str) -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / f"{tool}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
