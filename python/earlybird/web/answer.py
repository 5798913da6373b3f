"""A plan as the page shows it: the texts that the terminal shows, its picture, and the files to download."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError
from earlybird.media import remarks_on
from earlybird.planning import answer, plot, scenario_file, view
from earlybird.plots.layout import PHONE
from earlybird.plots.style import DARK, PAPER, dark_colours
from earlybird.plots.vega import CONFIG, drawn

if TYPE_CHECKING:
    from earlybird.clip import Clip
    from earlybird.planning.planner import Plan
    from earlybird.plots.chart import Chart

DRAWING: Final = threading.Lock()  # of the JavaScript engine that draws, which is one for the process


@dataclasses.dataclass(frozen=True)
class Row:
    """A sender in the table."""

    cells: list[str]
    is_choice: bool


@dataclasses.dataclass(frozen=True)
class Answer:
    """A plan in texts; its sessions are given up, as they take far more memory."""

    sentences: str
    description: str
    headings: list[str]
    rows: list[Row]
    explanation: str
    warnings: list[str]
    instructions: list[str]
    facts: list[str]
    files: dict[str, str]  # to download, by name
    chart: Chart
    _pictures: dict[tuple[bool, bool], bytes] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> Answer:
        """Write a plan."""
        return cls(
            plan.answer,
            view.description(plan),
            view.headings(plan),
            [Row(view.cells(plan, result), result is plan.choice) for result in plan.results],
            view.explanation(plan),
            [*answer.warnings(plan), *_remarks(plan.stream.clip)],
            [*plan.instructions, *plan.router_instructions],
            list(plan.path.facts),
            _files(plan),
            dataclasses.replace(plot.chart(plan), title="", caption=""),
        )

    def picture(self, *, is_narrow: bool, is_dark: bool) -> bytes:
        """Draw the picture as SVG, once."""
        with DRAWING:
            if (is_narrow, is_dark) not in self._pictures:
                svg = drawn(self.chart, "svg", PHONE if is_narrow else None)
                self._pictures[is_narrow, is_dark] = _darkened(svg) if is_dark else svg
            return self._pictures[is_narrow, is_dark]


def _remarks(clip: Clip) -> list[str]:
    """List what to know of a film, which the command prints as warnings."""
    return [f"{clip.path.name} {remark}" for remark in remarks_on(clip)]


def _files(plan: Plan) -> dict[str, str]:
    """Write the files to download; there is none of settings if no server has any."""
    document = json.dumps(plan.to_dict(), indent=2, ensure_ascii=False)
    settings = _settings(plan)
    scripts = {"server.sh": settings} if settings else {}
    return {"line.toml": scenario_file.text(plan), "plan.json": document, **scripts}


def _settings(plan: Plan) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "server.sh"
        try:
            plan.write_settings(path)
        except InputError:
            return ""
        return path.read_text(encoding="utf-8")


def _darkened(svg: bytes) -> bytes:
    """Return a picture in the colours of a dark page."""
    text = svg.decode()
    for light, dark in {CONFIG["background"]: DARK[PAPER], **dark_colours()}.items():
        text = text.replace(light, dark)
    return text.encode()
