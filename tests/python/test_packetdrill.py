"""The project's own packetdrill scripts, and the page of conformance."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

from conftest import REPOSITORY
from packetdrill import OWN_SCRIPTS, Version, expected_to_fail, missing, run, scripts


def checkout() -> str | None:
    """Return the path of packetdrill, by the environment or by the program on the path."""
    program = shutil.which("packetdrill")
    found = str(Path(program).resolve().parents[3]) if program else None
    return os.environ.get("PACKETDRILL", found)


@pytest.fixture(scope="module")
def library() -> Path:
    """Build the endpoint as packetdrill loads it."""
    if why := missing(checkout()):
        pytest.skip(why)
    subprocess.run(["cargo", "build", "--package", "earlybird-packetdrill", "--locked"], cwd=REPOSITORY, check=True)
    return REPOSITORY / "target" / "debug" / "libearlybird_packetdrill.so"


@pytest.mark.parametrize("version", ["ipv4", "ipv6"])
def test_the_endpoint_does_what_the_project_promises(library: Path, version: Version) -> None:
    where = Path(checkout() or "").resolve()
    outcomes = [run(where, OWN_SCRIPTS, script, version, library) for script in scripts(OWN_SCRIPTS, version, "")]
    assert outcomes
    assert not [(outcome.script, outcome.message) for outcome in outcomes if not outcome.passed]


def test_the_page_reports_every_script_that_fails_and_of_every_own_one() -> None:
    page = (REPOSITORY / "docs" / "packetdrill.md").read_text(encoding="utf-8")
    assert [script for script, reason in expected_to_fail().items() if f"| `{script}` | {reason} |" not in page] == []
    assert [path.stem for path in OWN_SCRIPTS.glob("*.pkt") if f"[{path.stem}]" not in page] == []
