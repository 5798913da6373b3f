"""
Draws charts with Vega-Lite: as SVG and PNG without a browser, and in pages, where readers can point at and zoom them.

Colours are those of a light page; the script of a page replaces them on a dark one.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import singledispatch
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import polars as pl

from earlybird.cache import cached, hashed
from earlybird.lazy import LateModule
from earlybird.plots.chart import LEFT_RIGHT, UP_DOWN, Bars, Bound, Curve, Label, Region, named
from earlybird.plots.layout import HEADING, PHONE, TEXT, axis_title, ends, is_shared, layout_of
from earlybird.plots.style import DASHES, FONT, GRID, INK, MUTED, PAPER, STROKED, dark_colours, shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import vl_convert

    from earlybird.plots.chart import Axis, Chart, Mark, Panel, Values
    from earlybird.plots.layout import Layout
else:
    vl_convert = LateModule("vl_convert")

Spec: TypeAlias = dict[str, Any]

PICTURES: Final = "pictures"  # the kind of the files that are kept

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.4.json"
VERSION: Final = "6.4"
XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
CLIP: Final = re.compile(r"(?<=[#\"])clip\d+(?=[\")])")  # names that Vega counts up from one picture to the next
DEFAULTS: Final = re.compile(
    r' (?:opacity="1"|stroke-width="1"|pointer-events="none"|aria-hidden="true"|class="[^"]*")(?=[ />])'
)
EMPTY: Final = re.compile(r'<path d="(?:M0,0h0v0h0Z)?"[^>]*/>')
COORDINATES: Final = re.compile(r' (?:d|transform|x[12]?|y[12]?|width|height)="[^"]*"')
FRACTION: Final = re.compile(r"\d+\.\d{3,}")
PPI: Final = 120  # pixels of a PNG in an inch of 72 pixels of the chart
PIXELS: Final = 4 / 3  # of a chart in a point, the unit of markers and lines
BAND: Final = 0.15  # the opacity of an area
DIGITS: Final = 5  # significant digits of all data: more than can be seen
SMALL: Final = 10  # pixels of the letters of labels inside a panel
KEY_SIZE, KEY_MARKER = 26.0, 0.3
"""Width of a line in the legend in pixels, and the size of its marker, in parts of that."""

ZOOM: Final[Spec] = {
    "name": "zoom",
    "select": {"type": "interval", "zoom": "wheel![event.shiftKey]"},
    "bind": "scales",
}
"""Panels can be moved, and enlarged with the wheel and the shift key: the wheel alone moves the page."""

CONFIG: Final[Spec] = {
    "background": "#ffffff",
    "font": FONT,
    "aria": False,  # a description of each point would make pictures several times larger
    "concat": {"spacing": 20},
    "view": {"stroke": None},
    "title": {"anchor": "start", "color": INK, "fontSize": HEADING, "fontWeight": "bold", "frame": "bounds"},
    "axis": {
        "domainColor": MUTED,
        "gridColor": GRID,
        "labelColor": INK,
        "labelFontSize": TEXT,
        "labelFlush": False,
        "labelLimit": 0,
        "labelOverlap": "greedy",
        "tickColor": MUTED,
        "titleColor": INK,
        "titleFontSize": TEXT,
        "titleFontWeight": "normal",
    },
    "axisX": {"grid": False, "titleAnchor": "middle"},
    "legend": {"labelColor": INK, "labelFontSize": TEXT, "labelLimit": 0, "orient": "bottom"},
}


def drawn(chart: Chart, ending: str, room: float | None = None) -> bytes:
    """Draw a chart as ``svg`` or ``png``, in so many pixels if given: the same chart gives the same bytes."""
    svg = _vector(specification(chart, room))
    names = {name: f"clip{number}" for number, name in enumerate(dict.fromkeys(CLIP.findall(svg)))}
    picture = (XML + compact(CLIP.sub(lambda name: names[name[0]], svg))).encode()
    return raster(picture) if ending == "png" else picture


def compact(svg: str) -> str:
    """Return Vega's SVG without what draws nothing, and with coordinates in hundredths of a pixel: a fifth shorter."""
    return COORDINATES.sub(lambda some: FRACTION.sub(_hundredths, some[0]), EMPTY.sub("", DEFAULTS.sub("", svg)))


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _vector(spec: Spec) -> str:
    def make() -> bytes:
        return vl_convert.vegalite_to_svg(spec, vl_version=VERSION).encode()

    return cached(PICTURES, _hash("svg", json.dumps(spec)), make).decode()


