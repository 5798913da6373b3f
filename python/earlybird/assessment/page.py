"""The page of an assessment: one file with all pictures, and its scenarios beside it."""

from __future__ import annotations

import os
import shlex
from importlib import resources
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from earlybird.assessment.controls import ending, filled
from earlybird.assessment.picture import chart
from earlybird.assessment.register import excluded
from earlybird.assessment.view import arrow, explanation, heading, interval, number, reasons_of
from earlybird.errors import InputError
from earlybird.loading import override_texts
from earlybird.plots.vega import document, library
from earlybird.report.templates import as_json, rendered

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird.assessment.outcome import Assessment, Row
    from earlybird.assessment.register import Criterion
    from earlybird.assessment.thresholds import Check

CLASSES: Final = {"better": "yes", "worse": "no", "like": "", "open": "not-run", "": "not-run"}


def page(found: Assessment, checks: Sequence[Check], path: Path, scenarios: Path, command: str) -> str:
    """Return the page, to be written to `path`, whose scenarios are in another folder."""
    folder = os.path.relpath(scenarios, path.parent)
    return rendered(
        "assess.html.j2",
        {
            "found": found,
            "checks": checks,
            "heading": heading(found),
            "explanation": explanation(found),
            "reasons": reasons_of(found),
            "excluded": excluded(),
            "charts": {row.criterion.name: as_json(document(chart(row))) for row in found.rows},
            "links": {row.criterion.name: f"{folder}/{row.criterion.path.name}" for row in found.rows},
            "commands": {row.criterion.name: "\n".join(commands(row, found, scenarios)) for row in found.rows},
            "command": command,
            "classes": CLASSES,
            "arrow": arrow,
            "interval": interval,
            "number": number,
            "library": Markup(library()),
            "style": _asset("style.css"),
            "script": _asset("plots.js"),
        },
    )


def commands(row: Row, found: Assessment, scenarios: Path) -> list[str]:
    """Return the command that repeats the first run of each case."""
    one, end = row.criterion, ending(found.control)
    return [
        _command(scenarios / one.path.name, [*override_texts(given), *found.overrides])
        for given in (filled(case, one.control, found.control, end) for case in one.cases)
    ]


def write_scenarios(folder: Path, criteria: Sequence[Criterion]) -> None:
    """Write the scenarios of criteria; InputError if a file of that name is there and is another one."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in {one.path for one in criteria}:
        target, text = folder / source.name, source.read_bytes()
        if target.exists() and target.read_bytes() != text:
            raise InputError(f"scenarios = {folder}: {target} is there and is another one. Choose another folder.")
        target.write_bytes(text)


def _command(path: Path, settings: Sequence[tuple[str, str]]) -> str:
    given = [part for key, value in settings for part in ("--set", f"{key}={value}")]
    return shlex.join(["earlybird", "run", str(path), *given, "--seed", "1", "--qlog", "case.qlog"])


def _asset(name: str) -> Markup:
    return Markup((resources.files("earlybird.report") / "assets" / name).read_text(encoding="utf-8"))
