"""Files that are written from the schema, or from results, fit them."""

import subprocess
import sys

import pytest

from conftest import REPOSITORY


@pytest.mark.parametrize(
    "tool",
    ["typed_scenario", "scenario_reference", "results_reference", "recomputed", "transports", "how_long", "gallery"],
)
def test_what_is_written_from_something_else_fits_it(tool: str) -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / f"{tool}.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
