"""
One look for all figures: a transport has the same colour, line and marker everywhere.

The colours can be told apart by people who are colour-blind, and the lines and markers without any colour. Colours of
plain SACK are warm, of PERT cool; a fine-grained timer keeps the colour, makes the line finer and hollows the marker.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#20242a"
"""Text and paper's points."""
MUTED = "#6b7280"
"""Axes and their labels."""
GRID = "#dfe3e8"
LABEL_WIDTH = 34
"""Letters that fit along the y axis of a panel."""
PAPER = "#fefefe"
"""Inside of hollow markers."""

DARK = {INK: "#e6e8eb", MUTED: "#9aa3ae", GRID: "#2e343c", PAPER: "#15181c"}
"""What these become on a dark background."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a line is drawn."""

    colour: str
    dark: str
    """The colour on a dark background."""
    dashes: Any
    marker: str
    is_hollow: bool = False

    def line(self) -> dict[str, Any]:
        """Return the keywords of a line with markers."""
        return {
            "color": self.colour,
            "linestyle": self.dashes,
            "marker": self.marker,
            "markerfacecolor": PAPER if self.is_hollow else self.colour,
            "markeredgecolor": self.colour,
        }


SOLID, DASHED, DOTTED, DASH_DOTTED = "-", (0, (5, 1.8)), (0, (1, 1.4)), (0, (6, 1.6, 1, 1.6))

LOOKS = {
    "sack": Look("#b8431a", "#f08a5d", SOLID, "o"),
    "sack-er": Look("#b57f00", "#e8b93c", DASHED, "s"),
    "sack-fg": Look("#b8431a", "#f08a5d", DOTTED, "o", is_hollow=True),
    "sack-er-fg": Look("#b57f00", "#e8b93c", DASH_DOTTED, "s", is_hollow=True),
    "pert": Look("#0b5fa5", "#6cb4f2", SOLID, "^"),
    "pert-er": Look("#00805e", "#3fcfa5", DASHED, "D"),
    "pert-fg": Look("#0b5fa5", "#6cb4f2", DOTTED, "^", is_hollow=True),
    "pert-er-fg": Look("#00805e", "#3fcfa5", DASH_DOTTED, "D", is_hollow=True),
    "tahoe": Look("#8a8f98", "#aab2bd", DOTTED, "v"),
    "reno": Look("#8c5a3c", "#c9977a", DASHED, "v"),
    "newreno": Look("#8c5a3c", "#c9977a", SOLID, "v"),
    "vegas": Look("#4d6b00", "#a3c94a", DASHED, "P"),
    "cubic": Look("#7a4b9d", "#c39ae0", SOLID, "D"),
    "bbr": Look("#c2257a", "#f27fb8", SOLID, "X"),
    "prague": Look("#00757f", "#45c4cf", DASHED, "P"),
    "earlybird-rt": Look("#00805e", "#3fcfa5", SOLID, "D"),
    "udp": Look("#50565f", "#c3c9d1", DOTTED, "x"),
    "tfrc": Look("#50565f", "#c3c9d1", DASH_DOTTED, "+"),
    "sack-rack": Look("#d1495b", "#f48a98", DASH_DOTTED, "<"),
    "cubic-rack": Look("#7a4b9d", "#c39ae0", DASH_DOTTED, "<"),
    "cubic-er": Look("#00757f", "#45c4cf", DASHED, "s"),
    "bbr-er": Look("#c2257a", "#f27fb8", DASHED, "s"),
    "pert-rack": Look("#0b5fa5", "#6cb4f2", DASH_DOTTED, "<"),
    "ns2-sack": Look("#b8431a", "#f08a5d", SOLID, "o"),
    "ns2-sack-er": Look("#b57f00", "#e8b93c", DASHED, "s"),
    "bbr-rack": Look("#c2257a", "#f27fb8", DASH_DOTTED, "<"),
}
OTHERS = (
    Look("#0b5fa5", "#6cb4f2", SOLID, "o"),
    Look("#b8431a", "#f08a5d", DASHED, "s"),
    Look("#00805e", "#3fcfa5", DOTTED, "^"),
    Look("#7a4b9d", "#c39ae0", DASH_DOTTED, "D"),
    Look("#b57f00", "#e8b93c", SOLID, "v"),
    Look("#50565f", "#c3c9d1", DASHED, "P"),
    Look("#c2257a", "#f27fb8", DOTTED, "X"),
    Look("#00757f", "#45c4cf", DASH_DOTTED, "o"),
    Look("#4d6b00", "#a3c94a", SOLID, "s"),
    Look("#8c5a3c", "#c9977a", DASHED, "^"),
)
"""For lines that are no transports."""


def look(name: str, position: int) -> Look:
    """
    Return how a line is drawn.

    Parameters
    ----------
    name
        A transport, or anything else.
    position
        Its number among the lines of the figure, which decides where the name does not.

    Returns
    -------
    Look
        The same for a transport in every figure.
    """
    return LOOKS.get(name, OTHERS[position % len(OTHERS)])


def dark_colours() -> Mapping[str, str]:
    """Return the colour on a dark background for every colour that figures use."""
    return DARK | {each.colour: each.dark for each in (*LOOKS.values(), *OTHERS)}


RULES: dict[Any, Any] = {
    "font.family": "sans-serif",
    # Verdana is as wide: where it stands in, as in an SVG on another computer, nothing overlaps.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.ymargin": 0.09,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "lines.markeredgewidth": 1.1,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handlelength": 3.2,
    "figure.dpi": 110,
    "savefig.dpi": 220,
    "svg.fonttype": "none",
    "svg.hashsalt": "earlybird",
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the look of all figures, leaving the caller's settings alone."""
    with mpl.rc_context(RULES):
        yield


def panelled(
    table: pl.DataFrame,
    draw: Callable[[Axes, pl.DataFrame], None],
    y: str,
    *,
    share_y: bool = True,
    height: float = 2.5,
) -> Figure:
    """
    Draw one panel for each value of a table's column ``panel``, and one legend for all.

    Parameters
    ----------
    table
        What is drawn.
    draw
        Draws the rows of one panel, with a label for everything that the legend names.
    y
        What stands at the y axis.
    share_y
        Whether all have the same y axis.
    height
        Of a panel in inches.

    Returns
    -------
    Figure
        Not attached to any window.
    """
    titles = table["panel"].unique(maintain_order=True).to_list()
    with styled():
        figure, grid = _panels(len(titles), share_y=share_y, height=height)
        for axes, title in zip(grid, titles, strict=True):
            draw(axes, table.filter(pl.col("panel") == title))
            axes.set_title(title)
            if axes is grid[0]:
                axes.set_ylabel(fill(y, LABEL_WIDTH))
        _legend(figure, grid[0], columns=3 if len(grid) <= 2 else 5)
    return figure


def _panels(count: int, *, share_y: bool, height: float) -> tuple[Figure, list[Axes]]:
    """Lay out panels row by row."""
    columns = min(count, 4)
    rows = -(-count // columns)
    width = {1: 5.4, 2: 7.0}.get(columns, 9.6)
    figure = Figure(figsize=(width, rows * height + 0.55), layout="constrained")
    grid = figure.subplots(rows, columns, sharey=share_y, squeeze=False).flatten()
    for unused in grid[count:]:
        unused.remove()
    return figure, list(grid[:count])


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    """Put a legend below all panels that names what is in one of them."""
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower left", ncols=columns, borderaxespad=0.2)
