"""Writes plots as pictures, with their data beside them."""

import io
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from earlybird.plots.style import styled
from earlybird.study.figures import PlotData

Draw = Callable[[str], bytes]
"""Draws a figure in the form of a file ending, ``svg`` or ``png``."""
Pictures = Callable[[Draw], Mapping[str, bytes]]
"""Makes of a figure the pictures to write, by file ending; the first is the one that pages show."""

SMALL = 100_000
"""Bytes of a picture that is small enough to be published."""
METADATA: Mapping[str, Mapping[str, None]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
"""What pictures leave out, as it changes from day to day."""


def both_pictures(draw: Draw) -> Mapping[str, bytes]:
    """Draw every form."""
    return {ending: draw(ending) for ending in METADATA}


def small_picture(draw: Draw) -> Mapping[str, bytes]:
    """Draw one form: SVG, but for plots of very many points."""
    drawn = draw("svg")
    return {"svg": drawn} if len(drawn) <= SMALL else {"png": draw("png")}


def write_plot(data: PlotData, folder: Path, name: str, chosen: Pictures = both_pictures) -> str:
    """
    Write a plot's pictures and data.

    Parameters
    ----------
    data
        The plot.
    folder
        Where they go.
    name
        Of the files, without their endings.
    chosen
        Which pictures are kept.

    Returns
    -------
    str
        The name of the first picture.
    """
    data.table.write_csv(folder / f"{name}.csv")
    with styled():
        pictures = chosen(partial(_drawn, _laid_out(data.figure())))
    for ending, content in pictures.items():
        (folder / f"{name}.{ending}").write_bytes(content)
    return f"{name}.{next(iter(pictures))}"


def _laid_out(figure: Figure) -> Figure:
    """Lay a figure out once for all forms, which costs more than drawing it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _drawn(figure: Figure, ending: str) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=dict(METADATA[ending]))
    return buffer.getvalue()