def raster(picture: bytes) -> bytes:
    """Return an SVG as PNG."""
    text = picture.decode()
    return cached(PICTURES, _hash(f"png {PPI}", text), lambda: vl_convert.svg_to_png(text, ppi=PPI))


def _hash(what: str, content: str) -> str:
    """Return the key of what is made of something by the JavaScript engine, which takes half a second to start."""
    return hashed(what, VERSION, vl_convert.__version__, content)  # type: ignore[attr-defined]


def specification(chart: Chart, room: float | None = None) -> Spec:
    """Describe a chart in Vega-Lite; with few pixels its panels stand in one column."""
    layout = layout_of(chart, room)
    title = {"text": lines(layout.chart.title), "subtitle": lines(layout.chart.caption)}
    return {**_body(layout), "title": {**title, "offset": 6, "subtitleColor": MUTED, "subtitleFontSize": TEXT}}


def document(chart: Chart) -> Spec:
    """Describe a chart for a page: ``wide`` from so many pixels on, ``narrow``, and the ``datasets`` of both."""
    plain = replace(chart, title="", caption="")
    wide, narrow = layout_of(plain), layout_of(plain, PHONE)
    specs = {"wide": _body(wide), "narrow": _body(narrow)}
    datasets: dict[str, object] = {}
    for spec in specs.values():
        next(layer for layer in spec["concat"][0]["layer"] if _has_places(layer))["params"] = [ZOOM]
        for shown, panel in zip(chart.panels, spec["concat"], strict=True):
            axes = shown.x or chart.x, shown.y or chart.y
            panel["layer"] += [_pointed(layer, axes) for layer in panel["layer"] if layer["mark"]["type"] == "line"]
    for data in (layer["data"] for spec in specs.values() for panel in spec["concat"] for layer in panel["layer"]):
        values = data.pop("values")
        data["name"] = next((name for name, known in datasets.items() if known == values), str(len(datasets)))
        datasets[data["name"]] = values
    return {**specs, "width": wide.width, "datasets": datasets}


def _has_places(layer: Spec) -> bool:
    """Return whether the marks of a layer have their x and their y from data, as what is moved and enlarged must."""
    return all("value" not in layer["encoding"].get(axis, {}) for axis in "xy")


def _pointed(line: Spec, axes: tuple[Axis, Axis]) -> Spec:
    """Describe points along a line that are not seen: they can be pointed at."""
    mark = {"type": "point", "opacity": 0, "size": 60}
    tips = _tips(axes, named=bool(line["transform"]))
    return {"data": {**line["data"]}, "transform": line["transform"], "mark": mark, "encoding": {"tooltip": tips}}


def _body(layout: Layout) -> Spec:
    y = "shared" if is_shared(layout.chart) else "independent"
    x = "independent" if any(panel.x for panel in layout.chart.panels) else "shared"
    return {
        "$schema": SCHEMA,
        "concat": [_panel(layout, number) for number in range(len(layout.chart.panels))],
        "columns": layout.columns,
        "spacing": {"row": 14 if layout.chart.is_stack else 20, "column": 20},
        "resolve": {"scale": {"y": y, "x": x}},
        "config": CONFIG,
    }


def lines(text: str) -> list[str]:
    """Return the lines of a text, as Vega-Lite takes them."""
    return text.split("\n") if text else []


def page(*charts: Chart) -> str:
    """Return a page with charts alone, which needs no other file."""
    assets = resources.files("earlybird.report") / "assets"
    style, script = ((assets / name).read_text(encoding="utf-8") for name in ("style.css", "plots.js"))
    figures = "".join(_figure(number, chart) for number, chart in enumerate(charts))
    scripts = f"<script>{library()}</script>\n<script>{script}</script>"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(charts[0].title)}</title>
<style>{style}</style>
</head>
<body>
<main>
{figures}</main>
<script type="application/json" id="dark-colours">{as_json(dark_colours())}</script>
{scripts}
</body>
</html>
"""


def library() -> str:
    """Return the JavaScript that draws charts in pages: Vega, Vega-Lite and Vega-Embed."""
    snippet = "window.vegaEmbed = vegaEmbed;"

    def make() -> bytes:
        return vl_convert.javascript_bundle(snippet, vl_version=VERSION).encode()

    return cached(PICTURES, _hash("js", snippet), make).decode().replace("</script", "<\\/script")


def as_json(value: object) -> str:
    """Return JSON that can stand in a page's script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _figure(number: int, chart: Chart) -> str:
    return f"""<figure class="plot" id="plot-{number}">
<figcaption><b>{escape(chart.title)}</b> {escape(chart.caption)}</figcaption>
<div class="chart"></div>
<script type="application/json">{as_json(document(chart))}</script>
</figure>
"""


