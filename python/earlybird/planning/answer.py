"""The result of a plan: the answer in two sentences, the warnings, and a document for programs."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.files import finite
from earlybird.formatting import format_rate
from earlybird.planning.beside import NONE, queue_text, title
from earlybird.planning.estimates import disagree
from earlybird.planning.samples import share_text
from earlybird.planning.selection import SAMPLE_SIZES, is_noticeably_longer
from earlybird.recommendation import TOO_LONG

if TYPE_CHECKING:
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.planner import CandidateResult, Plan

HELD_BACK: Final = 0.05  # share of the time from which on it is told that a window or buffer held a sender back

LIKELY: Final = 0.25  # share of other choices below which one that is not certain is called likely

LEVEL_OF_UNSEEN: Final = 0.95

NAMED_SHARE: Final = 0.05  # share of the time from which on a rendition is named in the answer
STATED_STALLS: Final = 0.001  # share of the time from which on stalls are

TOO_HIGH: Final = "formulas know neither SACK nor CUBIC's growth, nor that a film leaves a window unused."
TOO_LOW: Final = "formulas know no queue, no jitter, no lost opening of a connection, and no losses close together."

WORDS: Final = {
    "live": ("start after", "startup"),
    "vod": ("start after", "startup"),
    "hls": ("play behind the camera by", "behind"),
    "call": ("from mouth to ear it takes", "mouth to ear"),
}
"""The name of the delay in a sentence and in a column, by goal."""


def delay_text(seconds: float) -> str:
    """Write a delay for a setting: rounded up, with two digits."""
    if not math.isfinite(seconds):
        return "no delay is enough"
    if seconds < 1:
        return f"{math.ceil(1e3 * seconds / 10 - 1e-6) * 10 / 1e3:.2f} s"
    return f"{math.ceil(10 * seconds - 1e-6) / 10:.1f} s"


def answer(plan: Plan) -> str:
    """Answer in two sentences: what to use, and how sure that is; or what decides, and what to measure."""
    sentences = [f"{_choice(plan)} {_sureness(plan)}" if plan.is_settled else _open(plan), *_of_queue(plan)]
    others = [] if plan.other is None else [_other(plan.other), *_of_cake(plan)]
    return " ".join([*sentences, *others])


def _other(plan: Plan) -> str:
    """Return the answer for the same line with other traffic, or without it."""
    where = f"With {title(plan.path.beside)}"
    if not math.isfinite(plan.delay):
        return f"{where} {_none_carries(plan)}{_smaller(plan)}."
    return f"{where} {_use(plan)}: {_start(plan)}."


def cake_mends(plan: Plan) -> bool:
    """Return whether a film beside other traffic needs noticeably less with CAKE."""
    if plan.cake is None or plan.other is None:
        return False
    beside = plan if plan.path.beside != NONE else plan.other
    return is_noticeably_longer(beside.delay_needed, plan.cake.delay_needed, plan.stream.noticeable)


def _of_cake(plan: Plan) -> list[str]:
    """Return the delay with CAKE in front of the line, if its queue is the cause."""
    cake = plan.cake
    if cake is None or not cake_mends(plan):
        return []
    return [
        f"The queue is the cause: with CAKE at {format_rate(cake.path.rate)} on the router that sends into the line, "
        f"and {title(cake.path.beside)}, {_use(cake)}: {_start(cake)}{_today(cake)}."
    ]


def _today(plan: Plan) -> str:
    """Return the delay of today's sender, if another one is chosen and it has one."""
    baseline = plan.baseline
    if plan.choice is baseline or not math.isfinite(baseline.delay_needed.mean):
        return ""
    return f" ({baseline.candidate.name}: {delay_text(baseline.startup_delay)})"


def _of_queue(plan: Plan) -> list[str]:
    """Return what another queue changes, if the plan assumed one."""
    larger = plan.larger_queue
    if larger is None or not queue_decides(plan):
        return []
    case = f"{_use(larger)}: {_start(larger)}" if math.isfinite(larger.delay) else _none_carries(larger)
    return [
        f"The queue of {queue_text(plan.path)} is assumed, it drops packets, and it decides: with one of "
        f"{larger.path.queue} packets {case}. Give --queue if you know it."
    ]


def queue_decides(plan: Plan) -> bool:
    """Return whether another sender or a noticeably different delay comes out with a large queue."""
    larger = plan.larger_queue
    if larger is None or not math.isfinite(min(plan.delay, larger.delay)):
        return False
    short, long = sorted((plan.delay_needed, larger.delay_needed))
    is_another = plan.choice.candidate.name != larger.choice.candidate.name
    return is_another or is_noticeably_longer(long, short, plan.stream.noticeable)


