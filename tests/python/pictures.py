"""A chart of every kind with long words, many lines and small numbers, shared by the tests of pictures."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from earlybird.plots.ages import histogram_chart, history_chart
from earlybird.plots.delays import delays_chart
from earlybird.plots.dots import dots_chart
from earlybird.plots.lines import Wording, lines_chart
from earlybird.plots.packets import packets_chart
from earlybird.plots.run import line, over_time, stack
from earlybird.plots.search import search_chart, search_table
from earlybird.plots.sensitivity import Scale, sensitivity_chart
from earlybird.plots.style import LOOKS, OTHERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earlybird.plots.chart import Chart

TITLE = "Start-up delay from which 90 % of the flows are in time, with losses in bursts and a queue of 1000 packets"
BANDS = ("low T/µ (1.2–1.6)", "middle T/µ (1.6–2.0)", "high T/µ (2.0–2.4)")
FLOORS = ("timeouts from 200 ms on", "from 30 ms on", "from 5 ms on")
QUANTITY = "Start-up delay that 90 % of the flows need at most (s)"


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
    names = [*LOOKS][:lines]
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
    lines = [line(f"video{number}", look, times, times * number / 1e4) for number, look in enumerate(OTHERS[:4])]
    panels = [over_time(title, lines, better="smaller", note="not delivered by the end: 3 of 50") for title in titles]
    return stack(panels, TITLE, "simulated time (s)")