def _panel(layout: Layout, number: int) -> Spec:
    """Describe a panel: its marks share the scales and the axes."""
    chart, panel = layout.chart, layout.chart.panels[number]
    x, y = panel.x or chart.x, panel.y or chart.y
    is_first = number % layout.columns == 0 or not is_shared(chart)
    is_last = not chart.is_stack or number == len(chart.panels) - 1
    in_order = sorted(panel.marks, key=lambda mark: not isinstance(mark, Region))  # from the bottom layer up
    layers = [layer for mark in in_order for layer in _layers(mark, (x, y))]
    x_axis = _axis(x, axis_title(x, LEFT_RIGHT, layout.panel_width), is_shown=is_last)
    y_axis = _axis(y, axis_title(y, UP_DOWN, layout.panel_height), is_shown=is_first)
    if layout.is_turned:
        x_axis["axis"] |= {"labelAngle": -90}
    if panel.title:
        layers.append(_heading(panel))
    if not number and (entries := named(chart)):
        layers.append(_legend(entries, layout.legend_columns))
    return {
        "width": round(layout.panel_width),
        "height": round(layout.panel_height),
        "encoding": {
            "x": {"field": "x", "type": "quantitative", **x_axis},
            "y": {"field": "y", "type": "quantitative", **y_axis},
        },
        "layer": layers,
    }


def _axis(axis: Axis, title: list[str], *, is_shown: bool) -> Spec:
    """Describe a scale and its axis."""
    scale: Spec = {"nice": not axis.ticks and axis.high is None}
    drawn: Spec = {"title": title if is_shown and title else None, "labels": is_shown}
    low, high = ends(axis) if axis.ticks and not axis.is_log else (axis.low, axis.high)
    if low is not None and high is not None:
        scale["domain"] = [low, high]
    elif low is not None or high is not None:
        scale |= {"domainMin": low} if low is not None else {"domainMax": high}
    scale |= {"type": "log"} if axis.is_log else {"zero": False}
    if axis.ticks:
        places = [*axis.ticks]
        names = [lines(text) or [""] for text in axis.ticks.values()]
        drawn |= {"values": places, "labelExpr": f"{json.dumps(names)}[indexof({json.dumps(places)}, datum.value)]"}
        drawn |= {"labelBaseline": "middle", "labelOverlap": False, "ticks": False} if axis.is_rows else {}
    else:
        drawn |= {"tickCount": 5, "format": ".6~g"} | ({"tickMinStep": 1} if axis.is_whole else {})
    return {"scale": scale, "axis": drawn}


def _legend(entries: Mapping[str, Mark], across: int) -> Spec:
    """Describe the legend alone, by marks without data; a click on an entry shows its marks alone."""
    names = [*entries]
    styles = [_key(mark) for mark in entries.values()]
    shapes, fills, strokes = (list(part) for part in zip(*styles, strict=True))
    legend = {"title": None, "columns": across, "symbolSize": KEY_SIZE**2, "symbolOpacity": 1, "symbolStrokeWidth": 1.6}

    def channel(values: Sequence[str]) -> Spec:
        return {"field": "name", "type": "nominal", "scale": {"domain": names, "range": values}, "legend": legend}

    return {
        "data": {"values": []},
        "mark": {"type": "point", "filled": True},
        "encoding": {
            "x": {"value": 0},
            "y": {"value": 0},
            "shape": channel(shapes),
            "fill": channel(fills),
            "stroke": channel(strokes),
        },
        "params": [{"name": "chosen", "select": {"type": "point", "fields": ["name"]}, "bind": "legend"}],
    }


def _key(mark: Mark) -> tuple[str, str, str]:
    """Return the shape, the inside and the outline of a mark in the legend."""
    colour = mark.style.colour  # type: ignore[union-attr]
    if isinstance(mark, Curve | Bound):
        is_line = isinstance(mark, Bound) or mark.form not in ("dots", "band")
        path = _dashes(mark.style.dashes) if is_line else ""
        if isinstance(mark, Curve) and mark.form in ("both", "dots"):
            path += shape(mark.style.marker, KEY_MARKER)
        if path:
            return path, PAPER if mark.style.is_hollow else colour, colour
    return "M-.5,-.25H.5V.25H-.5Z", colour if isinstance(mark, Bars) else f"{colour}40", "#ffffff00"


