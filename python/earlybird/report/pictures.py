"""Writes plots as pictures, with their data beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from earlybird.plots.chart import Chart
from earlybird.plots.vega import drawn, raster
from earlybird.report.figures import PlotData

Pictures: TypeAlias = Callable[[Chart], dict[str, bytes]]
"""Draws a chart in some forms, by file ending; pages show the first."""

SMALL: Final = 100_000  # bytes of an SVG that is published whatever the size of a PNG would be


def both_pictures(chart: Chart) -> dict[str, bytes]:
    """Draw every form."""
    picture = drawn(chart, "svg")
    return {"svg": picture, "png": raster(picture)}


def vector_picture(chart: Chart) -> dict[str, bytes]:
    """Draw an SVG alone."""
    return {"svg": drawn(chart, "svg")}


def small_picture(chart: Chart) -> dict[str, bytes]:
    """Draw one form: SVG, or PNG for plots with so many points that it is smaller."""
    pictures = vector_picture(chart)
    if len(pictures["svg"]) > SMALL:
        pictures["png"] = raster(pictures["svg"])
    smallest = min(pictures, key=lambda ending: len(pictures[ending]))
    return {smallest: pictures[smallest]}


def write_plot(data: PlotData, folder: Path, name: str, chosen: Pictures = both_pictures) -> str:
    """Write a plot's pictures, and its data beside them; return the name of the first picture."""
    data.table.write_csv(folder / f"{name}.csv")
    return write_pictures(data.chart, folder, name, chosen)


def write_pictures(chart: Chart, folder: Path, name: str, chosen: Pictures) -> str:
    """Write the pictures of a plot alone, as `write_plot` does."""
    pictures = chosen(chart)
    for ending, content in pictures.items():
        (folder / f"{name}.{ending}").write_bytes(content)
    return f"{name}.{next(iter(pictures))}"
