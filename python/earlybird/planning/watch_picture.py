"""One moment of a session as viewers of several senders see it: a panel each, over one clock."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from earlybird.planning.answer import delay_text
from earlybird.planning.canvas import Canvas
from earlybird.plots.style import DARK, GRID, MUTED, PAPER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.planning.canvas import Image
    from earlybird.planning.planner import CandidateResult
    from earlybird.planning.viewer import Viewer

PAGE, TEXT, QUIET, RAIL, BLACK = DARK[PAPER], "#ffffff", DARK[MUTED], DARK[GRID], "#000000"
PLAYING, FROZEN = "#4da3ff", "#ff6b57"
"""Blue and orange-red, which the colour-blind can tell apart."""

WIDE, TALL = 608, 342  # of a picture, 16:9
MARGIN: Final = 21
TOP, HEADING, BELOW, BOTTOM = 52, 44, 62, 40
"""Heights of the strips: above the panels, above and below a picture, and below the panels."""
SIZES: Final = {1: (17, 13), 2: (22, 18)}  # of the letters of the title and the caption, by columns
ROW: Final = HEADING + TALL + BELOW
HISTORY: Final = 12  # height of the bar of the past
BUFFER: Final = 100  # width of the bar of the buffer
BUFFER_SAMPLES: Final = 200  # moments at which the largest buffer is looked for
SPINNER: Final = 96
TURNS: Final = 20  # angles of the spinner
DIMMED: Final = 0.6

CROSSING: Final = 4.0  # seconds that the ball takes
SKY, BALL = "#2b5c8a", 84
BALL_SVG: Final = '<circle cx="42" cy="42" r="42" fill="#ffd166"/>'
HILLS_SVG: Final = (
    f'<path d="M0 {TALL}V230C90 150 180 170 270 250S470 130 {WIDE} 210V{TALL}z" fill="#2f7d5b"/>'
    f'<path d="M0 {TALL}V290C140 240 260 330 400 280S540 250 {WIDE} 300V{TALL}z" fill="#1c5340"/>'
)
"""A film without pictures: flat colours, of which a GIF takes few bytes."""


class Panel(NamedTuple):
    """A viewer, and the place of the picture."""

    viewer: Viewer
    left: float
    top: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + WIDE

    @property
    def middle(self) -> float:
        """The middle from left to right."""
        return self.left + WIDE / 2

    @property
    def bottom(self) -> float:
        """The lower edge."""
        return self.top + TALL


class Painter:
    """Draws moments of a session from the first to the second of `span`, `scale` pixels for a unit of the layout."""

    def __init__(
        self,
        baseline: CandidateResult,
        viewers: Sequence[Viewer],
        span: tuple[float, float],
        texts: tuple[str, str],
        scale: float,
        *,
        is_live: bool,
    ) -> None:
        self._baseline, self._span, self._is_live = baseline, span, is_live
        columns = min(len(viewers), 2)
        width, height = columns * (WIDE + MARGIN) + MARGIN, TOP + math.ceil(len(viewers) / columns) * ROW + BOTTOM
        self._panels = [
            Panel(viewer, MARGIN + place % 2 * (WIDE + MARGIN), TOP + place // 2 * ROW + HEADING)
            for place, viewer in enumerate(viewers)
        ]
        times = np.linspace(*span, BUFFER_SAMPLES)
        self._most_buffered = max(0.1, *(viewer.buffered(now) for viewer in viewers for now in times))
        self._right = width - MARGIN
        self._page = Canvas.blank(width, height, scale, PAGE)
        for text, line, size in zip(texts, (35, height - 16), SIZES[columns], strict=True):
            self._page.text(MARGIN, line, text, size, QUIET)
        for panel in self._panels:
            self._frame(panel)

    @property
    def picture_size(self) -> tuple[int, int]:
        """Width and height in pixels of the film in a panel."""
        return self._page.pixels(WIDE), self._page.pixels(TALL)

    def draw(self, now: float, pictures: Sequence[Image | None]) -> Image:
        """Draw a moment; `pictures` are those of the film, for each viewer one, where there are some."""
        canvas = self._page.copy()
        canvas.text(self._right, 36, f"{now:.1f} s after play", 26, TEXT, anchor="end", bold=True)
        for panel, picture in zip(self._panels, pictures, strict=True):
            _screen(canvas, panel, now, picture)
            _trouble(canvas, panel, now)
            self._past(canvas, panel, now)
            self._progress(canvas, panel, now)
        return canvas.image

    def _frame(self, panel: Panel) -> None:
        """Draw what does not change."""
        result = panel.viewer.result
        need, today = result.delay_needed.mean, "today; " if result is self._baseline else ""
        end = self._page.text(panel.left, panel.top - 12, result.candidate.name, 28, TEXT, bold=True)
        needed = f"{today}needs {delay_text(need)}" if math.isfinite(need) else f"{today}no delay is enough"
        self._page.text(end + 14, panel.top - 12, needed, 20, QUIET)
        self._page.fill(panel.left, panel.bottom + 8, WIDE, HISTORY, RAIL)
        self._page.text(panel.left, panel.bottom + 48, "buffer", 20, QUIET)
        self._page.fill(panel.left + 78, panel.bottom + 33, BUFFER, 16, RAIL)

    def _past(self, canvas: Canvas, panel: Panel, now: float) -> None:
        """Draw when the film played, and over it when the picture was frozen."""
        (start, end), viewer = self._span, panel.viewer
        played = (viewer.delay, max(now - viewer.delay, 0), PLAYING)
        for first, length, colour in (played, *((*freeze, FROZEN) for freeze in viewer.freezes)):
            left, right = (
                WIDE * (min(max(time, start), now) - start) / (end - start) for time in (first, first + length)
            )
            canvas.fill(panel.left + left, panel.bottom + 8, right - left, HISTORY, colour)

    def _progress(self, canvas: Canvas, panel: Panel, now: float) -> None:
        """Draw the buffer, and how far the film is."""
        buffered, position, line = panel.viewer.buffered(now), panel.viewer.position(now), panel.bottom + 48
        share = min(buffered / self._most_buffered, 1.0)
        canvas.fill(panel.left + 78, panel.bottom + 33, BUFFER * share, 16, PLAYING)
        canvas.text(panel.left + 90 + BUFFER, line, f"{buffered:.1f} s", 20, TEXT)
        behind = f", {now - position:.1f} s behind live" if self._is_live else ""
        canvas.text(panel.right, line, f"played {position:.1f} s{behind}", 19, TEXT, anchor="end")


def _screen(canvas: Canvas, panel: Panel, now: float, picture: Image | None) -> None:
    """Draw the film, and over it why it does not go on."""
    viewer = panel.viewer
    number, frozen = viewer.frame(now), viewer.frozen(now)
    if number is None:
        canvas.fill(panel.left, panel.top, WIDE, TALL, BLACK)
        _spinner(canvas, panel, now, "starting")
        return
    if picture is None:
        _pattern(canvas, panel, number)
    else:
        canvas.paste(panel.left, panel.top, picture)
    if frozen is not None and viewer.waits:
        canvas.fill(panel.left, panel.top, WIDE, TALL, BLACK, DIMMED)
        _spinner(canvas, panel, now, f"stalled {frozen:.1f} s")
    elif frozen is not None:
        canvas.fill(panel.left + 14, panel.top + 14, 150, 38, FROZEN)
        canvas.text(panel.left + 89, panel.top + 41, "frame lost", 22, BLACK, anchor="middle", bold=True)


def _trouble(canvas: Canvas, panel: Panel, now: float) -> None:
    """Write how often the viewer was disturbed so far."""
    viewer, seconds = panel.viewer, panel.viewer.frozen_total(now)
    if viewer.waits:
        count = viewer.freezes_by(now)
        text = f"{count} stall{'s' if count > 1 else ''}, {seconds:.1f} s" if count else "no stall"
    else:
        count = viewer.lost(now)
        text = f"{count or 'no'} frame{'' if count == 1 else 's'} lost"
    colour = FROZEN if count else QUIET
    canvas.text(panel.right, panel.top - 12, text, 22, colour, anchor="end", bold=bool(count))


def _pattern(canvas: Canvas, panel: Panel, number: int) -> None:
    """Draw a picture of a film without pictures: a ball over hills, and the number of the frame."""
    crossed = float(panel.viewer.due[number]) / CROSSING % 1
    canvas.fill(panel.left, panel.top, WIDE, TALL, SKY)
    height = 4 * crossed * (1 - crossed)
    canvas.svg(panel.left + (WIDE - BALL) * crossed, panel.top + 150 - 120 * height, BALL, BALL, BALL_SVG)
    canvas.svg(panel.left, panel.top, WIDE, TALL, HILLS_SVG)
    canvas.text(panel.left + 18, panel.bottom - 18, f"frame {number}", 30, TEXT, bold=True)


def _spinner(canvas: Canvas, panel: Panel, now: float, text: str) -> None:
    """Draw an arc that turns once a second, and a text below it."""
    turn = f'transform="rotate({360 / TURNS * int(now * TURNS % TURNS):g} 48 48)"'
    stroke = 'fill="none" stroke="#ffffff" stroke-width="9"'
    arc = f'<path {turn} d="M48 10a38 38 0 0 1 38 38" {stroke} stroke-linecap="round"/>'
    circle = f'<circle cx="48" cy="48" r="38" {stroke} stroke-opacity="0.3"/>'
    canvas.svg(panel.middle - SPINNER / 2, panel.top + 92, SPINNER, SPINNER, circle + arc)
    canvas.text(panel.middle, panel.top + 240, text, 38, TEXT, anchor="middle", bold=True)
