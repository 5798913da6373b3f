"""The picture of a comparison: how many frames are on time after which start-up delay."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from earlybird.compare_view import circumstances, rate, seconds
from earlybird.player import LATE_SHARE_ALLOWED

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from earlybird.compare import Comparison

COLOURS: Final = {"sack": "#555555", "sack-er": "#0072b2", "pert": "#d55e00", "pert-er": "#009e73"}
"""From the palette of Okabe and Ito, which colour-blind people can tell apart."""

OTHER_COLOURS: Final = ("#cc79a7", "#56b4e9", "#e69f00", "#000000")
WORST: Final = 1.0
BEST: Final = 1e-5
MARGIN: Final = 1.12
SHORTEST_AXIS: Final = 3.0


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
    """Draw the share of frames on time over the start-up delay, a line per transport."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for number, transport in enumerate(comparison.transports):
        draw_transport(axes, comparison, transport, number)
    mark_goal(axes)
    scale(axes, comparison)
    describe(axes, comparison)
    return figure


def draw_transport(axes: Axes, comparison: Comparison, transport: str, number: int) -> None:
    """Draw one line, and the point where it reaches the goal."""
    curve = comparison.curve.filter((pl.col("transport") == transport) & (pl.col("judged") > 0))
    late = curve["late"].to_numpy() / curve["judged"].to_numpy()
    needed = comparison.transports[transport]["on_time_all_s"]
    label = f"{transport}: {seconds(needed)} s" if math.isfinite(needed) else f"{transport}: longer than this"
    line, paint = "--" if transport.endswith("-fg") else "-", colour(transport, number)
    delays = curve["start_up_s"].to_numpy()
    axes.plot(delays, np.maximum(late, BEST / 2), line, label=label, color=paint, linewidth=2)
    if math.isfinite(needed):
        axes.plot([needed], [LATE_SHARE_ALLOWED], "o", markersize=8, color=paint, markeredgecolor="white", zorder=5)


def colour(transport: str, number: int) -> str:
    """Choose a line's colour: forms with the fine-grained timer share that of the plain one."""
    return COLOURS.get(transport.removesuffix("-fg"), OTHER_COLOURS[number % len(OTHER_COLOURS)])


def mark_goal(axes: Axes) -> None:
    """Mark where fewer than one frame in ten thousand is late."""
    axes.axhspan(BEST, LATE_SHARE_ALLOWED, color="#009e73", alpha=0.10, linewidth=0)
    axes.axhline(LATE_SHARE_ALLOWED, color="#333333", linewidth=1, linestyle=":")


def scale(axes: Axes, comparison: Comparison) -> None:
    """Let the axes run from bad at the bottom to good at the top, and to the right until every line has arrived."""
    needed = [values["on_time_all_s"] for values in comparison.transports.values()]
    last = float(comparison.curve.filter(pl.col("judged") > 0)["start_up_s"].to_numpy().max())
    axes.set_xlim(0, min(max(MARGIN * max(needed), SHORTEST_AXIS), last))
    axes.set_yscale("log")
    axes.set_ylim(WORST, BEST)
    axes.yaxis.set_major_locator(FixedLocator([10.0**-power for power in range(6)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda late, _: f"{100 * (1 - late):.6g} %"))
    axes.grid(color="#dddddd", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)


def describe(axes: Axes, comparison: Comparison) -> None:
    """Write what is to be seen."""
    film = comparison.source.path.name
    title = f"How long must playback of {film} ({rate(comparison.sent.mean_rate)}) wait at its start?"
    axes.set_title(f"{title}\n", fontsize=12, fontweight="bold", loc="left")
    axes.text(0, 1.02, circumstances(comparison), transform=axes.transAxes, fontsize=8, color="#444444")
    axes.set_xlabel("start-up delay, seconds after the source's first frame")
    axes.set_ylabel("frames on time, all flows together")
    axes.legend(title="99.99 % on time after", loc="lower right", framealpha=0.95)
