"""The metrics that runs of a part can have, by the conditions of the register."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from earlybird.backends import BACKEND_KEY, SIMULATOR
from earlybird.metrics import studies
from earlybird.study.language.definition import Part, Study

MEASURE: Final = "measure."  # before a key of a scenario's table ``measure``
PART: Final = "part."  # before a key of a part


def observed(study: Study, part: Part) -> tuple[str, ...]:
    """List the metrics that runs of a part can have; the study's axes may switch on what is measured."""
    conditions = {when for entry in studies().values() for when in entry.when}
    held = {when for when in conditions if _holds(when, study, part)}
    return tuple(name for name, entry in studies().items() if held.intersection(entry.when))


def _holds(when: str, study: Study, part: Part) -> bool:
    if part.model:
        return when == f"model.{part.model}"
    if part.is_played:
        return when == "testbed"
    if part.is_program:
        return when == "program"
    if when == "real-time":
        return part.settings.get(BACKEND_KEY, SIMULATOR) != SIMULATOR or any(
            axis.key == BACKEND_KEY for axis in study.axes.values()
        )
    if when.startswith(MEASURE):
        return _is_measured(when.removeprefix(MEASURE), study, part)
    if when.startswith(PART):
        return bool(getattr(part, when.removeprefix(PART).replace("-", "_")))
    return when == "flows"


def _is_measured(key: str, study: Study, part: Part) -> bool:
    """Return whether the scenario, the part or an axis has a key of ``measure``."""
    path = f"measure.{key}"
    return (
        key in written(part.scenario).get("measure", {})
        or any(f"{name}.".startswith(f"{path}.") for name in part.settings)
        or any(f"{axis.key}.".startswith(f"{path}.") for axis in study.axes.values())
    )


@cache
def written(scenario: Path) -> Mapping[str, Any]:
    """Read a scenario's file; an empty table where it cannot be read, as its runs report the error."""
    try:
        return tomllib.loads(scenario.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
