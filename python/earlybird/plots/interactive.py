"""
Draws charts with plotly: what plotly.js takes, which `report/assets/plots.js` lays out for the width there is.

Colours are those of a light page; the script puts those of a dark one in their place.
"""

from __future__ import annotations

import json
import math
from functools import singledispatch
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from earlybird.plots.chart import LEFT_RIGHT, UP_DOWN, Bars, Bound, Curve, Label, Region, columns, named, titled
from earlybird.plots.style import dark_colours

if TYPE_CHECKING:
    from earlybird.plots.chart import Axis, Chart, Mark, Panel, Values
    from earlybird.plots.style import Look

Document: TypeAlias = dict[str, Any]

SYMBOLS: Final = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "D": "diamond",
    "P": "cross",
    "X": "x",
    "x": "x-thin",
    "+": "cross-thin",
    "*": "star",
    "p": "pentagon",
    "h": "hexagon",
    ".": "circle",
    "_": "line-ew",
}
"""plotly's names of our markers."""

OUTLINES: Final = "x+_"
"""Markers that are lines."""
PIXELS: Final = 1.5
"""Of a page in a point of a picture."""
MANY: Final = 5000
"""Points of a curve that are more quickly drawn by the graphics processor."""
DIGITS: Final = 5


def document(chart: Chart) -> Document:
    """
    Describe a chart as a page carries it.

    Parameters
    ----------
    chart
        What it shows.

    Returns
    -------
    dict
        To be written as JSON: panels with their traces, shapes and words, and the axes. Its title is left out, as it
        stands beside it.
    """
    return {
        "panels": [_panel(panel) for panel in chart.panels],
        "x": _axis(chart.x, LEFT_RIGHT),
        "y": _axis(chart.y, UP_DOWN),
        "shareY": chart.share_y,
        "columns": columns(chart),
        "isStack": chart.is_stack,
        "names": [_entry(name, mark) for name, mark in named(chart).items()],
        "layout": {"hovermode": chart.hover, "barmode": "stack"},
    }


def page(*charts: Chart) -> str:
    """Write a page with charts alone, which needs no other file."""
    assets = resources.files("earlybird.report") / "assets"
    library = resources.files("plotly") / "package_data" / "plotly.min.js"
    style, script = ((assets / name).read_text(encoding="utf-8") for name in ("style.css", "plots.js"))
    return PAGE.format(
        title=escape(charts[0].title),
        style=style,
        figures="".join(_figure(number, chart) for number, chart in enumerate(charts)),
        colours=_json(dark_colours()),
        library=library.read_text(encoding="utf-8"),
        script=script,
    )


PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{figures}</main>
<script type="application/json" id="dark-colours">{colours}</script>
<script>{library}</script>
<script>{script}</script>
</body>
</html>
"""


def _figure(number: int, chart: Chart) -> str:
    return f"""<figure class="plot" id="plot-{number}">
