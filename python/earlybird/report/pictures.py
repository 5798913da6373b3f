"""Writes plots as pictures, with their data beside them."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path

from matplotlib.figure import Figure

from earlybird.plots.style import styled
from earlybird.study.figures import PlotData

Pictures = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
"""Chooses of a plot's pictures, by file ending, those to write; the first is the one that pages show."""


def both_pictures(pictures: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Keep every form."""
    return pictures


def smallest_picture(pictures: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Keep the form with the fewest bytes: SVG, but for plots of very many points."""
    ending = min(pictures, key=lambda each: len(pictures[each]))
    return {ending: pictures[ending]}


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
    pictures = chosen(_pictures(data))
    for ending, content in pictures.items():
        (folder / f"{name}.{ending}").write_bytes(content)
    return f"{name}.{next(iter(pictures))}"


def _pictures(data: PlotData) -> dict[str, bytes]:
    """Draw a plot as SVG and PNG, without what changes from day to day."""
    with styled():
        figure = data.figure()
        return {
            "svg": _saved(figure, "svg", {"Date": None, "Creator": None}),
            "png": _saved(figure, "png", {"Software": None}),
        }


def _saved(figure: Figure, ending: str, metadata: Mapping[str, None]) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, metadata=dict(metadata))
    return buffer.getvalue()