def _open(plan: Plan) -> str:
    """Return what the measurement may mean, what to do in each case, and what to measure."""
    sample = plan.path.loss_sample
    cases = sorted((plan, *plan.ends), key=lambda end: end.path.loss)
    least, most = cases[0], cases[-1]
    if sample is None:
        raise ValueError("no plan without a sample has ends")
    return (
        f"{sample} means {_range(least, most)}, and that decides: {_case(least)}; {_case(most)}. "
        f"Ping {sample.wanted} times, or capture a transfer (--from-pcap), to know which."
    )


def _range(least: Plan, most: Plan) -> str:
    """Write the losses that a measurement leaves open."""
    if not least.path.loss:
        return f"up to {share_text(most.path.loss)} of the packets"
    return f"{share_text(least.path.loss)} to {share_text(most.path.loss)} of the packets"


def _case(plan: Plan) -> str:
    lost = f"with {share_text(plan.path.loss)} lost"
    return f"{lost} {_use(plan)}, {_start(plan)}" if math.isfinite(plan.delay) else f"{lost} {_none_carries(plan)}"


def _none_carries(plan: Plan) -> str:
    return f"none of these senders carries {plan.stream.clip.path.name}"


def _use(plan: Plan) -> str:
    return f"{'stay with' if plan.choice is plan.baseline else 'use'} {plan.choice.candidate.name}"


def _start(plan: Plan) -> str:
    if plan.stream.ladder is not None:
        return f"{rates_text(plan.choice)}, {WORDS[plan.stream.goal][0]} {delay_text(plan.delay)}"
    return f"{WORDS[plan.stream.goal][0]} {delay_text(plan.delay)}{_slowest(plan)}"


def rates_text(result: CandidateResult) -> str:
    """Return at which rates a film in several renditions is played for most of the time."""
    shares, ladder = result.shares, result.rates
    if not any(shares):
        return "nothing is played"
    order = sorted(range(len(shares)), key=lambda rung: -shares[rung])
    named = [rung for rung in order if shares[rung] >= NAMED_SHARE][:2]
    listed = _and([f"{format_rate(ladder[rung])} for {100 * shares[rung]:.0f} %" for rung in named])
    stalls = f", stalled for {100 * result.stalled_share:.2g} %" if result.stalled_share >= STATED_STALLS else ""
    return f"{listed} of the time{stalls}"


def _slowest(plan: Plan) -> str:
    return f" for the slowest of {plan.path.viewers} viewers" if plan.path.viewers > 1 else ""


def _choice(plan: Plan) -> str:
    words, choice, baseline = WORDS[plan.stream.goal][0], plan.choice.candidate.name, plan.baseline.candidate.name
    if not math.isfinite(plan.delay):
        return f"None of these senders carries {plan.stream.clip.path.name} here{_smaller(plan)}."
    if plan.stream.ladder is not None:
        return _choice_of_renditions(plan)
    start = f"{words} {delay_text(plan.longest_delay)}{_slowest(plan)}{_conditions(plan)}"
    if plan.choice is plan.baseline:
        others = f"; no other sender is noticeably quicker{_quickest(plan)}" if len(plan.results) > 1 else ""
        return f"Stay with {baseline}, your sender today: {start}{others}."
    delay_needed = max(end.baseline.startup_delay for end in (plan, *plan.ends))
    instead = (
        delay_text(delay_needed) if math.isfinite(delay_needed) else "playback would fall behind whatever one waits"
    )
    return f"Use {choice}: {start}; with {baseline}, your sender today, {instead}."


def _choice_of_renditions(plan: Plan) -> str:
    choice, baseline = plan.choice, plan.baseline
    name = f"{baseline.candidate.name}, your sender today"
    if choice is not baseline:
        return f"Use {choice.candidate.name}: {_start(plan)}; with {name}, {rates_text(baseline)}."
    best = min(plan.results, key=lambda result: result.shortfall)
    other = f" ({best.candidate.name}: {rates_text(best)})" if best is not choice else ""
    others = f"; no other sender is noticeably better{other}" if len(plan.results) > 1 else ""
    return f"Stay with {name}: {_start(plan)}{others}."


def _conditions(plan: Plan) -> str:
    """Return the round trips and losses that the delay is for, if they can be noticed beside the usual ones."""
    jitter, found = plan.path.jitter, []
    if jitter and jitter.longest - plan.path.round_trip >= plan.stream.noticeable:
        found.append(f"with round trips of up to {delay_text(jitter.longest)}, as measured")
    if is_noticeably_longer(plan.longest_delay, plan.delay, plan.stream.noticeable):
        found.append(f"{delay_text(plan.delay)} with {share_text(plan.path.loss)} lost")
    return f" ({'; '.join(found)})" if found else ""


