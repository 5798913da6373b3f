"""Writes plots as pictures, with their data beside them."""

import io
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from earlybird.plots.chart import Chart
from earlybird.plots.figure import METADATA, figure
from earlybird.plots.style import styled
from earlybird.report.figures import PlotData

Draw = Callable[[str], bytes]
"""Draws a figure in the form of a file ending, ``svg`` or ``png``."""
Pictures = Callable[[Draw], Mapping[str, bytes]]
"""Makes of a figure the pictures to write, by file ending; the first is the one that pages show."""

SMALL = 100_000
"""Bytes of a picture that is small enough to be published without looking for a smaller form."""
TAG = re.compile(rb"<[^>]*>")
LONG_NUMBER = re.compile(rb"(\d\.\d\d)\d+")
"""A number of an SVG with more than the hundredths of a point that anyone sees."""


def both_pictures(draw: Draw) -> Mapping[str, bytes]:
    """Draw every form."""
    return {ending: draw(ending) for ending in METADATA}


def vector_picture(draw: Draw) -> Mapping[str, bytes]:
    """Draw an SVG alone."""
    return {"svg": draw("svg")}


def small_picture(draw: Draw) -> Mapping[str, bytes]:
    """Draw one form: SVG, but for plots of so many points that a PNG is smaller."""
    drawn = {"svg": draw("svg")}
    if len(drawn["svg"]) > SMALL:
        drawn["png"] = draw("png")
    smallest = min(drawn, key=lambda ending: len(drawn[ending]))
    return {smallest: drawn[smallest]}


def write_plot(data: PlotData, folder: Path, name: str, chosen: Pictures = both_pictures) -> str:
    """
    Write a plot's pictures, and its data beside them.

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
    return write_pictures(data.chart, folder, name, chosen)


def write_pictures(chart: Chart, folder: Path, name: str, chosen: Pictures) -> str:
    """Write the pictures of a plot alone, as `write_plot` does."""
    with styled():
        pictures = chosen(partial(_drawn, _laid_out(figure(chart))))
    for ending, content in pictures.items():
        (folder / f"{name}.{ending}").write_bytes(content)
    return f"{name}.{next(iter(pictures))}"


def _laid_out(drawn: Figure) -> Figure:
    """Lay a figure out once for all forms, which costs more than drawing it."""
    drawn.draw_without_rendering()
    drawn.set_layout_engine("none")
    return drawn


def _drawn(drawn: Figure, ending: str) -> bytes:
    buffer = io.BytesIO()
    drawn.savefig(buffer, format=ending, metadata=METADATA[ending])
    content = buffer.getvalue()
    return shortened(content) if ending == "svg" else content


def shortened(picture: bytes) -> bytes:
    """Round the places of an SVG's lines, and no words."""
    return TAG.sub(lambda tag: LONG_NUMBER.sub(rb"\1", tag[0]), picture)
