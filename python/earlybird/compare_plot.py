"""The picture of a comparison: how many frames are on time after which startup delay."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.compare_view import circumstances
from earlybird.formatting import format_rate, format_seconds
from earlybird.player import LATE_SHARE_ALLOWED
from earlybird.plots.chart import Axis, Bound, Chart, Curve, Mark, Panel, Region, plain_number
from earlybird.plots.run import write
from earlybird.plots.style import DARK, DOTTED, HOLDS, INK, SOLID, Style, transport_styles
from earlybird.recommendation import typical_need

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from earlybird.compare import Comparison

ENDINGS: Final = (".png", ".svg")
WORST: Final = 1.0
BEST: Final = 1e-5
ON_TIME: Final = {10.0**-power: f"{plain_number(100 - 10.0 ** (2 - power))} %" for power in range(6)}
"""Names of shares of late frames, by what is on time."""
OF_FLOWS: Final = {share / 100: f"{share} %" for share in range(0, 101, 20)}
MARGIN: Final = 1.15
DELAYS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
"""Startup delays in seconds that the axis may begin at, and that it names."""

LATEST_BEGINNING: Final = 0.2
NINE_OF_TEN: Final = 0.9
BETWEEN_BARS: Final = 0.022
MARKERS: Final = 6  # of a line, along all of its points
GOAL: Final = Style(INK, DARK[INK], DOTTED, ".")


def save_plot(comparison: Comparison, path: Path) -> None:
    """Draw a comparison to a file; the same comparison gives the same bytes."""
    write(path, chart(comparison), ENDINGS)


def chart(comparison: Comparison) -> Chart:
    """Show frames on time and flows content over the startup delay, a line per transport."""
    film = f"{comparison.source.path.name} ({format_rate(comparison.sent.mean_rate)})"
    seeds = len(comparison.seeds)
    # A bar is of a mean over the seeds, which lies below what nine of ten flows of all seeds together need.
    bars = f"Bars: 90 % intervals over {seeds} seeds of the geometric mean of what 9 of 10 flows of a seed need"
    intervals = f". {bars}" if seeds > 1 else ""
    styles = transport_styles([*comparison.transports])
    frames = [mark for name, style in styles.items() for mark in _frames(comparison, name, style)]
    flows = [mark for name, style in styles.items() for mark in _flows(comparison, name, style)]
    goal = Region("goal", HOLDS, BEST, LATE_SHARE_ALLOWED, "y")
    on_time = Axis("Frames on time", is_log=True, low=WORST, high=BEST, ticks=ON_TIME, better="larger")
    content = Axis("Flows", low=0, high=1, ticks=OF_FLOWS, better="larger")
    return Chart(
        (
            Panel("Frames on time, of all flows together", (*frames, goal), on_time),
            Panel("Flows with 99.99 % of their frames on time", (*flows, Bound("", NINE_OF_TEN, "y", GOAL)), content),
        ),
        _delays(comparison),
        title=f"How long must playback of {film} wait at its start?",
        caption=f"{circumstances(comparison)}{intervals}",
        share_y=False,
        height=3.4,
    )


def _frames(comparison: Comparison, transport: str, style: Style) -> Iterator[Mark]:
    """Show the share of frames on time, and the point where it reaches the goal."""
    curve = comparison.curve_of(transport).filter(pl.col("due") > 0)
    late = (curve["late"] / curve["due"]).clip(BEST / 2)
    every = max(1, len(late) // MARKERS)
    yield Curve(_needs(comparison, transport), style, curve["startup_delay_s"], late, every=every)
    needed = comparison.transports[transport]["required_startup_delay_all_s"]
    if math.isfinite(needed):
        yield Curve("", style, [needed], [LATE_SHARE_ALLOWED], "dots", size=8)


def _needs(comparison: Comparison, transport: str) -> str:
    """Return the legend of a transport."""
    values = comparison.transports[transport]
    whole, most = (
        f"after {format_seconds(value)} s" if math.isfinite(value) else "later than this"
        for value in (values["required_startup_delay_all_s"], values["required_startup_delay_p90_s"])
    )
    return f"{transport}: 99.99 % of all frames {whole}, 9 of 10 flows {most}"


def _flows(comparison: Comparison, transport: str, style: Style) -> Iterator[Mark]:
    """Show the share of flows that reach the goal, a step per flow, and the interval of what 9 of 10 need."""
    needed = np.sort(comparison.flows.filter(transport=transport)["required_startup_delay_s"].to_numpy())
    shares = np.arange(len(needed) + 1) / len(needed)
    yield Curve("", style, [0.0, *needed], list(shares), "steps")
    estimate = typical_need(comparison, transport)
    if estimate.is_bounded:
        height = NINE_OF_TEN + BETWEEN_BARS * ([*comparison.transports].index(transport) + 0.5)
        solid = replace(style, dashes=SOLID)
        yield Curve("", solid, [estimate.low, estimate.high], [height, height], "line", width=3)


def _delays(comparison: Comparison) -> Axis:
    """Let the axis run from where the first line rises to where every line has arrived, or the runs end."""
    needed = [values["required_startup_delay_all_s"] for values in comparison.transports.values()]
    needed += comparison.flows["required_startup_delay_s"].to_list()
    last = float(comparison.curve.filter(pl.col("due") > 0)["startup_delay_s"].to_numpy().max())
    first = beginning(min(needed))
    end = max(min(MARGIN * max(needed), last), 10 * first)
    ticks = {delay: f"{delay:g}" for delay in DELAYS if first <= delay <= end}
    return Axis("Startup delay (s)", is_log=True, low=first, high=end, ticks=ticks, better="smaller")


def beginning(fastest: float) -> float:
    """Choose a delay so short that a line which arrives at `fastest` seconds is seen to rise before."""
    return max((delay for delay in DELAYS if delay <= min(fastest / 2, LATEST_BEGINNING)), default=DELAYS[0])
