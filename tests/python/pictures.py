"""A chart of every kind with long words, many lines and small numbers, shared by the tests of pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
import vl_convert

from earlybird.plots.ages import histogram_chart, history_chart
from earlybird.plots.delays import delays_chart
from earlybird.plots.dots import dots_chart
from earlybird.plots.layout import layout_of
from earlybird.plots.lines import Wording, lines_chart
from earlybird.plots.packets import packets_chart
from earlybird.plots.run import line, over_time, stack
from earlybird.plots.search import search_chart, search_table
from earlybird.plots.sensitivity import Scale, sensitivity_chart
from earlybird.plots.style import OTHERS, TRANSPORT_STYLES
from earlybird.plots.vega import VERSION, _body, specification

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from earlybird.plots.chart import Chart

TITLE = "Startup delay from which 90 % of the flows are in time, with losses in bursts and a queue of 1000 packets"
BANDS = ("low T/µ (1.2–1.6)", "middle T/µ (1.6–2.0)", "high T/µ (2.0–2.4)")
FLOORS = ("timeouts from 200 ms on", "from 30 ms on", "from 5 ms on")
QUANTITY = "Startup delay that 90 % of the flows need at most (s)"


@cache
def kinds() -> Mapping[str, Chart]:
    """Make a chart of each kind."""
    charts = {
        "few-places": lines_chart(points(4, FLOORS, 3), wording(FLOORS)),
        "many-places": lines_chart(
            points(4, [f"{50 * place} ms" for place in range(12)], 5), wording(range(12), " ms")
        ),
        "small-multiples": lines_chart(points(1, range(20), 10), wording((), log_y=True)),
        "turned": lines_chart(points(3, range(6), 6), wording(range(6))),
        "dots": dots_chart(points(1, FLOORS, 4), wording(FLOORS, log_y=True)),
        "factors": sensitivity_chart(
            sizes(14, 5), Scale(f"{QUANTITY}, PERT-ER ÷ SACK-ER", None, 1.0, (0.7, 0.9), is_ratio=True)
        ),
        "shares": sensitivity_chart(sizes(3, 120), Scale("Flows in time (points)", -0.4, 0.5, ())),
        "ages": histogram_chart(bins()),
        "history": history_chart(history()),
        "packets": packets_chart(trace()),
        "delays": delays_chart(delays()),
        "search": search_chart(search_table(trials())),
        "run": run(),
    }
    return {kind: replace(chart, title=TITLE) for kind, chart in charts.items()}


def points(panels: int, places: Sequence[object], lines: int) -> pl.DataFrame:
    """Make points of lines that cross."""
    names = [*TRANSPORT_STYLES][:lines]
    return pl.DataFrame(
        [
            {"panel": BANDS[panel] if panel < len(BANDS) else f"panel {panel}", "line": name, "name": name.upper()}
            | {"x": float(place), "value": 1 + height, "low": 0.9 * height, "high": 1.3 + height}
            | {"paper": 2.0 if place == 1 else None}
            for panel in range(panels if panels > 1 else 1)
            for number, name in enumerate(names)
            for place in range(len(places))
            for height in [10 * abs(np.sin(place + number + panel))]
        ]
    )


def wording(names: Sequence[object], unit: str = "", *, log_y: bool = False) -> Wording:
    """Name places along x."""
    ticks = {float(place): f"{name}{unit}" for place, name in enumerate(names)}
    return Wording("Smallest timeout of the videos", QUANTITY, ticks, log_y=log_y, better="smaller")


def sizes(settings: int, cells: int) -> pl.DataFrame:
    """Make the cells of a sensitivity panel."""
    random = np.random.default_rng(1)
    rows = [
        (place, f"setting {place}: ACKs of all flows delayed by up to {place}00 ms", "a cell", float(size), holds)
        for place in range(settings)
        for size in random.lognormal(0, 1, cells)
        for holds in ["yes" if size < 0.8 else "undecided" if size < 1.2 else "no"]
    ]
    return pl.DataFrame(rows, schema=["place", "setting", "cell", "size", "holds"], orient="row")


def bins() -> pl.DataFrame:
    """Make histograms of ages."""
    ages = pl.DataFrame({"age_ms": np.arange(2.5, 250, 5.0)})
    shares = ages.with_columns(first=pl.col("age_ms") / 50, second=pl.lit(1.0), later=pl.lit(0.5))
    shares = shares.with_columns(threshold_ms=130.0, threshold_low_ms=120.0, threshold_high_ms=140.0)
    return pl.concat([shares.select(pl.lit(f"{buffer} packets").alias("panel"), pl.all()) for buffer in (80, 160)])


def history() -> pl.DataFrame:
    """Make ages over time."""
    table = {"time_s": np.linspace(400, 500, 30), "number": [1, 2, 3] * 10, "age_ms": np.linspace(60, 180, 30)}
    return pl.DataFrame(table).with_columns(panel=pl.lit("80 packets"), threshold_ms=130.0)


def trace() -> pl.DataFrame:
    """Make what happened to packets."""
    rows = [("SACK-ER", float(time), event, 1000 + time) for time in range(20) for event in ("snd", "drp", "ack")]
    return pl.DataFrame(rows, schema=["panel", "time_ms", "event", "seq"], orient="row")


def delays() -> pl.DataFrame:
    """Make delays of packets after bursts."""
    rows = [(f"{burst} lost", time / 10, 50.0 * burst) for burst in (2, 3, 4, 11) for time in range(30)]
    return pl.DataFrame(rows, schema=["panel", "time_s", "delay_ms"], orient="row")


def trials() -> pl.DataFrame:
    """Make the trials of a search."""
    return pl.DataFrame({"trial": range(40), "distance": np.linspace(3, 0.5, 40), "met": [5] * 40})


def run() -> Chart:
    """Make the picture of a run."""
    times = np.linspace(0, 1000, 50)
    titles = ("congestion window (packets)", "round-trip time, smoothed (ms)", "from written to delivered, each (s)")
    lines = [line(f"video{number}", style, times, times * number / 1e4) for number, style in enumerate(OTHERS[:4])]
    panels = [over_time(title, lines, better="smaller", note="not delivered by the end: 3 of 50") for title in titles]
    return stack(panels, TITLE, "simulated time (s)")


class Box(NamedTuple):
    """The place of words in a picture, in pixels, as far as the number of letters tells it."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Return whether two boxes share more than a rim."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > SLACK and down > SLACK


