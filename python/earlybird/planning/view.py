"""A plan for the terminal."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.console import Group
from rich.table import Table
from rich.text import Text

from earlybird.formatting import format_number, format_rate, format_seconds, format_share
from earlybird.planning.answer import WORDS, answer, delay_text, stalls, warnings
from earlybird.planning.beside import queue_text, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from earlybird.planning.path import NetworkPath
    from earlybird.planning.planner import CandidateResult, Plan
    from earlybird.statistics import Estimate

GAP: Final = 2  # cells between two columns

LEAST_NEEDED: Final = ("abandoned", "formula", "stalls/h", "sessions", "median", "stalled", "startup", "behind")
"""Headings of the columns that a narrow terminal does not show, the first ones first."""


def render(plan: Plan) -> RenderableType:
    """Draw the plan: the answer first, then what it rests on."""
    beware = [Text(f"! {text}", style="yellow") for text in warnings(plan)]
    return Group(
        Text(answer(plan), style="bold"),
        Text(description(plan), style="dim"),
        Text(),
        Fitting(plan),
        Text(explanation(plan), style="dim"),
        *beware,
    )


def instructions(plan: Plan) -> list[str]:
    """List what to do, in lines to copy."""
    title = "What to do on the server (--write-settings FILE.sh: as a script, which can undo it):"
    return [title, *(f"  {line}" for line in (*plan.instructions, *plan.router_instructions))]


def description(plan: Plan) -> str:
    """Return a sentence with the stream and the path."""
    part = f" (its first {plan.stream.length:g} s)" if plan.stream.left_out else ""
    ladder = plan.stream.ladder
    rates = (plan.stream.clip.mean_rate,) if ladder is None else ladder.rates
    listed = ", ".join(map(format_rate, rates))
    stream = f"{plan.stream.clip.path.name}{part}, {listed}, {plan.stream.goal}"
    if plan.stream.is_segmented:
        stream += f" in segments of {plan.stream.segment:g} s"
    if ladder is not None:
        stream += f" to {ladder.player}"
    viewers = f" to {plan.path.viewers} viewers" if plan.path.viewers > 1 else ""
    return f"{stream},{viewers} over {describe(plan.path)}, with {title(plan.path.beside)}."


def describe(path: NetworkPath) -> str:
    """Describe a line."""
    pace = f"a line that changes, {format_rate(path.rate)} on average" if path.trace else format_rate(path.rate)
    bursts = f" in bursts of {path.mean_burst:.3g}" if path.mean_burst > 1 else ""
    lost = f"{format_share(path.loss)} lost{bursts}" if path.loss else "nothing lost"
    jitter = path.jitter
    span = f" ({1e3 * jitter.shortest:.4g} to {1e3 * jitter.longest:.4g} ms)" if jitter else ""
    more = "".join(f", {text}" for text in impairments(path))
    return f"{pace}, a round trip of {1e3 * path.round_trip:.4g} ms{span}, {lost}, a queue of {queue_text(path)}{more}"


def impairments(path: NetworkPath) -> list[str]:
    """Describe what else the line does to packets."""
    arq = f"retransmission by the link ({path.arq})" if path.arq else ""
    policer = f"a policer ({path.policer})" if path.policer else ""
    outages = f"outages ({', '.join(path.outages)})" if path.outages else ""
    return [text for text in (arq, policer, outages) if text]


@dataclasses.dataclass(frozen=True, eq=False)
class Fitting:
    """The table, with as many columns as the terminal is wide for; names are never cut."""

    plan: Plan

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Leave out columns until the others fit: `--json` has them all."""
        every = rows(self.plan)
        kept = fitting(every, options.max_width)
        yield table(self.plan, [[row[place] for place in kept] for row in every])
        missing = [heading for place, heading in enumerate(every[0]) if place not in kept]
        if missing:
            yield Text(f"Not shown, as the terminal is too narrow: {', '.join(missing)}; --json has them.", style="dim")


