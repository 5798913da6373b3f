"""The picture of a comparison: how many frames are on time after which start-up delay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from earlybird.compare_view import circumstances
from earlybird.player import LATE_SHARE_ALLOWED
from earlybird.recommendation import typical_need
from earlybird.statistics import student_interval
from earlybird.written import rate, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from earlybird.compare import Comparison

COLOURS: Final = {
    "sack": "#555555",
    "sack-er": "#0072b2",
    "pert": "#d55e00",
    "pert-er": "#009e73",
    "cubic-rack": "#555555",
    "cubic-er": "#0072b2",
    "bbr-rack": "#d55e00",
}
"""From the palette of Okabe and Ito, which colour-blind people can tell apart."""

OTHER_COLOURS: Final = ("#cc79a7", "#56b4e9", "#e69f00", "#000000")
WORST: Final = 1.0
BEST: Final = 1e-5
MARGIN: Final = 1.15
DELAYS: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
"""Start-up delays in seconds that the axis may begin at, and that it names."""

LATEST_BEGINNING: Final = 0.2
NINE_OF_TEN: Final = 0.9
BETWEEN_BARS: Final = 0.022
GOAL_COLOUR: Final = "#333333"


def save_plot(comparison: Comparison, path: Path) -> list[Path]:
    """
    Draw the comparison.

    Parameters
    ----------
    comparison : Comparison
        What to draw.
    path : Path
        Where to, without suffix; its folder is made if need be.

    Returns
    -------
    list of Path
        The PNG and the SVG.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    figure = draw(comparison)
    files = [path.with_name(f"{path.name}.{suffix}") for suffix in ("png", "svg")]
    # The same comparison gives the same bytes.
    with mpl.rc_context({"svg.hashsalt": "earlybird", "svg.fonttype": "path"}):
        figure.savefig(files[0], dpi=150, metadata={"Software": None})
        figure.savefig(files[1], metadata={"Date": None, "Creator": None})
    return files


def draw(comparison: Comparison) -> Figure:
    """Draw frames on time and flows content over the start-up delay, a line per transport."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    frames, flows = figure.subplots(1, 2)
    for number, transport in enumerate(comparison.transports):
        line = "--" if transport.endswith("-fg") else "-"
        draw_frames(frames, comparison, transport, line, colour(transport, number))
        draw_flows(flows, comparison, transport, line, colour(transport, number))
    describe_frames(frames)
    describe_flows(flows)
    for axes in (frames, flows):
        scale_delays(axes, comparison)
    describe(figure, comparison)
    return figure


def colour(transport: str, number: int) -> str:
    """Choose a line's colour: forms with the fine-grained timer share that of the plain one."""
    return COLOURS.get(transport.removesuffix("-fg"), OTHER_COLOURS[number % len(OTHER_COLOURS)])


def draw_frames(axes: Axes, comparison: Comparison, transport: str, line: str, paint: str) -> None:
    """Draw the share of frames on time, and the point where it reaches the goal."""
    curve = comparison.curve_of(transport).filter(pl.col("judged") > 0)
    late = np.maximum(curve["late"].to_numpy() / curve["judged"].to_numpy(), BEST / 2)
    needed = comparison.transports[transport]["on_time_all_s"]
    label = f"{transport}: {seconds(needed)} s" if math.isfinite(needed) else f"{transport}: longer than this"
    axes.plot(curve["start_up_s"].to_numpy(), late, line, label=label, color=paint, linewidth=2)
    draw_band(axes, comparison, transport, paint)
    if math.isfinite(needed):
        axes.plot([needed], [LATE_SHARE_ALLOWED], "o", markersize=8, color=paint, markeredgecolor="white", zorder=5)


def draw_band(axes: Axes, comparison: Comparison, transport: str, paint: str) -> None:
    """Draw the 90 % interval of the mean share of late frames over the seeds, if there are several."""
    shares = comparison.curve.filter(pl.col("transport") == transport, pl.col("judged") > 0).select(
        "start_up_s", share=pl.col("late") / pl.col("judged")
    )
    rows = [
        (start_up, student_interval(group["share"].to_list()))
        for (start_up,), group in shares.group_by("start_up_s", maintain_order=True)
    ]
    bounded = [(start_up, estimate) for start_up, estimate in rows if estimate.is_bounded]
    if bounded:
        delays, estimates = zip(*bounded, strict=True)
        low, high = ([max(getattr(one, end), BEST / 2) for one in estimates] for end in ("low", "high"))
        axes.fill_between(delays, low, high, color=paint, alpha=0.12, linewidth=0)