SLACK = 3.0
LETTER = 0.52
"""Width of a letter in letter sizes, small rather than large."""


def legend(spec: dict[str, Any]) -> list[str]:
    """Return the entries of the legend of a picture."""
    scales = [
        layer["encoding"]["shape"]["scale"] for layer in spec["concat"][0]["layer"] if "shape" in layer["encoding"]
    ]
    return [name for scale in scales for name in scale["domain"]]


def words(chart: Chart, room: float | None = None) -> list[tuple[str, Box]]:
    """Return all words of a picture with their places."""
    spec = _body(layout_of(chart, room)) if room else specification(chart)
    graph = vl_convert.vegalite_to_scenegraph(spec, vl_version=VERSION)
    return [*_words(graph["scenegraph"], *graph["origin"])]


def _words(item: dict[str, Any], left: float, top: float) -> Iterator[tuple[str, Box]]:
    for each in item.get("items", ()):
        x, y = left + (each.get("x") or 0), top + (each.get("y") or 0)
        if each.get("text") and each.get("opacity", 1):
            yield _placed(each, x, y)
        yield from _words(each, *((left, top) if "marktype" in each else (x, y)))


def _placed(text: dict[str, Any], x: float, y: float) -> tuple[str, Box]:
    """Return words with their box."""
    lines = [text["text"]] if isinstance(text["text"], str) else text["text"]
    size = text.get("fontSize", 11)
    wide, high = LETTER * size * max(map(len, lines)), size * (1.2 * len(lines) - 0.2)
    left = {"center": -wide / 2, "right": -wide}.get(text.get("align", "left"), 0.0)
    up = {"top": 0.0, "middle": size / 2}.get(text.get("baseline", "alphabetic"), size)
    box = Box(left, -up, left + wide, high - up)
    y += text.get("dy", 0) if not text.get("angle") else 0
    if text.get("angle"):  # upright, read from below
        box = Box(box.top, -box.right, box.bottom, -box.left)
    return "\n".join(lines), Box(x + box.left, y + box.top, x + box.right, y + box.bottom)
