"""Tables that the sub-commands print."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from earlybird.columns import (
    NOTHING,
    Column,
    columns_of,
    number,
    success_delays,
    summary_rows,
    sweep_columns,
    whole_percent,
)
from earlybird.console import Console
from earlybird.lazy import LateModule
from earlybird.plain_tables import Row, finite_mean, grouped, plain_columns, plain_rows
from earlybird.sweeps import scenarios_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl
    from rich.console import RenderableType

    from earlybird.emulation import Emulation
    from earlybird.result import Result
    from earlybird.study import RunCount, StudyInfo
    from earlybird.sweeps import SweepResult
    from earlybird.transports import RecoveryInfo, TransportInfo
else:
    pl = LateModule("polars")

Cells: TypeAlias = "dict[str, list[str]]"  # columns of a table by their headings

RELEVANT = 0.1  # share of its time from which on it is told what held a sender back


def show(drawing: RenderableType) -> None:
    """Print a table or text."""
    Console().print(drawing)


def show_studies(studies: Sequence[StudyInfo], counts: Mapping[str, Mapping[str, RunCount]]) -> None:
    """Print what studies are about, and their runs at each scale; how many are done too where that was counted."""
    scales = list(dict.fromkeys(scale for study in studies for scale in study.scales))
    table = titled_table("", ["study"])
    table.add_column("what it is about", overflow="fold", ratio=1)
    for scale in scales:
        table.add_column(f"{scale}:\nruns", justify="right", no_wrap=True)
    for study in studies:
        about = Text.assemble(f"{study.title}\n", (f"{', '.join(study.items)}\n", "dim"))
        done = counts.get(study.name, {})
        table.add_row(study.name, about, *(_runs(study.runs.get(scale), done.get(scale)) for scale in scales))
    show(table)
    show(
        Text("T-F6 and the like are figures (F), tables (T) and equations (E) of five papers, X- is ours.", style="dim")
    )
    show(Text("`earlybird study report all` has a title and a verdict for each.", style="dim"))


def _runs(runs: int | None, count: RunCount | None) -> RenderableType:
    if runs is None or count is None:
        return NOTHING if runs is None else str(runs)
    done = ("all done", "green") if count.done == count.every else f"{count.done} done"
    return Text.assemble(f"{runs}\n", done)


def show_emulation(emulation: Emulation) -> None:
    """Print what an emulated network did, on the error stream: the output is the command's."""
    summary = emulation.summary
    table = titled_table(f"The emulated network, {summary['time_s']:.1f} s", ["link"])
    for heading in ("packets", "dropped", "marked", "Mb/s", "mean wait", "longest queue"):
        table.add_column(heading, justify="right", no_wrap=True)
    for link in summary["links"]:
        table.add_row(
            link["link"],
            f"{link['packets_in']:,}",
            whole_or_share(link["packets_dropped"], link["packets_in"]),
            whole_or_share(link["packets_marked"], link["packets_in"]),
            f"{8e-6 * link['bytes_out'] / summary['time_s']:.2f}",
            f"{link['mean_queue_delay_ms']:.1f} ms",
            f"{link['max_queue_packets']:,}",
        )
    console = Console(stderr=True)
    console.print(table)
    console.print(Text(lateness_text(summary), style="dim"))
    for problem in emulation_problems(summary):
        console.print(Text(problem, style="yellow"))


LATE_US = 1000  # delay that the emulator may add to 1 % of the packets before the machine counts as too busy: 1 ms


def lateness_text(summary: dict[str, Any]) -> str:
    """Return a sentence with the delays that the emulator added."""
    late = summary["delay_added"]
    median, most, worst = (f"{late[key]:.0f} µs" for key in ("p50_us", "p99_us", "max_us"))
    return f"Packets left {median} late (median), {most} (99 %), {worst} at most."


