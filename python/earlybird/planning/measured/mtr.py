"""The last hop of a report of `mtr`."""

from __future__ import annotations

import csv
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
WINMTR: Final = re.compile(r"^\|\s+(\S+)\s+-\s+(\d+)\s*\|\s+(\d+)\s*\|\s+\d+\s*" + 3 * r"\|\s+(\d+)\s*")
"""`|   192.0.2.7 -    2 |  100 |   98 |   19 |   20 |   24 |   19 |`: loss, sent, received, best, mean, worst, last."""
TABLE: Final = re.compile(r"^Mtr_Version,.*Loss%", re.MULTILINE)
"""The heading of `mtr --csv`."""
SILENT: Final = "???"


def last_hop(path: str | Path, text: str) -> list[Run]:
    """Return the last hop as a run of ping; nothing if the text is no report."""
    if text.lstrip().startswith("{"):
        rows = _of_json(text)
    elif heading := TABLE.search(text):
        rows = _of_csv(text[heading.start() :])
    elif found := [row for line in text.splitlines() if (row := WINMTR.search(line))]:
        rows = [_of_winmtr(row) for row in found]
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


def _of_csv(text: str) -> list[Row]:
    try:
        return [
            (row["Ip"], *(float(row[key]) for key in ("Loss%", "Snt", "Avg", "Best", "Wrst")))  # type: ignore[misc]
            for row in csv.DictReader(text.splitlines())
        ]
    except (ValueError, KeyError, TypeError, csv.Error):
        return []


def _of_winmtr(found: re.Match[str]) -> Row:
    lost, sent, best, mean, worst = map(float, found.groups()[1:])
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
