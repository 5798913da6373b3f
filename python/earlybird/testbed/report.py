"""Report of a batch: a row per cell, with confidence intervals over its plays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from earlybird.statistics import student_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird.sweeps import SweepResult

MEASURES: Final = (
    "startup_delay_s",
    "stalls",
    "stalled_s",
    "freezes",
    "frozen_s",
    "late_pictures",
    "frames_dropped",
    "starvations",
    "buffer_s",
    "cwnd_variation",
    "added_delay_p99_us",
)
"""The numbers of a play that are averaged."""


def rows(plays: SweepResult) -> list[dict[str, Any]]:
    """Average the plays of each cell: by measure ``mean``, ``low`` and ``high`` (90 %), None for the unknown."""
    names = list(plays.planned[0].parameters)
    cells: dict[str, list[dict[str, Any]]] = {}
    for run, row in zip(plays.planned, plays.runs.to_dicts(), strict=True):
        cells.setdefault(json.dumps(dict(run.parameters), sort_keys=True), []).append({**row, **run.parameters})
    return [
        {
            **{name: label(group[0][name]) for name in names},
            "plays": len(group),
            "unfinished": sum(not row["finished"] for row in group),
            **{measure: _estimate([row[measure] for row in group]) for measure in MEASURES},
        }
        for group in cells.values()
    ]


def label(value: object) -> str:
    """Return a short label of a grid value: a share or distance of losses, or the value itself."""
    if isinstance(value, list):
        return ", ".join(map(label, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(_loss(kind, settings) for kind, settings in value.items())
    return str(value)


def _loss(kind: str, settings: object) -> str:
    if kind == "bernoulli" and isinstance(settings, dict):
        share = settings["probability"]
        return str(share) if isinstance(share, str) else f"{100 * share:g} %"
    if kind == "periodic" and isinstance(settings, dict):
        return f"1 of {settings['period']}"
    return f"{kind} {json.dumps(settings)}"


def _estimate(values: list[float | None]) -> Mapping[str, float] | None:
    known = [float(value) for value in values if value is not None]
    if not known:
        return None
    estimate = student_interval(known)
    return {"mean": estimate.mean, "low": estimate.low, "high": estimate.high}