def _dashes(dashes: str) -> str:
    """Return the path of a dashed line from -1 to 1."""
    pattern = [part / KEY_SIZE * 2 for part in DASHES[dashes]] or [2.0]
    path, at, place = "", -1.0, 0
    while at < 1:
        end = min(at + pattern[place % len(pattern)], 1.0)
        path += f"M{at:.3g},0H{end:.3g}" if place % 2 == 0 else ""
        at, place = end, place + 1
    return path


def numbers(values: Values | None) -> pl.Series:
    """Return numbers with a few significant digits, and null where there is none."""
    series = values if isinstance(values, pl.Series) else pl.Series([] if values is None else [*values])
    exact = series.cast(pl.Float64)
    return exact.set(~exact.is_finite(), None).round_sig_figs(DIGITS)


def _data(texts: Sequence[str] = (), /, **values: Values | None) -> Spec:
    """Return a table as Vega-Lite takes it, in few bytes."""
    table = pl.DataFrame({name: numbers(column) for name, column in values.items()})
    if texts:
        table = table.with_columns(text=pl.Series(texts, dtype=pl.String))
    parse = {name: "string" if name == "text" else "number" for name in table.columns}
    return {"values": table.write_csv(), "format": {"type": "csv", "parse": parse}}


@singledispatch
def _layers(mark: Mark, axes: tuple[Axis, Axis]) -> Iterable[Spec]:
    """Describe a mark as layers."""
    raise NotImplementedError


@_layers.register(Curve)
def _(mark: Curve, axes: tuple[Axis, Axis]) -> Iterator[Spec]:
    if mark.low is not None and mark.high is not None:
        yield from _intervals(mark)
    if mark.form in ("both", "line", "steps"):
        yield _line(mark)
    if mark.form in ("both", "dots"):
        yield _points(mark, axes)


@_layers.register(Bars)
def _(mark: Bars, _: tuple[Axis, Axis]) -> Iterator[Spec]:
    middle, half = numbers(mark.x), mark.width / 2
    data = _data(x=middle - half, x2=middle + half, low=mark.low, high=mark.high)
    style = {"type": "rect", "color": mark.style.colour}
    yield _layer(mark, style, data, x2=_field("x2"), y=_field("low"), y2=_field("high"))


def _intervals(curve: Curve) -> Iterator[Spec]:
    """Describe the intervals of points: an area, or a bar for each."""
    places = curve.y if curve.is_across else curve.x
    colour = curve.style.colour
    if curve.is_banded or curve.form == "band":
        mark = {"type": "area", "color": colour, "opacity": BAND, "clip": True}
        yield _layer(curve, mark, _data(x=curve.x, low=curve.low, high=curve.high), y=_field("low"), y2=_field("high"))
        return
    mark = {"type": "rule", "color": colour, "strokeWidth": 1.4, "strokeOpacity": 0.75, "clip": True}
    across, along = ("x", "y") if curve.is_across else ("y", "x")
    data = _data(low=curve.low, high=curve.high, **{along: places})
    yield _layer(curve, mark, data, **{across: _field("low"), f"{across}2": _field("high")})


def _line(curve: Curve) -> Spec:
    mark = {
        "type": "line",
        "color": curve.style.colour,
        "strokeWidth": round(PIXELS * curve.width, 2),
        "strokeDash": DASHES[curve.style.dashes],
        "interpolate": "step-after" if curve.form == "steps" else "linear",
        "clip": True,
    }
    return _layer(curve, mark, _data(x=curve.x, y=curve.y), order={"value": None})


def _points(curve: Curve, axes: tuple[Axis, Axis]) -> Spec:
    style = curve.style
    mark = {
        "type": "point",
        "shape": shape(style.marker),
        "size": round((PIXELS * curve.size) ** 2, 1),
        "stroke": style.colour,
        "strokeWidth": 1.4 if style.marker in STROKED or style.is_hollow else 0,
        "fill": PAPER if style.is_hollow else style.colour,
        "opacity": 1,
    }
    data = _data(curve.texts, x=curve.x, y=curve.y)
    tips = _tips(axes, named=bool(curve.name), has_texts=bool(curve.texts))
    inside = " && ".join(filter(None, (_inside(field, axis) for field, axis in zip("xy", axes, strict=True))))
    every = [{"window": [{"op": "row_number", "as": "n"}]}, {"filter": f"(datum.n - 1) % {curve.every} == 0"}]
    layer = _layer(curve, mark, data, tooltip=tips)
    layer["transform"] += (every if curve.every > 1 else []) + ([{"filter": inside}] if inside else [])
    return layer


