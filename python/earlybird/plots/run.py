"""One run over time: windows, round-trip times, the bottleneck's queue, and when what was sent arrived."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.errors import InputError
from earlybird.notebook import Picture
from earlybird.outputs import HTML, check_outputs, write_output
from earlybird.plots.chart import Axis, Bound, Chart, Curve, Panel
from earlybird.plots.style import DARK, DOTTED, MUTED, OTHERS, PLAIN, Style, transport_style
from earlybird.plots.vega import drawn as drawing
from earlybird.plots.vega import page
from earlybird.quantities import parse_duration
from earlybird.tables import one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import TypeAlias

    from earlybird._core import ResolvedScenario
    from earlybird.plots.chart import Better, Mark, Values
    from earlybird.result import Result

    Flows: TypeAlias = Sequence[str] | pl.DataFrame

SAMPLES: Final = 400
"""Points of a line where the scenario does not say how often it is measured: as many as can be told apart."""

MOST_FLOWS: Final = 4  # flows that are drawn where none are asked for
MOST_COLOURS: Final = len(OTHERS)  # lines that can be told apart

MOST_DEADLINES: Final = 3
APART: Final = 0.07  # part of a panel's height that a line with its name takes
ENDINGS: Final = (".png", ".svg", ".html")
DEADLINE: Final = Style(MUTED, DARK[MUTED], DOTTED, ".")
MISSING: Final = {
    "series": "Not measured: windows, round-trip times and the queue. Run it with --set measure.series=10ms.",
    "deliveries": "Not measured: when each packet arrived. Run it with --set measure.deliveries=true.",
}
"""By table: what a picture lacks without it, and how to measure it."""


def check_ending(path: str | Path, endings: Sequence[str] = ENDINGS) -> None:
    """Raise InputError if the name of a file to draw to has none of the endings."""
    if Path(path).suffix not in endings:
        raise InputError(f"plot = {path}: a picture's name ends in {', '.join(endings[:-1])} or {endings[-1]}.")


def measured(scenario: ResolvedScenario) -> ResolvedScenario:
    """Return the scenario with the measurements that are drawn, as often as it says or as lines need it."""
    return scenario.measuring(max(round(scenario.duration_s / SAMPLES * 1e9), 1))


def picture(result: Result, path: str | Path | None, flows: Flows | None = None) -> Picture:
    """Draw a run, as `Result.plot` does; a page of HTML needs no other file."""
    result.require("flows")  # a model's result has none
    lacking, names = missing(result), chosen(result, flows)
    drawn = panels(result, names)
    if not drawn:
        raise InputError(" ".join(["there is nothing to draw.", *lacking]))
    chart = stack(drawn, heading(result, names), clock(result))
    if path is not None:
        write(path, chart)
    return Picture(chart, lacking)


def write(path: str | Path, chart: Chart, endings: Sequence[str] = ENDINGS) -> None:
    """Draw a chart to a file, by its ending; the same chart gives the same bytes."""
    check_ending(path, endings)
    check_outputs({"plot": path}, {})
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    ending = Path(path).suffix
    content = (HTML + page(chart)).encode() if ending == ".html" else drawing(chart, ending.removeprefix("."))
    write_output(path, content)


def stack(drawn: Sequence[Panel], title: str, time: str) -> Chart:
    """Put panels one below the other over the same time."""
    return Chart(tuple(drawn), Axis(time, low=0), title=title, share_y=False, is_stack=True, height=1.7)


def missing(result: Result) -> tuple[str, ...]:
    """Return a sentence for each table that the run did not measure."""
    wanted = ["series", *(["deliveries"] if result.flows["units_written"].sum() else [])]
    return tuple(MISSING[table] for table in wanted if table not in result.tables)


def clock(result: Result) -> str:
    """Return the title of the time axis: simulated time, or that of the machine."""
    return "time (s)" if "backend" in result.summary else "simulated time (s)"


def chosen(result: Result, flows: Flows | None = None) -> list[str]:
    """
    Return the names of the flows to draw: those that are asked for, by name or as rows of a table, or the first four.

    Raises `InputError` if the run has no flow of that name, or they are too many to be told apart.
    """
    if flows is None:
        return _flows(result)[:MOST_FLOWS]
    if isinstance(flows, pl.DataFrame) and "flow" not in flows.columns:
        raise InputError(f"flows: the table has no column `flow`; it has {', '.join(flows.columns)}.")
    names = list(dict.fromkeys(flows["flow"] if isinstance(flows, pl.DataFrame) else flows))
    if not 1 <= len(names) <= MOST_COLOURS:
        raise InputError(f"flows: {len(names)} are asked for; allowed: 1 to {MOST_COLOURS}, which can be told apart.")
    for name in names:
        one_of(name, result.flows["flow"], "flows", "flow")
    return names


def heading(result: Result, names: Sequence[str] | None = None) -> str:
    """Return the title: the scenario, its seed and backend, and the number of flows that are shown."""
    every, shown = _flows(result), names or chosen(result)
    part = f", {len(shown)} of {len(every)} flows" if len(shown) < len(every) else ""
    title = result.scenario.get("title", "Scenario without a title")
    backend = f", in real time, backend `{result.summary['backend']}`" if "backend" in result.summary else ""
    return f"{title} (seed {result.seed}{part}{backend})"


def panels(result: Result, names: Sequence[str] | None = None) -> list[Panel]:
    """Return what the run has to show of these flows, from the sender to the viewer."""
    styles = _styles(result, names or chosen(result))
    every = [*_sampled(result, styles), *([_delays(result, styles)] if "deliveries" in result.tables else [])]
    if "stalls" in result.tables:
        every.append(over_time("stalled so far (s)", _stalled(result, styles), better="smaller"))
    return [panel for panel in every if panel.marks]


def _styles(result: Result, names: Sequence[str]) -> dict[str, Style]:
    """Choose looks by the flows' transports where these differ, else by their order."""
    flows = result.flows.filter(pl.col("flow").is_in(names))
    transports = dict(flows.select("flow", "transport").iter_rows())
    is_clear = len(set(transports.values())) == len(names)
    return {
        name: transport_style(transports[name], place) if is_clear else OTHERS[place]
        for place, name in enumerate(names)
    }