def draw_interval(axes: Axes, comparison: Comparison, transport: str, height: float, paint: str) -> None:
    """Draw the 90 % interval over the seeds of what 9 of 10 flows need, if there are several."""
    estimate = typical_need(comparison, transport)
    if estimate.is_bounded:
        ends = [estimate.low, estimate.high]
        axes.plot(ends, [height, height], "|-", color=paint, linewidth=3, markersize=9, solid_capstyle="butt", zorder=6)


def draw_flows(axes: Axes, comparison: Comparison, transport: str, line: str, paint: str) -> None:
    """Draw the share of flows that reach the goal, a step per flow."""
    needed = np.sort(comparison.flows.filter(transport=transport)["on_time_s"].to_numpy())
    shares = np.arange(len(needed) + 1) / len(needed)
    label = f"{transport}: {seconds(comparison.transports[transport]['on_time_p90_s'])} s"
    delays = np.concatenate(([0.0], needed))
    axes.step(delays, shares, line, where="post", label=label, color=paint, linewidth=2)
    place = [*comparison.transports].index(transport)
    draw_interval(axes, comparison, transport, NINE_OF_TEN + BETWEEN_BARS * (place + 0.5), paint)


def describe_frames(axes: Axes) -> None:
    """Let the axis run from bad at the bottom to good at the top, and mark the goal."""
    axes.set_yscale("log")
    axes.set_ylim(WORST, BEST)
    axes.yaxis.set_major_locator(FixedLocator([10.0**-power for power in range(6)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda late, _: f"{100 * (1 - late):.6g} %"))
    axes.axhspan(BEST, LATE_SHARE_ALLOWED, color="#009e73", alpha=0.10, linewidth=0)
    axes.axhline(LATE_SHARE_ALLOWED, color=GOAL_COLOUR, linewidth=1, linestyle=":")
    axes.set_title("Frames on time, of all flows together", loc="left", fontsize=11)
    axes.legend(title="99.99 % of all frames after", loc="lower right", framealpha=0.95)


def describe_flows(axes: Axes) -> None:
    """Let the axis run from no flow to all, and mark nine of ten."""
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.0f} %"))
    axes.axhline(NINE_OF_TEN, color=GOAL_COLOUR, linewidth=1, linestyle=":")
    axes.set_title("Flows with 99.99 % of their own frames on time", loc="left", fontsize=11)
    axes.legend(title="9 of 10 flows after", loc="best", framealpha=0.95)


def scale_delays(axes: Axes, comparison: Comparison) -> None:
    """Let the axis run from where the first line rises to where every line has arrived, or the runs end."""
    needed = [values["on_time_all_s"] for values in comparison.transports.values()]
    needed += comparison.flows["on_time_s"].to_list()
    last = float(comparison.curve.filter(pl.col("judged") > 0)["start_up_s"].to_numpy().max())
    first = beginning(min(needed))
    axes.set_xscale("log")
    axes.set_xlim(first, max(min(MARGIN * max(needed), last), 10 * first))
    axes.xaxis.set_major_locator(FixedLocator(DELAYS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda delay, _: f"{delay:g}"))
    axes.set_xlabel("start-up delay, s (logarithmic)")
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def beginning(fastest: float) -> float:
    """Choose a delay so short that a line which arrives at `fastest` seconds is seen to rise before."""
    return max((delay for delay in DELAYS if delay <= min(fastest / 2, LATEST_BEGINNING)), default=DELAYS[0])


def describe(figure: Figure, comparison: Comparison) -> None:
    """Write what was sent at the top, and through which network at the bottom."""
    film = f"{comparison.source.path.name} ({rate(comparison.sent.mean_rate)})"
    figure.suptitle(f"How long must playback of {film} wait at its start?", x=0.01, ha="left", fontweight="bold")
    seeds = len(comparison.seeds)
    intervals = f". Bands and bars: 90 % intervals over {seeds} seeds" if seeds > 1 else ""
    text = f"{circumstances(comparison)}{intervals}"
    figure.supxlabel(text, x=0.01, ha="left", fontsize=8, color="#444444")
