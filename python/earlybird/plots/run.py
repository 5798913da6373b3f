"""One run over time: windows, round-trip times, the bottleneck's queue, and when what was sent arrived."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from earlybird.errors import InputError
from earlybird.notebook import Picture
from earlybird.outputs import HTML, check_outputs
from earlybird.plots.chart import line_style, marker_style
from earlybird.plots.style import MUTED, OTHERS, Look, styled
from earlybird.quantities import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from earlybird.result import Result

SAMPLES: Final = 400
"""Points of a line where the scenario does not say how often it is measured: as many as can be told apart."""

MOST_FLOWS: Final = 4
"""Lines that can be told apart."""

MOST_DEADLINES: Final = 3
APART: Final = 0.07
"""Part of a panel's height that a line with its name takes."""
METADATA: Final[dict[str, dict[str, None]]] = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
ENDINGS: Final = (*METADATA, ".html")
GREY: Final = Look(MUTED, MUTED, "-", ".")
MISSING: Final = {
    "series": "Not measured: windows, round-trip times and the queue. Run it with --set measure.series=10ms.",
    "deliveries": "Not measured: when each packet arrived. Run it with --set measure.deliveries=true.",
}
"""What a picture lacks without one of the tables that are drawn, and how to have it."""


@dataclass(frozen=True, slots=True)
class Line:
    """What is drawn of a flow or a link."""

    name: str
    look: Look
    times: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """A quantity over time."""

    title: str
    lines: tuple[Line, ...]
    is_dotted: bool = False
    """Whether the values belong to single packets, so that no line joins them."""
    deadlines: tuple[float, ...] = ()
    """Start-up delays: what is above such a height is too late for it."""
    is_alone: bool = False
    """Whether its title names its only line."""
    note: str = ""
    """What no dot can show."""


def check_ending(path: str | Path) -> None:
    """Raise InputError if the name of a file to draw to ends in none of `ENDINGS`."""
    if Path(path).suffix not in ENDINGS:
        raise InputError(f"plot = {path}: a picture's name ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}.")


def measured(resolved: str) -> str:
    """Have a scenario measure what is drawn, as often as it says or as lines need it; measuring changes no packet."""
    document = json.loads(resolved)
    period = (seconds(document["duration"]) or 0.0) / SAMPLES
    series = {"series": f"{max(round(period * 1e9), 1)}ns"}
    document["measure"] = {**series, **document.get("measure", {}), "deliveries": True}
    return json.dumps(document)


def picture(result: Result, path: str | Path | None) -> Picture:
    """Draw a run, as `Result.plot` does; a page of HTML needs no other file."""
    result.require("flows")  # a model's result has none
    lacking = missing(result)
    drawn = panels(result)
    if not drawn:
        raise InputError(" ".join(["there is nothing to draw.", *lacking]))
    if path is not None:
        write(path, drawn, heading(result), clock(result))
    with styled():
        return Picture(draw(drawn, heading(result), clock(result)), lacking)