<figcaption><b>{escape(chart.title)}</b> {escape(chart.caption)}</figcaption>
<div class="chart"></div>
<script type="application/json">{_json(document(chart))}</script>
</figure>
"""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _panel(panel: Panel) -> Document:
    described: Document = {"title": panel.title, "traces": [], "shapes": [], "words": []}
    for mark in panel.marks:
        _describe(mark, described)
    if panel.y:
        described["y"] = _axis(panel.y, UP_DOWN)
    return described


def _axis(axis: Axis, arrows: tuple[str, str]) -> Document:
    described: Document = {"title": titled(axis, arrows), "type": "log" if axis.is_log else "linear"}
    if axis.ticks:
        described |= {"tickvals": list(axis.ticks), "ticktext": list(axis.ticks.values())}
    if axis.low is not None or axis.high is not None:
        described["range"] = [_end(axis.low, axis), _end(axis.high, axis)]
    if axis.is_whole:
        described["tickformat"] = "d"
    return described | ({"rows": len(axis.ticks)} if axis.is_rows else {})


def _end(value: float | None, axis: Axis) -> float | None:
    return math.log10(value) if axis.is_log and value else value


def numbers(values: Values) -> list[float | None]:
    """Write numbers with a few significant digits; null where there is none."""
    return [
        None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}") for value in list(values)
    ]


@singledispatch
def _describe(mark: Mark, panel: Document) -> None:
    """Add a mark to what a panel shows."""


@_describe.register(Curve)
def _(mark: Curve, panel: Document) -> None:
    shared = {"name": mark.name, "legendgroup": mark.name, "showlegend": False, "x": numbers(mark.x)}
    if mark.is_banded or mark.form == "band":
        panel["traces"] += _band(mark, shared)
    if mark.form == "band":
        return
    trace = shared | {"y": numbers(mark.y), "hovertemplate": mark.hover, **_drawn(mark)}
    if mark.low is not None and mark.high is not None and not mark.is_banded:
        values = mark.x if mark.is_across else mark.y
        bars = {"array": _apart(values, mark.high), "arrayminus": _apart(mark.low, values)}
        error = {"type": "data", "symmetric": False, "width": 0, "thickness": 1.2, "color": mark.look.colour}
        trace["error_x" if mark.is_across else "error_y"] = error | bars
    if mark.texts:
        trace["text"] = list(mark.texts)
    panel["traces"].append(trace)


def _drawn(curve: Curve) -> Document:
    """Describe how a curve is drawn."""
    mode = {"both": "lines+markers", "line": "lines", "dots": "markers", "steps": "lines", "band": "none"}[curve.form]
    if curve.every > 1:
        mode = "lines"
    shape = {"shape": "hv"} if curve.form == "steps" else {}
    return {
        "type": "scattergl" if len(curve.x) > MANY else "scatter",
        "mode": mode,
        "line": {"color": curve.look.colour, "dash": curve.look.dashes, "width": 1.3 * curve.width} | shape,
        "marker": _marker(curve.look, PIXELS * curve.size),
    }


def _marker(look: Look, size: float) -> Document:
    symbol = SYMBOLS[look.marker] + ("-open" if look.is_hollow or look.marker in OUTLINES else "")
    return {"symbol": symbol, "color": look.colour, "size": size, "line": {"color": look.colour, "width": 1.2}}


def _band(curve: Curve, shared: Document) -> list[Document]:
    """Describe the area between the ends of a curve's intervals."""
    edge = shared | {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    area = {"fill": "tonexty", "fillcolor": f"{curve.look.colour}24"}
    low, high = (numbers([] if end is None else end) for end in (curve.low, curve.high))
    return [edge | {"y": low}, edge | area | {"y": high}]


def _apart(low: Values, high: Values) -> list[float | None]:
    pairs = zip(low, high, strict=True)
    return numbers([None if below is None or above is None else above - below for below, above in pairs])


@_describe.register(Bars)
def _(mark: Bars, panel: Document) -> None:
    panel["traces"].append(
        {
            "type": "bar",
            "name": mark.name,
            "legendgroup": mark.name,
            "showlegend": False,
            "x": numbers(mark.x),
            "y": numbers(mark.heights),
            "width": mark.width,
            "marker": {"color": mark.look.colour},
            "hovertemplate": "%{y:.2f} %",
        }
    )


@_describe.register(Bound)
def _(mark: Bound, panel: Document) -> None:
    line = {"color": mark.look.colour, "width": 1.2, "dash": mark.look.dashes}
    panel["shapes"].append({"along": mark.along, "low": mark.at, "high": mark.at, "line": line})
    if mark.text:
        panel["words"].append({"text": mark.text, "side": "left", "x": None, "y": mark.at})


@_describe.register(Region)
def _(mark: Region, panel: Document) -> None:
    area = {"fillcolor": mark.look.colour, "opacity": 0.12, "line": {"width": 0}, "layer": "below"}
    panel["shapes"].append({"along": mark.along, "low": mark.low, "high": mark.high, **area})


@_describe.register(Label)
def _(mark: Label, panel: Document) -> None:
    panel["words"].append({"text": mark.text, "side": mark.side, "x": mark.x, "y": None if mark.is_above else mark.y})


def _entry(name: str, mark: Bars | Bound | Curve | Region) -> Document:
    """Describe a trace without points that the legend shows."""
    shared: Document = {"name": name, "legendgroup": name, "x": [None], "y": [None]}
    if isinstance(mark, Curve) and mark.form != "band":
        drawn = _drawn(mark) | {"type": "scatter", "marker": _marker(mark.look, max(PIXELS * mark.size, 7))}
        return shared | drawn | ({"mode": "lines+markers"} if mark.every > 1 else {})
    if isinstance(mark, Bound):
        return shared | {"mode": "lines", "line": {"color": mark.look.colour, "dash": mark.look.dashes, "width": 1.2}}
    marker = {"symbol": "square", "size": 12, "color": mark.look.colour}
    return shared | {"mode": "markers", "marker": marker | ({} if isinstance(mark, Bars) else {"opacity": 0.25})}
