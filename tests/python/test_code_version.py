"""Results are kept by the version of the code that made them: of all the code."""

from __future__ import annotations

import re
import tomllib
from typing import Final

from conftest import REPOSITORY

WRITES_CAPTURES: Final = "capture"
"""Sources whose output is no part of a result."""


def below(crate: str) -> set[str]:
    """Name a crate of the project and all those that it is made of."""
    manifest = tomllib.loads((REPOSITORY / "crates" / crate / "Cargo.toml").read_text(encoding="utf-8"))
    own = [name.removeprefix("earlybird-") for name in manifest["dependencies"] if name.startswith("earlybird-")]
    return {crate}.union(*map(below, own))


def test_results_of_datagrams_and_quic_outlived_a_change_of_their_code() -> None:
    build = (REPOSITORY / "crates" / "py" / "build.rs").read_text(encoding="utf-8")
    (listed,) = re.findall(r"const SIM: [^=]*=\s*\[([^\]]*)\]", build)
    assert set(re.findall(r'"(\w+)"', listed)) == below("experiment") - {WRITES_CAPTURES}