def write(path: str | Path, drawn: list[Panel], title: str, time: str) -> None:
    """Draw panels to a file, by its ending."""
    check_ending(path)
    if Path(path).suffix == ".html":
        check_outputs({"plot": path}, {})
        Path(path).write_text(HTML + page(drawn, title, time), encoding="utf-8")
    else:
        with styled():
            save_figure(draw(drawn, title, time), path)


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a file, the same one as the same bytes."""
    if Path(path).suffix not in METADATA:
        raise InputError(f"plot = {path}: a picture's name ends in {' or '.join(METADATA)}.")
    check_outputs({"plot": path}, {})
    with styled():
        figure.savefig(path, metadata=METADATA[Path(path).suffix])


def missing(result: Result) -> tuple[str, ...]:
    """Say what the run did not measure of what is drawn, and how it would."""
    wanted = ["series", *(["deliveries"] if result.flows["units_written"].sum() else [])]
    return tuple(MISSING[table] for table in wanted if table not in result.tables)


def clock(result: Result) -> str:
    """Name the time over which is drawn: that of the simulation, or of the machine."""
    return "time (s)" if "world" in result.summary else "simulated time (s)"


def heading(result: Result) -> str:
    """Say what was run and where, and how many of its flows are shown."""
    every, shown = _flows(result), _shown(result)
    part = f", {len(shown)} of {len(every)} flows" if len(shown) < len(every) else ""
    title = result.scenario.get("title", "Scenario without a title")
    world = f", in real time, world `{result.summary['world']}`" if "world" in result.summary else ""
    return f"{title} (seed {result.seed}{part}{world})"


def panels(result: Result) -> list[Panel]:
    """Return what the run has to show, from the sender to the viewer."""
    looks = {name: OTHERS[position % len(OTHERS)] for position, name in enumerate(_shown(result))}
    every = [*_sampled(result, looks), *([_delays(result, looks)] if "deliveries" in result.tables else [])]
    return [panel for panel in every if panel.lines or panel.note]


def _sampled(result: Result, looks: dict[str, Look]) -> list[Panel]:
    """Show what was measured again and again, if it was."""
    if "series" not in result.tables:
        return []
    bottleneck = result.summary.get("bottleneck", "")
    queue = _series(result, "queue_packets", {bottleneck: GREY})
    return [
        Panel("congestion window\n(packets)", _series(result, "cwnd", looks)),
        Panel("allowed rate\n(Mb/s)", _series(result, "allowed_rate_bps", looks, 1e-6)),
        Panel("round-trip time,\nsmoothed (ms)", _series(result, "srtt_s", looks, 1e3)),
        Panel(f"waiting at\n{bottleneck} (packets)", queue, is_alone=True),
    ]


def _flows(result: Result) -> list[str]:
    """Name the flows that last, the first of each group in front."""
    lasting = [group for group, sessions in result.web_sessions.items() if not sessions]
    names: list[str] = (
        result.flows.filter(pl.col("group").is_in(lasting)).sort("index", maintain_order=True)["flow"].to_list()
    )
    return names


def _shown(result: Result) -> list[str]:
    return _flows(result)[:MOST_FLOWS]


def _series(result: Result, quantity: str, looks: dict[str, Look], scale: float = 1.0) -> tuple[Line, ...]:
    # ns-2 forgets its smoothed round-trip time at a timeout: then there is none.
    is_known = pl.col("value").is_finite() & ((pl.col("value") > 0) | (pl.col("quantity") != "srtt_s"))
    table = result.series.filter(pl.col("quantity") == quantity, is_known)
    samples = {name: table.filter(pl.col("subject") == name) for name in looks}
    return tuple(
        Line(name, looks[name], rows["time_s"].to_numpy(), rows["value"].to_numpy() * scale)
        for name, rows in samples.items()
        if rows.height
    )


def _delays(result: Result, looks: dict[str, Look]) -> Panel:
    """Show how late each unit came, over the time at which it was written, beside the start-up delays it may take."""
    written = result.deliveries.filter(pl.col("flow").is_in([*looks]))
    table = written.filter(pl.col("delivered_s").is_finite())
    missing = written.height - table.height
    units = {name: table.filter(pl.col("flow") == name) for name in looks}
    lines = tuple(
        Line(name, looks[name], rows["written_s"].to_numpy(), (rows["delivered_s"] - rows["written_s"]).to_numpy())
        for name, rows in units.items()
        if rows.height
    )
    longest = max((line.values.max() for line in lines), default=0.0)
    delays = sorted(seconds(text) or 0.0 for text in result.scenario["measure"].get("start-up-delays", ()))
    deadlines = _apart((delay for delay in delays if delay <= longest), APART * longest)[:MOST_DEADLINES]
    note = f"not delivered by the end: {missing} of {written.height}" if missing else ""
    return Panel("from written to\ndelivered, each (s)", lines, is_dotted=True, deadlines=deadlines, note=note)


def _apart(values: Iterable[float], least: float) -> tuple[float, ...]:
    """Keep of rising values those that are so far from zero, and from the one before."""
    kept: list[float] = []
    for value in values:
        if value - (kept[-1] if kept else 0.0) >= least:
            kept.append(value)
    return tuple(kept)


def draw(drawn: list[Panel], title: str, time: str) -> Figure:
    """Draw the panels, one below the other, over the same time."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(9.0, 1.0 + 1.9 * len(drawn)), layout="constrained")
    grid = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(grid, drawn, strict=True):
        _draw_panel(axes, panel)
    grid[-1].set_xlabel(time)
    grid[-1].set_xlim(left=0)
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold")
    looks = {line.name: line.look for panel in drawn for line in panel.lines if not panel.is_alone}
    handles = [Line2D([], [], color=look.colour, label=name) for name, look in looks.items()]
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=MOST_FLOWS)
    return figure


def _draw_panel(axes: Axes, panel: Panel) -> None:
    style: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 3} if panel.is_dotted else {}
    for line in panel.lines:
        axes.plot(line.times, line.values, **{"color": line.look.colour, "linewidth": 1.1, **style})
    for deadline in panel.deadlines:
        axes.axhline(deadline, color=MUTED, linewidth=0.9, linestyle=":")
        axes.annotate(
            f"start-up delay {deadline:g} s",
            (1, deadline),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize=7.5,
            color=MUTED,
        )
    axes.set_title(panel.note, loc="left", fontsize=7.5, fontweight="normal")
    axes.set_ylabel(panel.title)
    axes.set_ylim(0, None if any(line.values.any() for line in panel.lines) else 1)


def page(drawn: list[Panel], title: str, time: str) -> str:
    """Make the page on which the same can be looked at closely."""
    from plotly.subplots import make_subplots  # type: ignore[import-untyped]

    figure = make_subplots(rows=len(drawn), cols=1, shared_xaxes=True, vertical_spacing=0.04)
    named = {line.name for panel in drawn if panel.is_alone for line in panel.lines}
    for row, panel in enumerate(drawn, 1):
        for line in panel.lines:
            figure.add_trace(_trace(line, panel, is_named=line.name not in named), row=row, col=1)
            named.add(line.name)
        for deadline in panel.deadlines:
            figure.add_hline(
                deadline, line_dash="dot", annotation_text=f"start-up delay {deadline:g} s", row=row, col=1
            )
        place = {"x": 0, "y": 1, "xref": "x domain", "yref": "y domain", "yanchor": "bottom", "showarrow": False}
        figure.add_annotation(text=panel.note, **place, row=row, col=1)
        figure.update_yaxes(title=panel.title.replace("\n", "<br>"), rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title=time, row=len(drawn), col=1)
    figure.update_layout(title=title, template="plotly_white", height=120 + 220 * len(drawn))
    written: str = figure.to_html(include_plotlyjs=True, full_html=True)
    return written


def _trace(line: Line, panel: Panel, *, is_named: bool) -> dict[str, Any]:
    style = {"mode": "markers", "marker": marker_style(line.look, 4)} if panel.is_dotted else {"mode": "lines"}
    return {
        "type": "scattergl",
        "name": line.name,
        "legendgroup": line.name,
        "showlegend": is_named,
        "x": line.times,
        "y": line.values,
        "line": {**line_style(line.look), "width": 1.5},
        **style,
    }