def _tips(axes: Iterable[Axis], *, named: bool, has_texts: bool = False) -> list[Spec]:
    """Describe what a page shows of a point that is pointed at."""
    words = [name for name, is_there in (("name", named), ("text", has_texts)) if is_there]
    return [{"field": name, "type": "nominal", "title": " "} for name in words] + [
        {"field": name, "type": "quantitative", "title": axis.title or name, "format": ".4~g"}
        for name, axis in zip("xy", axes, strict=True)
        if not axis.is_rows
    ]


def _inside(field: str, axis: Axis) -> str:
    """Return the test whether a point is between the ends of an axis: others would be drawn outside of the panel."""
    if axis.low is None or axis.high is None:
        return ""
    low, high = sorted((axis.low, axis.high))
    return f"datum.{field} >= {low!r} && datum.{field} <= {high!r}"


def _layer(curve: Bars | Curve, mark: Spec, data: Spec, **encoding: Any) -> Spec:  # noqa: ANN401 - as Vega-Lite has them
    """Describe a layer that fades while another entry of the legend is chosen."""
    if curve.name and (isinstance(curve, Bars) or curve.is_named):
        own = {"param": "chosen", "value": mark.get("opacity", 1), "empty": True}
        encoding["opacity"] = {"condition": own, "value": 0.08}
    transform = [{"calculate": json.dumps(curve.name), "as": "name"}] if curve.name else []
    return {"data": data, "transform": transform, "mark": mark, "encoding": encoding}


def _field(name: str) -> Spec:
    return {"field": name, **({} if name.endswith("2") or name == "high" else {"type": "quantitative"})}


ACROSS: Final[Mapping[str, Spec]] = {
    "x": {"y": {"value": 0}, "y2": {"value": "height"}},
    "y": {"x": {"value": 0}, "x2": {"value": "width"}},
}
"""The encoding of a mark across the whole panel, by the axis on which it has its place."""


@_layers.register(Bound)
def _(mark: Bound, _: tuple[Axis, Axis]) -> Iterator[Spec]:
    style, data = mark.style, {"values": [{mark.along: mark.at}]}
    rule = {"type": "rule", "color": style.colour, "strokeWidth": 1.3, "strokeDash": DASHES[style.dashes]}
    yield {"data": data, "mark": rule, "encoding": ACROSS[mark.along]}
    if mark.text:
        yield {"data": {**data}, "mark": _text(mark.text, "right", "bottom"), "encoding": {"x": {"value": "width"}}}


@_layers.register(Region)
def _(mark: Region, _: tuple[Axis, Axis]) -> Iterator[Spec]:
    along = mark.along
    ends = {"low": mark.low, "high": mark.high}
    first, *others = [name for name, value in ends.items() if value is not None]
    edge = {"x": {"low": 0, "high": "width"}, "y": {"low": "height", "high": 0}}[along]
    missing = next((edge[name] for name, value in ends.items() if value is None), None)
    second = {"field": others[0]} if others else {"value": missing}
    yield {
        "data": {"values": [ends]},
        "mark": {"type": "rect", "color": mark.style.colour, "opacity": BAND, "clip": True},
        "encoding": {**ACROSS[along], along: _field(first), f"{along}2": second},
    }


@_layers.register(Label)
def _(mark: Label, _: tuple[Axis, Axis]) -> Iterator[Spec]:
    align = {"left": "right", "right": "left", "middle": "center"}[mark.side]
    style = _text(mark.text, align, "bottom" if mark.is_above else "middle")
    encoding = {"y": {"value": 0}} if mark.is_above else {}
    yield {"data": {"values": [{"x": mark.x, "y": mark.y}]}, "mark": style, "encoding": encoding}


def _text(text: str, align: str, baseline: str, **more: Any) -> Spec:  # noqa: ANN401 - as Vega-Lite has them
    # Vega-Lite clips all marks of a panel that can be moved, and words stand above it too.
    style = {"type": "text", "text": lines(text), "align": align, "baseline": baseline, "dy": -2, "clip": False}
    return {**style, "fontSize": SMALL, "color": MUTED, **more}


def _heading(panel: Panel) -> Spec:
    """Describe the title of a panel as a mark: all stand as high, whatever the axes beside them."""
    above = -18.0 if any(isinstance(mark, Label) and mark.is_above for mark in panel.marks) else -6.0
    above -= (TEXT + 2) * panel.title.count("\n")  # Vega places the first of several lines
    style = _text(panel.title, "left", "bottom", dy=above, fontSize=TEXT, fontWeight="bold", color=INK)
    return {"data": {"values": [{}]}, "mark": style, "encoding": {"x": {"value": 0}, "y": {"value": 0}}}
