"""The recursions by which senders estimate round trips, as the papers' equations have them, over a list of samples."""

from collections.abc import Iterable, Iterator
from itertools import accumulate

PERT_WEIGHT = 0.99  # share of the old value in PERT's smoothed round trip (the ER thesis)


def retransmission_timeouts(samples: Iterable[float], least_spread: float = 0.0) -> Iterator[float]:
    """
    Return the retransmission timeout in seconds after each round trip of `samples` (seconds).

    SRTT + 4·RTTVAR, the ER-PERT paper's equations 1 to 3 with the shares of the new sample, 1/8 and 1/4, that their
    print leaves out, and the first sample of RFC 6298 §2: RTTVAR is half of it. 4·RTTVAR is at least `least_spread`
    seconds (the clock's granularity, RFC 6298 §2).
    """
    for smoothed, spread in _smoothed(samples, 1 / 8):
        yield smoothed + max(least_spread, 4 * spread)


def printed_timeouts(samples: Iterable[float]) -> Iterator[float]:
    """Return the same timeouts as the paper prints them: 7/8 and 3/4 of the old values, and the new ones whole."""
    smoothed = spread = 0.0
    for sample in samples:
        spread = 3 / 4 * spread + abs(smoothed - sample)
        smoothed = 7 / 8 * smoothed + sample
        yield smoothed + 4 * spread


def early_thresholds(samples: Iterable[float]) -> Iterator[float]:
    """
    Return the age in seconds from which a duplicate means loss, after each round trip of `samples` (seconds).

    SRTT + 2·SVAR + the smallest round trip, with weights of 15/16 and 3/4 for the old values (the ER thesis).
    """
    known = list(samples)
    estimates = zip(_smoothed(known, 1 / 16), accumulate(known, min), strict=True)
    return (smoothed + 2 * spread + least for (smoothed, spread), least in estimates)


def queueing_delays(samples: Iterable[float]) -> Iterator[float]:
    """
    Return PERT's smoothed queueing delay in seconds after each round trip of `samples` (seconds).

    A round trip of which the old value keeps 0.99, less the smallest one (the ER thesis).
    """
    known = list(samples)
    smoothed = accumulate(known, lambda old, new: PERT_WEIGHT * old + (1 - PERT_WEIGHT) * new)
    return (max(0.0, mean - least) for mean, least in zip(smoothed, accumulate(known, min), strict=True))


def _smoothed(samples: Iterable[float], gain: float) -> Iterator[tuple[float, float]]:
    """Return the smoothed round trip and its mean deviation, to which a new sample adds a share of `gain` and 1/4."""
    estimate: tuple[float, float] | None = None
    for sample in samples:
        if estimate is None:
            estimate = sample, sample / 2
        else:
            smoothed, spread = estimate
            estimate = smoothed + gain * (sample - smoothed), spread + (abs(sample - smoothed) - spread) / 4
        yield estimate
