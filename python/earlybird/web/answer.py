"""A plan as the page shows it: the texts that the terminal shows, its picture, and the files to download."""

from __future__ import annotations

import dataclasses
import json
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.errors import EarlybirdError, InputError
from earlybird.media import remarks_on
from earlybird.planning import answer, plot, scenario_file, view
from earlybird.plots.layout import PHONE
from earlybird.plots.style import DARK, PAPER, dark_colours
from earlybird.plots.vega import CONFIG, drawn

if TYPE_CHECKING:
    from earlybird.clip import Clip
    from earlybird.planning.planner import Plan
    from earlybird.plots.chart import Chart
    from earlybird.progress import Report

FILM: Final = "seen.mp4"
DRAWING: Final = threading.Lock()  # of the JavaScript engine that draws, which is one for the process


@dataclasses.dataclass(frozen=True)
class Row:
    """A sender in the table."""

    cells: list[str]
    is_choice: bool


@dataclasses.dataclass(frozen=True)
class Film:
    """The film as the viewers of two senders see it, or why there is none; `remove` it when it is not needed."""

    text: str
    folder: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def of(cls, plan: Plan, progress: Report) -> Film:
        """Draw it."""
        folder = tempfile.TemporaryDirectory(prefix="earlybird-film-")
        try:
            return cls(plan.watch(Path(folder.name) / FILM, progress=progress).text, folder)
        except EarlybirdError as error:
            folder.cleanup()
            return cls(f"There is no film: {error}")
        except BaseException:
            folder.cleanup()
            raise

    @property
    def path(self) -> Path | None:
        """The file."""
        return Path(self.folder.name) / FILM if self.folder else None

    def remove(self) -> None:
        """Remove the file."""
        if self.folder:
            self.folder.cleanup()


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
    film: Film | None = None  # the film as viewers see it, if it was asked for
    _pictures: dict[tuple[bool, bool], bytes] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, film: Film | None = None) -> Answer:
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
            film,
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
