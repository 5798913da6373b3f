"""What a plan comes to: the answer in two sentences, what to beware of, and all of it for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.files import finite
from earlybird.planning.choice import is_noticeably_longer
from earlybird.planning.estimates import disagree
from earlybird.recommendation import TOO_LONG

if TYPE_CHECKING:
    from earlybird.planning.planner import Plan, Prospect

HELD_BACK: Final = 0.05
"""Share of the time from which on it is told that a window or buffer held a sender back."""

TOO_HIGH: Final = "formulas know neither SACK nor CUBIC's growth, nor that a film leaves a window unused."
TOO_LOW: Final = "formulas know no queue, no lost opening of a connection, and no losses close together."

WORDS: Final = {
    "live": ("start after", "start-up"),
    "vod": ("start after", "start-up"),
    "call": ("from mouth to ear it takes", "mouth to ear"),
}
"""What the delay is, in a sentence and in a column, by the goal."""


def delay_text(seconds: float) -> str:
    """Write a delay as one would set it: rounded up, with two digits."""
    if not math.isfinite(seconds):
        return "no delay is enough"
    if seconds < 1:
        return f"{math.ceil(1e3 * seconds / 10 - 1e-6) * 10 / 1e3:.2f} s"
    return f"{math.ceil(10 * seconds - 1e-6) / 10:.1f} s"


def answer(plan: Plan) -> str:
    """Answer in two sentences: what to use, and how sure that is."""
    return f"{_choice(plan)} {_sureness(plan)}"


def _choice(plan: Plan) -> str:
    words, choice, today = WORDS[plan.film.goal][0], plan.choice.candidate.name, plan.today.candidate.name
    if not math.isfinite(plan.delay):
        return f"None of these senders carries {plan.film.clip.path.name} here{_smaller(plan)}."
    if plan.choice is plan.today:
        others = f"; no other sender is noticeably quicker{_quickest(plan)}" if len(plan.prospects) > 1 else ""
        return f"Stay with {today}, your sender today: {words} {delay_text(plan.delay)}{others}."
    need = plan.today.need.mean
    instead = delay_text(need) if math.isfinite(need) else "playback would fall behind whatever one waits"
    return f"Use {choice}: {words} {delay_text(plan.delay)}; with {today}, your sender today, {instead}."


def _smaller(plan: Plan) -> str:
    """Say which film would pass, by what came of this one."""
    carried = max(session.carried for prospect in plan.prospects for session in prospect.sessions)
    rate = 0.8 * carried * plan.film.clip.mean_rate
    return f"; a film of {rate / 1e3:.0f} kb/s may get through" if carried < 1 else ""


def _quickest(plan: Plan) -> str:
    best = min(plan.prospects, key=lambda prospect: prospect.need.mean)
    text = delay_text(best.need.mean)
    return f" ({best.candidate.name}: {text})" if text != delay_text(plan.delay) else ""


def _sureness(plan: Plan) -> str:
    sessions = f"{len(plan.choice.sessions)} sessions of {plan.film.length:g} s"
    if plan.is_clear:
        odds = f"{100 * plan.doubt:.1f} %" if plan.doubt > 0 else "less than 0.1 %"
        return f"That is clear after {sessions}: other seeds would choose another sender with a probability of {odds}."
    names = " and ".join(prospect.candidate.name for prospect in plan.rivals)
    return (
        f"It cannot be told after {sessions} which of {names} to take "
        f"({100 * plan.doubt:.0f} % of other seeds would choose another): either does."
    )


def warnings(plan: Plan) -> list[str]:
    """List what to beware of, a sentence each."""
    return [*_too_long(plan), *_held_back(plan), *_apart(plan)]


def _too_long(plan: Plan) -> list[str]:
    if not TOO_LONG <= plan.delay < math.inf:
        return []
    return [
        f"{delay_text(plan.delay)} is longer than viewers wait: lower the film's rate, or send it over a faster line."
    ]


def _held_back(plan: Plan) -> list[str]:
    return [
        f"{prospect.candidate.name} was held back by its window or a buffer, not by the line, for "
        f"{100 * prospect.held_back:.0f} % of the time."
        for prospect in plan.prospects
        if prospect.held_back >= HELD_BACK
    ]


def _apart(plan: Plan) -> list[str]:
    """Tell of formulas that are far from the simulation, of those above and of those below together."""
    far = [one for one in plan.prospects if disagree(one.guess.delay, one.need.mean)]
    above = [one for one in far if one.guess.delay > one.need.mean]
    below = [one for one in far if one.guess.delay < one.need.mean]
    return [_told(group, why) for group, why in ((above, TOO_HIGH), (below, TOO_LOW)) if group]


def _told(group: list[Prospect], why: str) -> str:
    names = ", ".join(
        f"{one.candidate.name} ({delay_text(one.guess.delay)} by {one.guess.because}; "
        f"simulated: {delay_text(one.need.mean)})"
        for one in group
    )
    return f"Formulas and simulation are far apart: {names}. The simulation counts: {why}"


def document(plan: Plan) -> dict[str, Any]:
    """Write all of it for programs; a number that does not exist is None."""
    line, film = plan.line, plan.film
    found: dict[str, Any] = {
        "answer": answer(plan),
        "choice": plan.choice.candidate.name,
        "today": plan.today.candidate.name,
        "delay_s": plan.delay,
        "clear": plan.is_clear,
        "doubt": plan.doubt,
        "rivals": [prospect.candidate.name for prospect in plan.rivals],
        "goal": film.goal,
        "late": plan.late,
        "film": {"name": str(film.clip.path), "mean_bps": round(film.clip.mean_rate), "session_s": film.length},
        "line": {
            "rate_bps": line.rate,
            "rtt_s": line.round_trip,
            "loss": line.loss,
            "mean_burst": line.mean_burst,
            "queue": line.queue,
            "facts": list(line.facts),
        },
        "senders": {prospect.candidate.name: _row(plan, prospect) for prospect in plan.prospects},
        "warnings": warnings(plan),
        "to_do": plan.to_do,
    }
    return finite(found)


def _row(plan: Plan, prospect: Prospect) -> dict[str, Any]:
    row: dict[str, Any] = {
        "delay_s": prospect.need.mean,
        "delay_low_s": prospect.need.low,
        "delay_high_s": prospect.need.high,
        "delay_median_s": prospect.median,
        "formula_s": prospect.guess.delay,
        "formula": prospect.guess.because,
        "stalls_per_hour": stalls(plan, prospect),
        "sessions": len(prospect.sessions),
        "held_back": prospect.held_back,
        "noticeably_longer": is_noticeably_longer(prospect.need.mean, plan.delay, plan.film.noticeable),
    }
    return finite(row)


def stalls(plan: Plan, prospect: Prospect) -> float:
    """Return the pauses per hour of a player that starts after the delay of the chosen sender."""
    return prospect.stalls(plan.delay, plan.film.length / 3600)
