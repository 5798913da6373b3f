"""Runs of a study's own program, which measures what no scenario describes, such as programs that others wrote."""

from __future__ import annotations

import runpy
from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.backends import BACKEND_KEY, KERNEL, MILLISECOND
from earlybird.errors import InputError
from earlybird.metrics import studies
from earlybird.paths import shipped_file
from earlybird.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ENTRY = "measure"
"""The function of a program: of the settings and the seed it makes a run, and returns metrics of studies by name."""
LATE_S = 1 / MILLISECOND  # seconds by which the emulated links may be late with 1 % of the packets, as of a play


def described(program: Path, settings: Mapping[str, object]) -> dict[str, Any]:
    """Return the document of a run of a program of a study."""
    return {BACKEND_KEY: KERNEL, "program": f"{program.parent.name}/{program.name}", "settings": dict(settings)}


def make_run(document: Mapping[str, Any], seed: int) -> Result:
    """Make a run of a program; raise InputError for one that does not belong to a study of this installation."""
    place = shipped_file("studies", document["program"])
    if not place.is_relative_to(shipped_file("studies")):
        raise InputError(f"program = {document['program']}: it does not belong to a study.")
    values = runpy.run_path(str(place))[ENTRY](document["settings"], seed)
    if unknown := {name for name, value in values.items() if not isinstance(value, str)} - studies().keys():
        raise InputError(f"{document['program']}: {', '.join(sorted(unknown))}: there are no such quantities.")
    disturbed = int(values.get("emulator_added_delay_p99_s", 0.0) > LATE_S)
    summary = {"seed": seed, **values, "disturbed": disturbed, "code_version": _core.code_version(KERNEL)}
    return Result(dict(document), seed, summary, {})
