"""The picture of a plan: how many frames are late after which delay, and the delay that each sender needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.planning.answer import WORDS, answer
from earlybird.planning.view import description
from earlybird.player import Timeliness
from earlybird.plots.chart import Axis, Bound, Chart, Curve, Label, Mark, Panel, plain_number
from earlybird.plots.dots import row_axis
from earlybird.plots.run import write
from earlybird.plots.style import DARK, DOTTED, MUTED, SOLID, Style, transport_styles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from earlybird.planning.planner import CandidateResult, Plan

ENDINGS: Final = (".png", ".svg")
LEAST_SHARE: Final = 1e-5  # end of the axis of late frames; a share of 0 is drawn there
SHARES: Final = {10.0**-power: f"{plain_number(10.0 ** (2 - power))} %" for power in range(6)}
MARGIN: Final = 1.5
POINTS: Final = 200
MARKED: Final = 33  # points from one marker of a line to the next
TICKS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
RING: Final = Style(MUTED, DARK[MUTED], SOLID, "o", is_hollow=True)
ALLOWED: Final = Style(MUTED, DARK[MUTED], DOTTED, ".")


def save(plan: Plan, path: str | Path) -> None:
    """Draw a plan to a file; the same plan gives the same bytes."""
    write(path, chart(plan), ENDINGS)


def chart(plan: Plan) -> Chart:
    """Show late frames over the delay on the left, and each sender's need on the right."""
    low, high = _limits(plan)
    styles = transport_styles([result.candidate.name for result in plan.results])
    late = Axis("Late frames (%)", is_log=True, low=LEAST_SHARE, high=1, ticks=SHARES, better="smaller")
    delays_needed = Panel("Enough for nine of ten sessions", tuple(_needs(plan, styles)), row_axis([*styles]))
    return Chart(
        (Panel("Late frames of all sessions", tuple(_lateness(plan, styles)), late), delays_needed),
        Axis(
            f"{WORDS[plan.stream.goal][1]} delay (s)".capitalize(),
            is_log=True,
            low=low,
            high=high,
            ticks={tick: f"{tick:g}" for tick in TICKS if low <= tick <= high},
            better="smaller",
        ),
        title=answer(plan),
        caption=description(plan),
        share_y=False,
        height=3.0,
    )


def late_shares(result: CandidateResult, delays: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of all frames of all sessions that are late, for each delay."""
    judges = [Timeliness(session.due, session.delivered, session.end) for session in result.sessions]
    frames = sum(judge.frames for judge in judges)
    return np.array([sum(judge.late(delay) for judge in judges) / frames for delay in delays])


def _lateness(plan: Plan, styles: dict[str, Style]) -> Iterator[Mark]:
    delays = np.geomspace(*_limits(plan), POINTS)
    for result, (name, style) in zip(plan.results, styles.items(), strict=True):
        late = np.maximum(late_shares(result, delays), LEAST_SHARE)
        yield Curve(name, style, list(delays), list(late), every=MARKED)
    yield Bound("late frames allowed", plan.late, "y", ALLOWED)


def _needs(plan: Plan, styles: dict[str, Style]) -> Iterator[Mark]:
    low, high = _limits(plan)
    for place, (result, style) in enumerate(zip(plan.results, styles.values(), strict=True)):
        delay_needed, formula = result.delay_needed, result.formula.delay
        if not math.isfinite(delay_needed.mean):
            yield Label("no delay is enough", math.sqrt(low * high), place)
            continue
        end = delay_needed.high if math.isfinite(delay_needed.high) else high
        yield Curve("", style, [delay_needed.mean], [place], "dots", [delay_needed.low], [end], is_across=True, size=7)
        if math.isfinite(formula) and formula > 0:
            yield Curve("by a formula", RING, [formula], [place], "dots", size=6)


def _limits(plan: Plan) -> tuple[float, float]:
    """Return the shortest and longest delay that are drawn."""
    known = [
        value for one in plan.results for value in (one.delay_needed.mean, one.delay_needed.high, one.formula.delay)
    ]
    known = [value for value in known if math.isfinite(value) and value > 0] or [1.0]
    low = max(min(*known, plan.path.round_trip / 2), TICKS[0]) / MARGIN
    return low, max(MARGIN * max(known), 10 * low)
