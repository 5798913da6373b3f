"""The comparison of transports for one film, as a table for the terminal and as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl
from rich.console import Group
from rich.table import Table
from rich.text import Text

from earlybird.formatting import format_number, format_rate, format_seconds, format_share
from earlybird.player import REFILL_SECONDS
from earlybird.quantities import parse_duration
from earlybird.recommendation import recommendation
from earlybird.statistics import paired_difference
from earlybird.viewers import LATE_AT, PLAYER_STARTUP_DELAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import RenderableType

    from earlybird.compare import Comparison

EXPLANATION: Final = (
    "A frame is there when its last byte is, in order; it is on time if that is no later than the startup delay after "
    f"it was written. The waiting player goes on when {REFILL_SECONDS:g} s of film are there. Frozen: the silence "
    "before each retransmission timeout."
)

SAME_NEEDS: Final = "No flow has more than 10,000 frames, so that 99.99 % of them on time means no stall."
SAME_KEYS: Final = ("required_startup_delay_median_s", "required_startup_delay_p90_s")


class Row(NamedTuple):
    """A line of the table: its title, the key and format of its number, and whether more (1) is better."""

    label: str
    key: str
    written: Callable[[float], str]
    better: int = -1


SECTIONS: Final[Mapping[str, tuple[Row, ...]]] = {
    "Startup delay needed, in seconds": (
        Row("no stall, half the flows", "no_stall_startup_delay_median_s", format_seconds),
        Row("no stall, 9 of 10 flows", "no_stall_startup_delay_p90_s", format_seconds),
        Row("99.99 % on time, half the flows", "required_startup_delay_median_s", format_seconds),
        Row("99.99 % on time, 9 of 10 flows", "required_startup_delay_p90_s", format_seconds),
        Row("99.99 % on time, all flows as one", "required_startup_delay_all_s", format_seconds),
    ),
    "Late frames if playback never waits": tuple(
        Row(f"startup delay {delay} s", f"late_{delay}s", format_share) for delay in LATE_AT
    ),
    f"A waiting player, started after {PLAYER_STARTUP_DELAY:g} s": (
        Row("flows without a stall", "stall_free", format_share, better=1),
        Row("stalls per flow", "stalls", format_number),
        Row("mean length of a stall, s", "mean_stall_s", format_seconds),
        Row("time stalled per flow, s", "stalled_s", format_seconds),
    ),
    "The sender": (
        Row("timeouts per flow", "rto_count", format_number),
        Row("frozen per flow, s", "frozen_s", format_seconds),
    ),
}


def render(comparison: Comparison) -> RenderableType:
    """Draw the comparison for the terminal."""
    notes = [EXPLANATION, chance(comparison), *([SAME_NEEDS] if has_same_needs(comparison) else [])]
    closing = Text(f"\n{recommendation(comparison)}", style="bold")
    return Group(heading(comparison), table(comparison), Text(" ".join(notes), style="dim"), closing)


def chance(comparison: Comparison) -> str:
    """Return a sentence about the differences that are more than chance."""
    first, runs = next(iter(comparison.transports)), len(comparison.seeds)
    if runs < 2:
        return "One run each: small differences may be chance; --seeds 4 tells."
    return f"✓ and ✗: better and worse than {first} beyond chance (90 % paired intervals over {runs} seeds)."


def has_same_needs(comparison: Comparison) -> bool:
    """Return whether 99.99 % of the frames on time allows no flow a single late one, as in short runs."""
    return comparison.flows.filter(pl.col("no_stall_startup_delay_s") != pl.col("required_startup_delay_s")).is_empty()


def heading(comparison: Comparison) -> Text:
    """Return a sentence about the film, the network and the load."""
    source, sent = comparison.source, comparison.sent
    video_rate = format_rate(source.mean_rate)
    film = f"{source.path.name}: {source.codec}, {source.frames} frames, {source.length:.1f} s, {video_rate}"
    sound = f" ({format_rate(source.audio_rate)} of it sound)" if source.audio_rate else ""
    scaled = f", sent at {format_rate(sent.mean_rate)} (busiest second {format_rate(sent.peak_rate)})"
    return Text(f"{film}{sound}{scaled}{extent(comparison)}\n{circumstances(comparison)}", style="bold")


def extent(comparison: Comparison) -> str:
    """Return the part of the film that is sent, if that is not all of it, once."""
    length = parse_duration(comparison.scenario["duration"])
    if comparison.left_out > 0:
        return (
            f"; of its {comparison.source.length:.0f} s only the first {comparison.sent.length:.0f} s are sent "
            "(--duration for more)"
        )
    rounds = (length or 0) / comparison.sent.length
    return f"; repeated {rounds:.0f} times" if rounds >= 2 else ""


def circumstances(comparison: Comparison) -> str:
    """Return the network, the number of runs and their duration."""
    runs = len(comparison.seeds)
    flows = next(iter(comparison.transports.values()))["flows"] // runs
    title = comparison.scenario.get("title") or "network without a title"
    loads = [values["t_over_mu"] for values in comparison.transports.values() if math.isfinite(values["t_over_mu"])]
    spread = dict.fromkeys(f"{load:.2f}" for load in sorted(loads))
    load = (
        f"; T/µ, what a flow gets ÷ the film's rate: {' to '.join([*spread][:: max(len(spread) - 1, 1)])}"
        if spread
        else ""
    )
    seeds = f", {runs} seeds" if runs > 1 else ""
    films = f"{flows:.0f} flow{'s' if flows != 1 else ''} of the film"
    return f"{title}; {films} for {comparison.scenario['duration']}{seeds}{load}"


def table(comparison: Comparison) -> Table:
    """Lay out a column per transport; what differs from the first one beyond chance is coloured."""
    left_out = SAME_KEYS if has_same_needs(comparison) else ()
    result = Table(box=None, pad_edge=False, show_edge=False)
    result.add_column("")
    for transport in comparison.transports:
        result.add_column(transport, justify="right", header_style="bold")
    for title, rows in SECTIONS.items():
        result.add_row(Text(title, style="bold"))
        for row in (row for row in rows if row.key not in left_out):
            cells = (cell(comparison, row, transport) for transport in comparison.transports)
            result.add_row(f"  {row.label}", *cells)
    return result


def cell(comparison: Comparison, row: Row, transport: str) -> Text:
    """Write one value: green with a tick if it is better than the first transport's beyond chance, red if worse."""
    text = row.written(comparison.transports[transport][row.key])
    sign = row.better * advantage(comparison, row.key, transport)
    return Text(f"{text} {' ✓✗'[sign]}", style=("", "green", "red")[sign])


def advantage(comparison: Comparison, key: str, transport: str) -> int:
    """Return whether a value is above (1) or below (−1) that of the first transport in 90 % of such sets of seeds."""
    first = next(iter(comparison.transports))
    here, there = (
        {seed: values[key] for seed, values in comparison.by_seed[name].items()} for name in (transport, first)
    )
    if not all(math.isfinite(value) for value in (*here.values(), *there.values())):
        return 0
    difference = paired_difference(here, there)
    return int(difference.low > 0) - int(difference.high < 0)