def _smaller(plan: Plan) -> str:
    """Return a hint at a bit rate that would pass, from the share that was delivered in nine of ten sessions."""
    delivered_share = max(result.delivered_share for result in plan.results)
    rate = 0.8 * delivered_share * plan.stream.clip.mean_rate
    return f"; a film of {rate / 1e3:.0f} kb/s may get through" if delivered_share < 1 else ""


def _quickest(plan: Plan) -> str:
    best = min(plan.results, key=lambda result: result.delay_needed.mean)
    text = delay_text(best.startup_delay)
    return f" ({best.candidate.name}: {text})" if text != delay_text(plan.delay) else ""


def _sureness(plan: Plan) -> str:
    number = plan.compared or len(plan.choice.sessions)
    sessions = f"{number} session{'s' if number > 1 else ''} of {plan.stream.length:g} s"
    if plan.is_clear:
        bound = max(plan.doubt, unseen(number))
        return (
            f"That is clear after {sessions}: other seeds would choose another sender with a probability of less than "
            f"{100 * bound:.0f} %{_for_all(plan)}."
        )
    if number < SAMPLE_SIZES[0] and len(plan.open_candidates) < 2:
        return (
            f"That is the choice of {sessions}, too few to be sure of it: leave --seeds out for {SAMPLE_SIZES[0]} and "
            "more."
        )
    names = _and([result.candidate.name for result in plan.open_candidates])
    chance = f"{100 * max(plan.doubt, 0.01):.0f} % of other seeds would choose another"
    others = [one for one in plan.open_candidates if one is not plan.choice]
    if plan.stream.ladder is not None:
        return f"It cannot be told after {sessions} which of {names} to take ({chance})."
    longer = [f"{one.candidate.name} ({delay_text(one.startup_delay)})" for one in others if plan.is_worse(one)]
    if not longer:
        return f"It cannot be told after {sessions} which of {names} to take ({chance}): either does."
    if len(longer) == len(others) and plan.doubt < LIKELY:
        return f"That is likely but not certain after {sessions}: {chance}; {_and(longer)} needed more in these."
    return (
        f"It cannot be told after {sessions} which of {names} to take ({chance}): in these {_and(longer)} needed more."
    )