def emulation_problems(summary: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each thing that the real network would not have done."""
    if summary["delay_added"]["p99_us"] > LATE_US:
        yield "More than 1 % of the packets were over 1 ms late: this machine is too busy for this network."
    if summary["overflows"]:
        yield f"{summary['overflows']:,} packets found no memory: more than 1 GiB waited. Limit the queue by --queue."
    if summary["device_drops"]:
        yield (
            f"{summary['device_drops']:,} packets were dropped by Linux in front of the network, whose devices were "
            "full: this machine is too slow for this rate. No link counts them."
        )
    if summary["undelivered"]:
        yield f"{summary['undelivered']:,} packets were not taken by the host they were for."


def whole_or_share(count: int, total: int) -> str:
    """Write a count with its share of a total."""
    return f"{count:,} ({count / total:.2%})" if count else "0"


def show_transports(transports: Sequence[TransportInfo], recoveries: Sequence[RecoveryInfo]) -> None:
    """Print a line for each transport and each loss recovery."""
    ends = [" ".join(name.removeprefix(one.name) for name in one.names if name != one.name) for one in transports]
    rows = [(one.name, end or NOTHING, one.title) for one, end in zip(transports, ends, strict=True)]
    show(_table_of_lines("Transports: endpoint.transport", ("name", "ends", "description"), rows))
    timeless = ", ".join(one.name for one in transports if not one.has_timer)
    show(Text("-er: early retransmission; -rack: RACK-TLP.", style="dim"))
    show(Text(f"-fg, the fine-grained retransmission timer, may follow each but {timeless}.", style="dim"))
    show(Text("`earlybird transports NAME` shows the source and the parameters of one.\n", style="dim"))
    meanings = [(recovery.name, recovery.meaning) for recovery in recoveries]
    show(_table_of_lines("Loss recovery: endpoint.recovery", ("name", "description"), meanings))


def _table_of_lines(title: str, headings: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    """Return a table with one line for each row: only the last column is shortened."""
    table = titled_table(title)
    for place, heading in enumerate(headings[:-1]):
        table.add_column(heading, no_wrap=True, min_width=max(len(row[place]) for row in rows))
    table.add_column(headings[-1], no_wrap=True, overflow="ellipsis", ratio=1)
    for *cells, text in rows:
        table.add_row(*cells, _first_clause(text))
    return table


def _first_clause(text: str) -> str:
    """Return the part of a description that fits a line."""
    return re.split(r"[;:(]|\. |, which ", text, maxsplit=1)[0].strip().rstrip(".")


def show_transport(transport: TransportInfo) -> None:
    """Print one transport with its parameters."""
    show(Text(f"{', '.join(transport.names)}\n{transport.title}\nSource: {transport.source}", style="bold"))
    if not transport.parameters:
        show(Text("It has no parameters of its own; `endpoint` has those that all share."))
        return
    table = titled_table("", ["parameter"])
    for heading in ("allowed", "meaning"):
        table.add_column(heading, overflow="fold")
    for parameter in transport.parameters:
        table.add_row(parameter.key, parameter.allowed, parameter.meaning)
    show(table)


def show_result(result: Result) -> None:
    """Print a run: what it was, its summary, its flows."""
    show(Text(_headline(result), style="bold"))
    show(_summary_table(result.summary))
    if remark := _fuller_link(result):
        show(Text(f"\n{remark}", style="yellow"))
    if (delays := success_delays(result.summary)) and "lost_share" not in result.summary:
        show(_success_table(result.summary, delays))
    show(_flow_table(result))


def show_sweep(sweep: SweepResult) -> None:
    """Print one row per point of a sweep's grid: means over the seeds, with 90 % intervals."""
    runs = sweep.runs
    grid = list(sweep.planned[0].parameters)
    columns, seeds = sweep_columns(runs.columns), runs["seed"].n_unique()
    title = f"Mean over {seeds} seeds (± 90 % interval)" if seeds > 1 else "One run each"
    points = [*runs.group_by(grid, maintain_order=True)] if grid else [((), runs)]
    left = {_short(key, grid): [str(values[place]) for values, _ in points] for place, key in enumerate(grid)}
    counts = [str(group.height) for _, group in points]
    if not grid or len({*counts}) > 1:
        left["runs"] = counts
    cells = {
        column.title: [column.mean_cell(group[column.key].drop_nulls().to_list()) for _, group in points]
        for column in columns
    }
    for number_of_table, some in enumerate(_parts(left, cells, Console().width)):
        show(_beside(left, some, title if number_of_table == 0 else "\nThe same runs"))
    if remark := _drops_elsewhere(sweep):
        show(Text(f"\n{remark}", style="yellow"))


def _drops_elsewhere(sweep: SweepResult) -> str | None:
    """Return a remark if other links dropped more than a bottleneck that the scenario does not name."""
    runs = sweep.runs
    is_named = any(scenario.bottleneck for scenario in scenarios_of(sweep.planned))
    if is_named or "dropped_elsewhere" not in runs.columns:
        return None
    rate = pl.col("drop_rate").fill_null(0.0)
    own = rate / (1 - rate) * pl.col("bottleneck_packets")
    beside = runs.filter(pl.col("dropped_elsewhere") > own)
    if beside.is_empty():
        return None
    names = " or ".join(sorted({*beside["bottleneck"].to_list()}))
    most = max(beside["dropped_elsewhere"].to_list())
    return (
        f"Drop rates are of the bottleneck, {names}. In {beside.height} of {runs.height} runs other links dropped "
        f"more, up to {number(most)} packets.\n"
        "For the figures of another link: --set measure.bottleneck=…"
    )


def _short(key: str, keys: Sequence[str]) -> str:
    """Return the last two parts of a dotted key, or as many as distinguish it from the others, one below the other."""
    parts = key.split(".")
    tails = (".".join(parts[start:]) for start in reversed(range(len(parts) - 1)))
    unambiguous = (tail for tail in tails if sum(other == tail or other.endswith(f".{tail}") for other in keys) == 1)
    return next(unambiguous, key).replace(".", ".\n")


def _parts(left: Cells, cells: Cells, width: int) -> Iterator[Cells]:
    """Split columns so that each part fits on the terminal beside those on the left."""
    part: Cells = {}
    for title, column in cells.items():
        wider = {**part, title: column}
        if part and _width(_beside(left, wider, "")) > width:
            yield part
            wider = {title: column}
        part = wider
    yield part


def _width(table: Table) -> int:
    wide = Console(width=10_000)
    return wide.measure(table).maximum


def _beside(left: Cells, cells: Cells, title: str) -> Table:
    table = titled_table(title)
    table.collapse_padding = True
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in cells:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in zip(*left.values(), *cells.values(), strict=True):
        table.add_row(*row)
    return table


def show_bench(rows: Sequence[dict[str, Any]]) -> None:
    """Print the speed of the simulator beside that of ns-2."""
    table = titled_table("Packets through the bottleneck per second of processor time", ["case"])
    for title in ("earlybird", "ns-2", "times as fast", "peak memory"):
        table.add_column(title, justify="right")
    for row in (row for row in rows if "case" in row):
        table.add_row(row["case"], *_speeds(row), f"{row['peak_memory_mb']:.0f} MB")
    show(table)
    if transports := [row for row in rows if "transport" in row]:
        _show_speeds(transports)
    if crowds := [row for row in rows if "flows" in row]:
        _show_crowds(crowds)
    if studies := [row for row in rows if "study" in row]:
        show_costs(studies, "told roughly from their packets")


def _show_speeds(rows: Sequence[dict[str, Any]]) -> None:
    table = titled_table("\nPer transport, 56 long transfers", ["transport"])
    for title in ("earlybird", "÷ sack"):
        table.add_column(title, justify="right")
    for row in rows:
        speed, beside = f"{row['bottleneck_packets_per_cpu_second'] / 1e6:.2f} million", row["relative_to_sack"]
        table.add_row(row["transport"], speed, NOTHING if beside is None else f"{beside:.2f}")
    show(table)


def _show_crowds(rows: Sequence[dict[str, Any]]) -> None:
    table = titled_table("\nPer number of long transfers, each with the same share of the bottleneck", ["flows"])
    for title in ("earlybird", "peak memory", "memory per flow"):
        table.add_column(title, justify="right")
    for row in rows:
        speed, each = f"{row['bottleneck_packets_per_cpu_second'] / 1e6:.2f} million", row["memory_per_flow_kb"]
        own = NOTHING if each is None else f"{each:.1f} kB"
        table.add_row(f"{row['flows']:,}", speed, f"{row['peak_memory_mb']:.0f} MB", own)
    show(table)


def show_costs(rows: Sequence[Mapping[str, Any]], source: str) -> None:
    """Print the duration of the runs of studies, and the basis of the estimate."""
    table = titled_table(f"\nStudies, {rows[0]['jobs']} runs at a time, {source}", ["study", "scale"])
    for title in ("runs", "simulated seconds\nper second", "time"):
        table.add_column(title, justify="right")
    for row in rows:
        speed, time = f"{row['simulated_seconds_per_second']:,.0f}", f"{row['wall_s'] / 60:.1f} min"
        table.add_row(row["study"], row["scale"], str(row["runs"]), speed, time)
    show(table)


def _speeds(row: dict[str, Any]) -> tuple[str, str, str]:
    ours, theirs = row["bottleneck_packets_per_cpu_second"], row["ns2_bottleneck_packets_per_cpu_second"]
    if theirs is None:
        return f"{ours / 1e6:.2f} million", "not measured", "–"
    return f"{ours / 1e6:.2f} million", f"{theirs / 1e6:.2f} million", f"{ours / theirs:.1f}"


def _headline(result: Result) -> str:
    summary = result.summary
    title = result.scenario.get("title", "Scenario")
    cost = f" in {summary['cpu_s']:.2f} s of processor time" if "cpu_s" in summary else ""
    return f"{title}\nseed {result.seed}, {result.scenario['duration']} {_place(result)}{cost}"


def _place(result: Result) -> str:
    """Return the backend of a run, and the delays that its links added."""
    if "backend" not in result.summary:
        return "simulated"
    median, late = (result.summary[f"added_delay_{share}_us"] for share in ("p50", "p99"))
    backend = result.summary["backend"]
    return f"in real time, backend `{backend}`; links added {median:.0f} µs (median), {late:.0f} µs (p99)"


def titled_table(title: str, left: Sequence[str] = ()) -> Table:
    """Make a table in the look of all, with its first columns."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False
    )
    for heading in left:
        table.add_column(heading, no_wrap=True)
    return table


def _summary_table(summary: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column()
    table.add_column(justify="right")
    for column in summary_rows(summary):
        table.add_row(column.title, column.cell(summary[column.key]))
    if "bottleneck" in summary:
        table.add_row("the bottleneck is the link", summary["bottleneck"])
    return table


def _fuller_link(result: Result) -> str | None:
    """Return a remark if another queue dropped more than that of a bottleneck that the scenario does not name."""
    own = result.summary.get("bottleneck", "")
    counts = Counter[str]()
    for row in plain_rows(result, "drops"):
        counts[row["link"]] += row["packets"] if row["cause"] == "queue" else 0
    fullest = max(sorted(counts), key=counts.__getitem__, default="")
    if result.scenario["measure"].get("bottleneck") or counts.get(fullest, 0) <= counts.get(own, 0):
        return None
    used = {row["link"]: row["utilisation"] for row in plain_rows(result, "links")}
    return (
        f"These figures are of the slowest link on the data's way. The queue of {fullest} dropped more: "
        f"{number(counts[fullest])} packets, {number(counts.get(own, 0))} at {own}; it was used to "
        f"{whole_percent(used[fullest])}, {own} to {whole_percent(used[own])}.\n"
        f"For the figures of that link: --set measure.bottleneck={fullest}"
    )


def _success_table(summary: dict[str, Any], delays: Sequence[Column]) -> Table:
    table = titled_table("\nVideo flows with less than 0.01 % late packets", ["startup delay"])
    for delay in delays:
        table.add_column(delay.title, justify="right")
    table.add_row("on time", *(delay.cell(summary[delay.key]) for delay in delays))
    return table


def _flow_table(result: Result) -> Table:
    """Make a table with one column per group of flows and transport."""
    groups = grouped(plain_rows(result, "flows"), "group", "transport")
    columns, sessions = plain_columns(result, "flows"), result.web_sessions
    table = titled_table("\nFlows: mean of each group")
    table.add_column("group")  # in a narrow terminal the titles are wrapped, not the groups
    for (name, transport), flows in groups.items():
        count = f"{sessions[name]} sessions," if sessions[name] else f"{len(flows)} ×"
        table.add_column(f"{name}\n{count} {transport}", justify="right")
    for column in (column for column in columns_of("flows") if column.key in columns):
        cells = [
            NOTHING if sessions[name] and column.per_connection else column.cell(_mean(flows, column))
            for (name, _), flows in groups.items()
        ]
        if set(cells) != {NOTHING}:
            table.add_row(column.title, *cells)
    if set(limits := [_limits(flows) for flows in groups.values()]) != {NOTHING}:
        table.add_row("held back by", *limits)
    return table


def _mean(rows: Sequence[Row], column: Column) -> float | None:
    return finite_mean(row[column.key] for row in rows)


def _limits(flows: Sequence[Row]) -> str:
    """Name what held the senders back for a tenth of their time or more, a line for each."""
    shares = [(limit, _mean(flows, limit)) for limit in columns_of("limits") if limit.key in flows[0]]
    relevant = [f"{limit.title} {whole_percent(share)}" for limit, share in shares if share and share >= RELEVANT]
    return "\n".join(relevant) or NOTHING


TESTBED_COLUMNS = {
    "startup, s": ("startup_delay_s", 2),
    "stalls": ("stalls", 1),
    "stalled, s": ("stalled_s", 2),
    "frozen, s": ("frozen_s", 2),
    "late pictures": ("late_pictures", 1),
    "dropped": ("frames_dropped", 1),
    "sound starved": ("starvations", 1),
    "buffer, s": ("buffer_s", 1),
    "cwnd: dev ÷ mean": ("cwnd_variation", 2),
    "emulator late, µs (99 %)": ("added_delay_p99_us", 0),
}
"""Headings of a test bed's measures, and their decimals."""


def show_testbed(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the cells of a test bed: means of their plays, with half of the 90 % interval's length."""
    names = list(rows[0])[: list(rows[0]).index("plays")]
    table = titled_table("Per play, with 90 % intervals", [*names, "plays"])
    for heading in TESTBED_COLUMNS:
        table.add_column(heading, justify="right")
    for row in rows:
        unfinished = f" ({row['unfinished']} cut off)" if row["unfinished"] else ""
        cells = (_with_interval(row[measure], digits) for measure, digits in TESTBED_COLUMNS.values())
        table.add_row(*(row[name] for name in names), f"{row['plays']}{unfinished}", *cells)
    show(table)


def _with_interval(estimate: Mapping[str, float] | None, digits: int) -> str:
    """Write a mean with its interval, if there is one."""
    if estimate is None:
        return NOTHING
    half = (estimate["high"] - estimate["low"]) / 2
    return f"{estimate['mean']:.{digits}f}" + (f" ± {half:.{digits}f}" if half < float("inf") else "")
