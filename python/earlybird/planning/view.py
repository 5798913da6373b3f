"""A plan for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from earlybird.planning.answer import WORDS, answer, delay_text, stalls, warnings
from earlybird.planning.choice import is_noticeably_longer
from earlybird.written import number, rate, seconds, share

if TYPE_CHECKING:
    from rich.console import RenderableType

    from earlybird.planning.line import Line
    from earlybird.planning.planner import Plan, Prospect


def render(plan: Plan) -> RenderableType:
    """Draw the plan: the answer first, then what it rests on."""
    beware = [Text(f"! {text}", style="yellow") for text in warnings(plan)]
    return Group(
        Text(answer(plan), style="bold"),
        Text(circumstances(plan), style="dim"),
        Text(),
        table(plan),
        Text(explanation(plan), style="dim"),
        *beware,
    )


def to_do(plan: Plan) -> list[str]:
    """List what to do, in lines to copy."""
    return ["What to do:", *(f"  {line}" for line in plan.to_do)]


def circumstances(plan: Plan) -> str:
    """Say what is sent over what."""
    part = f" (its first {plan.film.length:g} s)" if plan.film.left_out else ""
    film = f"{plan.film.clip.path.name}{part}, {rate(plan.film.clip.mean_rate)}, {plan.film.goal}"
    return f"{film}, over {describe(plan.line)}."


def describe(line: Line) -> str:
    """Describe a line."""
    pace = f"a line that changes, {rate(line.rate)} on average" if line.trace else rate(line.rate)
    bursts = f" in bursts of {line.mean_burst:.3g}" if line.mean_burst > 1 else ""
    lost = f"{share(line.loss)} lost{bursts}" if line.loss else "nothing lost"
    return f"{pace}, a round trip of {1e3 * line.round_trip:.4g} ms, {lost}, a queue of {_queue(line.queue)}"


def _queue(text: str) -> str:
    """Write a queue: bytes by the thousand."""
    size = text.removesuffix("B")
    return f"{int(size) / 1e3:.4g} kB" if size != text and size.isdecimal() else text


def table(plan: Plan) -> Table:
    """Lay out a row per sender."""
    result = Table(box=None, pad_edge=False, show_edge=False)
    result.add_column("sender", no_wrap=True)
    for heading in (WORDS[plan.film.goal][1], "90 % interval", "median", "formula", "stalls/h", "sessions"):
        result.add_column(heading, justify="right", no_wrap=True)
    for prospect in plan.prospects:
        result.add_row(*cells(plan, prospect), style="bold green" if prospect is plan.choice else "")
    return result


def cells(plan: Plan, prospect: Prospect) -> list[str]:
    """Write a sender's row."""
    need, guess = prospect.need, prospect.guess.delay
    mark = " ✗" if is_noticeably_longer(need.mean, plan.delay, plan.film.noticeable) else ""
    today = " (today)" if prospect is plan.today else ""
    return [
        f"{prospect.candidate.name}{today}",
        f"{_delay(need.mean)}{mark}",
        f"{_delay(need.low)}–{_delay(need.high)}" if math.isfinite(need.low) else "–",
        _delay(prospect.median),
        _delay(guess),
        number(stalls(plan, prospect)),
        str(len(prospect.sessions)),
    ]


def explanation(plan: Plan) -> str:
    """Say what the columns mean."""
    delay = delay_text(plan.delay) if math.isfinite(plan.delay) else "this"
    allowed = f"fewer than {share(plan.late)} of the frames late"
    return (
        f"The delay with which nine of ten sessions have {allowed}, in seconds from writing to playing; median: "
        f"that of every other session. stalls/h: pauses of a player that starts after {delay} and waits for what is "
        "late. "
        "✗: noticeably longer than the chosen one."
    )


def _delay(value: float) -> str:
    return seconds(value) if not math.isfinite(value) or value >= 1 else f"{value:.3f}"
