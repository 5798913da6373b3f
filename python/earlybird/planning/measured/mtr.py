"""The last hop of a report of `mtr`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.planning.measured.ping_lines import Counts
from earlybird.planning.measured.ping_run import Run

if TYPE_CHECKING:
    from pathlib import Path

HOP: Final = re.compile(
    r"^\s*\d+\.\s*(?:AS\S+\s+)?(?:\|--)?\s*(\S+)\s+([\d.,]+)%?\s+(\d+)" + 4 * r"\s+([\d.,]+)",
)
"""`  3.|-- 192.0.2.7   1.0%   100   23.1  24.0  22.9  61.2  3.1`: loss, sent, last, mean, best, worst (mtr(8))."""
SILENT: Final = "???"


def last_hop(path: str | Path, text: str) -> list[Run]:
    """Return the last hop as a run of ping; nothing if the text is no report."""
    if text.lstrip().startswith("{"):
        rows = _of_json(text)
    else:
        rows = [_of_line(found) for found in map(HOP.search, text.splitlines()) if found]
    if not rows:
        return []
    host, lost, sent, mean, best, worst = rows[-1]
    if host == SILENT or lost >= 100:
        raise InputError(
            f"{path}: the last hop of mtr's report did not answer, which tells nothing of the line to it. Ping the "
            "viewer."
        )
    return [_run(round(sent), lost, (best, mean, worst))]


Row = tuple[str, float, float, float, float, float]


def _of_line(found: re.Match[str]) -> Row:
    lost, sent, _, mean, best, worst = (float(text.replace(",", ".")) for text in found.groups()[1:])
    return found[1], lost, sent, mean, best, worst


def _of_json(text: str) -> list[Row]:
    try:
        hubs: list[dict[str, Any]] = json.loads(text)["report"]["hubs"]
        return [
            (str(hub["host"]), *(float(hub[key]) for key in ("Loss%", "Snt", "Avg", "Best", "Wrst")))  # type: ignore[misc]
            for hub in hubs
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _run(sent: int, lost: float, summary: tuple[float, float, float]) -> Run:
    return Run(counts=Counts(sent, sent - round(sent * lost / 100)), summary=summary)
