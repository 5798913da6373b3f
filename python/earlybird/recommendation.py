"""The result of a comparison of transports, in a sentence or two."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from earlybird.formatting import format_delay
from earlybird.statistics import Estimate, paired_difference, student_interval

if TYPE_CHECKING:
    from earlybird.compare import Comparison

NEED: Final = "required_startup_delay_p90_s"
"""The compared quantity: the startup delay after which 9 of 10 flows have 99.99 % of their frames in time."""

TOO_LONG: Final = 10.0
"""Seconds that hardly a viewer waits: from 2 s on they begin to leave, 6 % more with every second (Krishnan and
Sitaraman, "Video stream quality impacts viewer behavior", IMC 2012)."""

MOST_LOGARITHM: Final = 700.0  # exponentials of more than this are infinite

ENOUGH: Final = 0.95  # share of the film's rate below which what a flow gets is not enough, however long one waits


def recommendation(comparison: Comparison) -> str:
    """Recommend a transport beside the first, how much better it is, and whether it is good enough."""
    needs = {name: values[NEED] for name, values in comparison.transports.items()}
    best = min(needs, key=needs.__getitem__)
    return f"{_choice(comparison, needs, best)} {_verdict(comparison, needs[best])}".strip()


def _choice(comparison: Comparison, needs: dict[str, float], best: str) -> str:
    first = next(iter(needs))
    if len(needs) == 1:
        return f"With {best}, nine of ten films need a startup delay of {format_delay(needs[best])}."
    if best == first:
        return f"Take {first}: no other needs a shorter startup delay than its {format_delay(needs[first])}."
    if format_delay(needs[best]) == format_delay(needs[first]):
        own = format_delay(needs[first])
        return f"Stay with {first}: no other needs a startup delay that is noticeably shorter than its {own}."
    gain = factor(comparison, first, best)
    if gain.low > 1:
        return (
            f"Take {best}: nine of ten films need a startup delay of {format_delay(needs[best])} in place of "
            f"{format_delay(needs[first])} with {first}; from seed to seed the delay is shorter by a factor of "
            f"{gain.mean:.2g} (90 % interval {gain.low:.2g} to {gain.high:.2g})."
        )
    if not gain.count > 1:
        return (
            f"{best} needs the shortest startup delay, {format_delay(needs[best])} "
            f"({first}: {format_delay(needs[first])}), "
            "which may be chance: --seeds 4 tells."
        )
    return (
        f"Stay with {first}: {best} needs the shortest startup delay, {format_delay(needs[best])} in place of "
        f"{format_delay(needs[first])}, but that may be chance."
    )


def _verdict(comparison: Comparison, need: float) -> str:
    """Return whether viewers would wait so long, and what to do if not."""
    if need < TOO_LONG:
        return ""
    loads = [values["t_over_mu"] for values in comparison.transports.values() if math.isfinite(values["t_over_mu"])]
    if loads and max(loads) < ENOUGH:
        share = f"{100 * max(loads):.0f} %"
        return (
            f"But no transport carries this film here: flows get {share} of what it needs. Lower its rate (--scale-to)."
        )
    return "But that is longer than viewers wait: lower the film's rate (--scale-to), or send it over a faster line."


def typical_need(comparison: Comparison, transport: str) -> Estimate:
    """Estimate the geometric mean over the seeds of what nine of ten films need, in seconds."""
    return _exponential(student_interval([*_logarithms(comparison, transport).values()]))


def factor(comparison: Comparison, first: str, other: str) -> Estimate:
    """Estimate from the seeds by which factor the first's startup delay is longer: delays are skewed."""
    return _exponential(paired_difference(_logarithms(comparison, first), _logarithms(comparison, other)))


def _logarithms(comparison: Comparison, transport: str) -> dict[int, float]:
    by_seed = {seed: values[NEED] for seed, values in comparison.by_seed[transport].items()}
    return {seed: math.log(need) for seed, need in by_seed.items() if math.isfinite(need) and need > 0}


def _exponential(estimate: Estimate) -> Estimate:
    mean, low, high = (math.exp(min(end, MOST_LOGARITHM)) for end in (estimate.mean, estimate.low, estimate.high))
    if not estimate.is_bounded:
        return Estimate(mean, -math.inf, math.inf, estimate.count)
    return Estimate(mean, low, high, estimate.count)