def fitting(shown: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return which columns of some rows, the headings first, fit into so many cells."""
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    kept = list(range(len(widths)))
    never_played = [place for place in kept if all(row[place] == "0 %" for row in shown[1:])]
    least = [shown[0].index(heading) for heading in LEAST_NEEDED if heading in shown[0]]
    for place in [*never_played, *least]:
        if sum(widths[one] + GAP for one in kept) - GAP > width and place in kept:
            kept.remove(place)
    return kept


def rows(plan: Plan) -> list[list[str]]:
    """Return the headings and a row per sender."""
    return [["sender", *headings(plan)], *(cells(plan, result) for result in plan.results)]


def table(plan: Plan, shown: Sequence[Sequence[str]]) -> Table:
    """Lay out a row per sender, below the headings."""
    laid_out = Table(box=None, pad_edge=False, show_edge=False)
    for place, heading in enumerate(shown[0]):
        laid_out.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for result, row in zip(plan.results, shown[1:], strict=True):
        laid_out.add_row(*row, style="bold green" if result is plan.choice else "")
    return laid_out


def headings(plan: Plan) -> list[str]:
    """List the headings of the columns behind the sender's."""
    if plan.stream.ladder is not None:
        rates = [f"{rate / 1e6:g}" for rate in plan.stream.ladder.rates]
        return [WORDS[plan.stream.goal][1], *rates, "mean", "stalled", "stalls/h", "abandoned", "sessions"]
    return [WORDS[plan.stream.goal][1], "90 % interval", "median", "formula", "stalls/h", "sessions"]


def cells(plan: Plan, result: CandidateResult) -> list[str]:
    """Write a sender's row."""
    delay_needed, formula = result.delay_needed, result.formula.delay
    mark = " ✗" if plan.is_worse(result) else ""
    baseline = " (today)" if result is plan.baseline else ""
    if result.viewings:
        return [
            f"{result.candidate.name}{baseline}{mark}",
            _delay(delay_needed.mean),
            *(f"{100 * share:.0f} %" for share in result.shares),
            f"{result.mean_rate / 1e6:.3g}",
            f"{100 * result.stalled_share:.2g} %",
            format_number(stalls(plan, result)),
            format_number(result.abandoned_per_hour),
            str(len(result.sessions)),
        ]
    return [
        f"{result.candidate.name}{baseline}",
        f"{_delay(delay_needed.mean)}{mark}",
        _interval(delay_needed),
        _delay(result.median),
        _delay(formula),
        format_number(stalls(plan, result)),
        str(len(result.sessions)),
    ]


def explanation(plan: Plan) -> str:
    """Return the meaning of the columns."""
    if plan.stream.ladder is not None:
        return _of_renditions(plan)
    delay = delay_text(plan.delay) if math.isfinite(plan.delay) else "this"
    slowest = "for the slowest viewer " if plan.path.viewers > 1 else ""
    allowed = f"{slowest}fewer than {format_share(plan.late)} of the frames late"
    since = "the start of the connection" if plan.stream.goal == "vod" else "writing"
    return (
        f"The delay with which nine of ten sessions have {allowed}, in seconds from {since} to playing; median: "
        f"that of every other session. The answer states the interval's upper end{_of_few(plan)}. "
        f"stalls/h: pauses of a player that starts after {delay} and waits for what is late. "
        f"✗: noticeably longer than the chosen one.{_of_one_latency(plan)}{_of_segments(plan)}"
    )


def _of_few(plan: Plan) -> str:
    """Return the meaning of an interval without an upper end, if there is one."""
    intervals = [_interval(result.delay_needed) for result in plan.results]
    return ", which few sessions do not show (>)" if any(text.startswith(">") for text in intervals) else ""


def _of_one_latency(plan: Plan) -> str:
    """Return why the answer states another delay for SRT than the table, if it does."""
    apart = [
        f" {result.candidate.name} needs {stated} with one latency for all sessions, as a sender has; the table has "
        f"the one that is best for each ({best})."
        for result in plan.results
        if (stated := delay_text(result.startup_delay)) != (best := delay_text(result.best_delay))
    ]
    return "".join(apart)


def _of_renditions(plan: Plan) -> str:
    ladder = plan.stream.ladder
    player = ladder.player if ladder else ""
    return (
        f"{WORDS[plan.stream.goal][1]}: nine of ten sessions play after so many seconds. Share of the time at each "
        f"rate, in Mb/s, that {player} chooses, and the mean; stalled: share of the time since playback began; "
        "abandoned: segments per hour that were requested anew at another rate while they arrived. ✗: noticeably worse "
        "than the chosen one, by the mean rate less the highest rate for each second of waiting, in nine of ten "
        "sessions."
    )


def _of_segments(plan: Plan) -> str:
    """Return what is simulated of the players of a film in segments."""
    if not plan.stream.is_segmented:
        return ""
    return " There is one rendition, so that a player has no smaller one for which it could abandon a segment."


def _interval(delay_needed: Estimate) -> str:
    """Write the interval; of few sessions only its lower end is known."""
    if not math.isfinite(delay_needed.low):
        return "–"
    if math.isfinite(delay_needed.high):
        return f"{_delay(delay_needed.low)}–{_delay(delay_needed.high)}"
    return f"> {_delay(delay_needed.low)}"


def _delay(value: float) -> str:
    return format_seconds(value) if not math.isfinite(value) or value >= 1 else f"{value:.3f}"