def _sampled(result: Result, styles: dict[str, Style]) -> list[Panel]:
    """Show what was measured again and again, if it was."""
    if "series" not in result.tables:
        return []
    bottleneck = result.summary.get("bottleneck", "")
    queue = _series(result, "queue_packets", {bottleneck: PLAIN})
    return [
        over_time("congestion window (packets)", _series(result, "cwnd", styles)),
        over_time("allowed rate (Mb/s)", _series(result, "allowed_rate_bps", styles, 1e-6)),
        over_time("round-trip time, smoothed (ms)", _series(result, "srtt_s", styles, 1e3), better="smaller"),
        over_time(f"waiting at {bottleneck} (packets)", [replace(one, is_named=False) for one in queue]),
    ]


def over_time(title: str, marks: Iterable[Mark], *, better: Better = "", note: str = "") -> Panel:
    """Make a panel of a quantity over time, from nothing up; an axis of nothing alone ends at 1."""
    drawn = tuple(marks)
    is_flat = not any(max(mark.y, default=0) > 0 for mark in drawn if isinstance(mark, Curve))
    return Panel(note, drawn, Axis(title, low=0, high=1 if is_flat else None, better=better))


def line(name: str, style: Style, times: Values, values: Values) -> Curve:
    """Draw a flow or a link over time."""
    return Curve(name, style, times, values, "line", width=1.1)


def _flows(result: Result) -> list[str]:
    """Return the flows that last, the first of each group in front."""
    lasting = [group for group, sessions in result.web_sessions.items() if not sessions]
    names: list[str] = (
        result.flows.filter(pl.col("group").is_in(lasting)).sort("index", maintain_order=True)["flow"].to_list()
    )
    return names


def _series(result: Result, quantity: str, styles: dict[str, Style], scale: float = 1.0) -> tuple[Curve, ...]:
    # ns-2 forgets its smoothed round-trip time at a timeout: then there is none.
    is_known = pl.col("value").is_finite() & ((pl.col("value") > 0) | (pl.col("quantity") != "srtt_s"))
    table = result.series.filter(pl.col("quantity") == quantity, is_known)
    samples = {name: table.filter(pl.col("subject") == name) for name in styles}
    return tuple(
        line(name, styles[name], rows["time_s"].to_numpy(), rows["value"].to_numpy() * scale)
        for name, rows in samples.items()
        if rows.height
    )


def _stalled(result: Result, styles: dict[str, Style]) -> Iterator[Curve]:
    """Draw how long each viewer has stalled by then: level while it plays, rising while it stalls."""
    end = float(result.summary["duration_s"])
    for name, style in styles.items():
        stalls = result.stalls.filter(pl.col("flow") == name).sort("time_s")
        if stalls.height:
            starts, lengths = stalls["time_s"].to_numpy(), stalls["stalled_s"].to_numpy()
            sums = np.cumsum(lengths)
            times = np.column_stack([starts, starts + lengths]).ravel()
            heights = np.column_stack([sums - lengths, sums]).ravel()
            yield line(name, style, np.array([0.0, *times, end]), np.array([0.0, *heights, sums[-1]]))


def _delays(result: Result, styles: dict[str, Style]) -> Panel:
    """Show the delay of each unit over the time of its write, and the startup delays as bounds."""
    written = result.deliveries.filter(pl.col("flow").is_in([*styles]))
    table = written.filter(pl.col("delivered_s").is_finite())
    lost = written.height - table.height
    waits = table.with_columns(wait=pl.col("delivered_s") - pl.col("written_s"))
    units = {name: waits.filter(pl.col("flow") == name) for name in styles}
    dots = [
        Curve(name, styles[name], rows["written_s"].to_numpy(), rows["wait"].to_numpy(), "dots", size=1.6)
        for name, rows in units.items()
        if rows.height
    ]
    longest = max(waits["wait"], default=0.0)
    delays = sorted(parse_duration(text) or 0.0 for text in result.scenario["measure"].get("start-up-delays", ()))
    shown = _apart((delay for delay in delays if delay <= longest), APART * longest)[:MOST_DEADLINES]
    deadlines = [Bound("", delay, "y", DEADLINE, f"startup delay {delay:g} s") for delay in shown]
    note = f"not delivered by the end: {lost} of {written.height}" if lost else ""
    return over_time("from written to delivered, each (s)", (*dots, *deadlines), better="smaller", note=note)


def _apart(values: Iterable[float], least: float) -> tuple[float, ...]:
    """Keep of rising values those that are so far from zero, and from the one before."""
    kept: list[float] = []
    for value in values:
        if value - (kept[-1] if kept else 0.0) >= least:
            kept.append(value)
    return tuple(kept)
