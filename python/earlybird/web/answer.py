"""A plan as the page shows it: the texts that the terminal shows, its picture, and the files to download."""

from __future__ import annotations

import dataclasses
import json
import threading
from typing import TYPE_CHECKING, Any, Final

from earlybird.planning import answer, plot, scenario_file, view
from earlybird.plots.layout import PHONE
from earlybird.plots.style import DARK, PAPER, dark_colours
from earlybird.plots.vega import CONFIG, drawn

if TYPE_CHECKING:
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
    scenario: str
    document: dict[str, Any]
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
            answer.warnings(plan),
            [*plan.instructions, *plan.router_instructions],
            list(plan.path.facts),
            scenario_file.text(plan),
            plan.to_dict(),
            dataclasses.replace(plot.chart(plan), title="", caption=""),
        )

    @property
    def json(self) -> str:
        """The output of `earlybird plan --json`."""
        return json.dumps(self.document, indent=2, ensure_ascii=False)

    def picture(self, *, is_narrow: bool, is_dark: bool) -> bytes:
        """Draw the picture as SVG, once."""
        with DRAWING:
            if (is_narrow, is_dark) not in self._pictures:
                svg = drawn(self.chart, "svg", PHONE if is_narrow else None)
                self._pictures[is_narrow, is_dark] = _darkened(svg) if is_dark else svg
            return self._pictures[is_narrow, is_dark]


def _darkened(svg: bytes) -> bytes:
    """Return a picture in the colours of a dark page."""
    text = svg.decode()
    for light, dark in {CONFIG["background"]: DARK[PAPER], **dark_colours()}.items():
        text = text.replace(light, dark)
    return text.encode()
