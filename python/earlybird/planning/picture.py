"""The picture of a plan: how many frames are late after which delay, and the delay that each sender needs."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from earlybird.errors import InputError
from earlybird.planning.answer import WORDS, answer
from earlybird.planning.view import circumstances
from earlybird.player import Timeliness
from earlybird.plots.style import INK, MUTED, PAPER, look, styled
from earlybird.report.pictures import METADATA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from earlybird.planning.planner import Plan, Prospect

ENDINGS: Final = (".png", ".svg")
LEAST_SHARE: Final = 1e-5
"""Where the axis of late frames ends: none at all is drawn there."""
MARGIN: Final = 1.5
POINTS: Final = 200
TICKS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
LETTERS: Final = 118
SMALL_LETTERS: Final = 150
"""Of a line above the panels, and of one below."""


def check_ending(path: str | Path) -> None:
    """Raise InputError if the name of a picture has another ending than those that can be drawn."""
    if Path(path).suffix not in ENDINGS:
        raise InputError(f"plot = {path}: a picture's name ends in {' or '.join(ENDINGS)}.")


def save(plan: Plan, path: str | Path) -> None:
    """Draw a plan to a file; the same plan gives the same bytes."""
    check_ending(path)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with styled():
        draw(plan).savefig(path, metadata=dict(METADATA[Path(path).suffix.removeprefix(".")]))


def draw(plan: Plan) -> Figure:
    """Draw late frames over the delay on the left, and each sender's need on the right."""
    with styled():
        figure = Figure(figsize=(9.6, 4.4), layout="constrained")
        lateness, needs = figure.subplots(1, 2)
        _draw_lateness(lateness, plan)
        _draw_needs(needs, plan)
        for axes in (lateness, needs):
            _scale_delays(axes, plan)
        figure.suptitle(fill(answer(plan), LETTERS), x=0.01, ha="left", fontsize=9.5, fontweight="bold", color=INK)
        figure.supxlabel(fill(circumstances(plan), SMALL_LETTERS), x=0.01, ha="left", fontsize=8, color=MUTED)
    return figure


def late_shares(prospect: Prospect, delays: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of all frames of all sessions that are late, for each delay."""
    judges = [Timeliness(session.due, session.delivered, session.end) for session in prospect.sessions]
    frames = sum(judge.frames for judge in judges)
    return np.array([sum(judge.late(delay) for judge in judges) / frames for delay in delays])


def _draw_lateness(axes: Axes, plan: Plan) -> None:
    low, high = _limits(plan)
    delays = np.geomspace(low, high, POINTS)
    for place, prospect in enumerate(plan.prospects):
        name = prospect.candidate.name
        drawn = look(name, place)
        late = np.maximum(late_shares(prospect, delays), LEAST_SHARE)
        axes.plot(delays, late, color=drawn.colour, linestyle=drawn.dashes, label=name)
    axes.axhline(plan.late, color=MUTED, linewidth=0.8, linestyle=":")
    axes.set_yscale("log")
    axes.set_ylim(LEAST_SHARE, 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda late, _: f"{100 * late:g} %"))
    axes.set_title("Late frames, of all sessions together")
    axes.legend(loc="upper right")


def _draw_needs(axes: Axes, plan: Plan) -> None:
    rows = list(enumerate(plan.prospects))
    for place, prospect in rows:
        drawn, need = look(prospect.candidate.name, place), prospect.need
        if not math.isfinite(need.mean):
            axes.annotate("no delay is enough", (0.5, place), xycoords=("axes fraction", "data"), va="center")
            continue
        high = need.high if math.isfinite(need.high) else axes.get_xlim()[1]
        axes.plot([need.low, high], [place, place], color=drawn.colour, linewidth=3, alpha=0.5)
        axes.plot([need.mean], [place], color=drawn.colour, marker=drawn.marker, linestyle="none", markersize=8)
        if math.isfinite(prospect.guess.delay) and prospect.guess.delay > 0:
            axes.plot([prospect.guess.delay], [place], marker="o", markerfacecolor=PAPER, color=MUTED, linestyle="none")
    axes.set_yticks([place for place, _ in rows], [prospect.candidate.name for _, prospect in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_title("Enough for nine of ten sessions; ring: formula")


def _limits(plan: Plan) -> tuple[float, float]:
    """Return the shortest and longest delay that are drawn."""
    known = [value for one in plan.prospects for value in (one.need.mean, one.need.high, one.guess.delay)]
    known = [value for value in known if math.isfinite(value) and value > 0] or [1.0]
    low = max(min(*known, plan.line.round_trip / 2), TICKS[0]) / MARGIN
    return low, max(MARGIN * max(known), 10 * low)


def _scale_delays(axes: Axes, plan: Plan) -> None:
    axes.set_xscale("log")
    axes.set_xlim(*_limits(plan))
    axes.xaxis.set_major_locator(FixedLocator(TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda delay, _: f"{delay:g}"))
    axes.set_xlabel(f"{WORDS[plan.film.goal][1]} delay, s")