def _and(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def unseen(number: int) -> float:
    """Return the largest share of sessions of which so many may show none (at 95 %): nothing below it can be said."""
    return float(1 - (1 - LEVEL_OF_UNSEEN) ** (1 / number))


def _for_all(plan: Plan) -> str:
    """Return that the answer holds for all losses that the measurement leaves open."""
    if not plan.ends:
        return ""
    cases = sorted((plan, *plan.ends), key=lambda end: end.path.loss)
    span = _range(cases[0], cases[-1])
    return f", and it is the same for all that {plan.path.loss_sample} may mean ({span})"


def warnings(plan: Plan) -> list[str]:
    """List what to beware of, a sentence each."""
    return [*_too_long(plan), *may_be_faster(plan.path), *_unlisted(plan), *_held_back(plan), *_apart(plan)]


def may_be_faster(path: NetworkPath) -> list[str]:
    """Return that the line's rate is only what a measurement sent, if it is."""
    if not path.may_be_faster:
        return []
    rate = format_rate(path.rate)
    return [f"{rate} is what iperf3 sent over UDP, and nearly all came: the line may be faster. Give --rate if it is."]


def _too_long(plan: Plan) -> list[str]:
    if plan.stream.goal == "hls" or not TOO_LONG <= plan.longest_delay < math.inf:
        return []
    return [
        f"{delay_text(plan.longest_delay)} is longer than viewers wait: lower the film's rate, or send it over a "
        "faster line."
    ]


def _unlisted(plan: Plan) -> list[str]:
    """Return that long round trips are not simulated, because the measurement does not list them."""
    longest = plan.path.longest_unlisted
    if longest is None or longest - plan.path.round_trip < plan.stream.noticeable:
        return []
    return [
        f"Round trips of up to {delay_text(longest)} were measured, but how many are long is not listed, and none is "
        "simulated: ping without -q, or measure with irtt."
    ]


def _held_back(plan: Plan) -> list[str]:
    return [
        f"{result.candidate.name} was held back by its window or a buffer, not by the line, for "
        f"{100 * result.limited_share:.0f} % of the time."
        for result in plan.results
        if result.limited_share >= HELD_BACK
    ]


def _apart(plan: Plan) -> list[str]:
    """Return a sentence each for the formulas far above and far below the simulation."""
    if plan.stream.ladder is not None:
        return []  # formulas know one rate alone
    far = [one for one in plan.results if disagree(one.formula.delay, one.delay_needed.mean)]
    above = [one for one in far if one.formula.delay > one.delay_needed.mean]
    below = [one for one in far if one.formula.delay < one.delay_needed.mean]
    return [_sentence(group, why) for group, why in ((above, TOO_HIGH), (below, TOO_LOW)) if group]


def _sentence(group: list[CandidateResult], why: str) -> str:
    names = ", ".join(
        f"{one.candidate.name} ({delay_text(one.formula.delay)} by {one.formula.because}; "
        f"simulated: {delay_text(one.delay_needed.mean)})"
        for one in group
    )
    return f"Formulas and simulation are far apart: {names}. The simulation counts: {why}"


def document(plan: Plan) -> dict[str, Any]:
    """Write all of it for programs; a number that does not exist is None."""
    path, stream = plan.path, plan.stream
    found: dict[str, Any] = {
        "answer": answer(plan),
        "choice": plan.choice.candidate.name,
        "baseline": plan.baseline.candidate.name,
        "delay_s": plan.delay,
        "longest_delay_s": plan.longest_delay,
        "clear": plan.is_clear and plan.is_settled,
        "settled": plan.is_settled,
        "beside": path.beside,
        "viewers": path.viewers,
        "other": plan.other
        and {
            "beside": plan.other.path.beside,
            "choice": plan.other.choice.candidate.name,
            "delay_s": plan.other.delay,
        },
        "larger_queue": plan.larger_queue
        and {
            "queue": plan.larger_queue.path.queue,
            "choice": plan.larger_queue.choice.candidate.name,
            "delay_s": plan.larger_queue.delay,
            "decides": queue_decides(plan),
        },
        "cake": plan.cake
        and {
            "rate_bps": plan.cake.path.rate,
            "choice": plan.cake.choice.candidate.name,
            "delay_s": plan.cake.delay,
            "mends": cake_mends(plan),
        },
        "ends": [
            {"loss": end.path.loss, "choice": end.choice.candidate.name, "delay_s": end.delay} for end in plan.ends
        ],
        "doubt": plan.doubt,
        "open_candidates": [result.candidate.name for result in plan.open_candidates],
        "goal": stream.goal,
        "segment_s": stream.segment if stream.is_segmented else None,
        "ladder_bps": stream.ladder and list(stream.ladder.rates),
        "player": stream.ladder and stream.ladder.player,
        "max_late": plan.late,
        "film": {"name": str(stream.clip.path), "mean_bps": round(stream.clip.mean_rate), "session_s": stream.length},
        "path": {
            "rate_bps": path.rate,
            "rtt_s": path.round_trip,
            "loss": path.loss,
            "loss_interval": path.loss_sample and list(path.loss_sample.interval),
            "jitter": path.jitter and dataclasses.asdict(path.jitter),
            "mean_burst": path.mean_burst,
            "queue": path.queue,
            "queue_is_assumed": path.queue_is_assumed,
            "outages": list(path.outages),
            "policer": path.policer,
            "arq": path.arq,
            "facts": list(path.facts),
        },
        "senders": {result.candidate.name: _row(plan, result) for result in plan.results},
        "warnings": warnings(plan),
        "instructions": plan.instructions,
        "router_instructions": plan.router_instructions,
    }
    return finite(found)


def _row(plan: Plan, result: CandidateResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "delay_s": result.startup_delay,
        "delay_estimate_s": result.delay_needed.mean,
        "delay_low_s": result.delay_needed.low,
        "delay_high_s": result.delay_needed.high,
        "delay_median_s": result.median,
        "formula_s": result.formula.delay,
        "formula": result.formula.because,
        "stalls_per_hour": stalls(plan, result),
        "sessions": len(result.sessions),
        "limited_share": result.limited_share,
        "noticeably_longer": is_noticeably_longer(result.delay_needed.mean, plan.delay_needed, plan.stream.noticeable),
    }
    if plan.stream.ladder is not None:
        row |= {
            "time_shares": list(result.shares),
            "mean_bps": result.mean_rate,
            "stalled_share": result.stalled_share,
            "abandoned_per_hour": result.abandoned_per_hour,
            "shortfall": result.shortfall,
            "noticeably_worse": plan.is_worse(result),
        }
    return finite(row)


def stalls(plan: Plan, result: CandidateResult) -> float:
    """Return the pauses per hour of a player that starts after the delay of the chosen sender."""
    return result.stalls(plan.delay, plan.stream.length / 3600)
