"""What formulas say of a line before anything is simulated."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.models import burst_delay, pftk_throughput, slow_start_delay, streaming_chain
from earlybird.planning.film import SEGMENT
from earlybird.statistics import crossing

if TYPE_CHECKING:
    from earlybird.planning.candidates import Candidate
    from earlybird.planning.film import Broadcast
    from earlybird.planning.line import Line

TIMER_FLOOR: Final = 0.2
"""Seconds that Linux's timeout is longer than the round trip at least (`TCP_RTO_MIN`)."""
PER_ACK: Final = 2
"""Segments that one ACK acknowledges once a connection is under way (RFC 5681 §4.2)."""
STEPS: Final = 2_000_000
"""Steps of the Markov chain that are drawn, a tenth of a second's work."""
CHAIN_DELAYS: Final = tuple(np.geomspace(0.02, 60, 60).tolist())
LARGEST_CHAIN: Final = 128
"""Packets of the chain's largest window: its states grow with the square."""
SRT_ROUND_TRIPS: Final = ((0.01, 3), (0.03, 4), (0.07, 5), (0.10, 6))
"""Loss up to which a latency of so many round trips is advised (Haivision, "SRT Deployment Guide", latency)."""
SESSIONS_LEFT: Final = 0.1
"""Late frames more than allowed per session that nine of ten sessions do without."""
ONE_EXPIRY: Final = 4
"""Losses in a row that a first timeout repairs (see `burst_delay`)."""
FAR_APART: Final = 2.0
"""Factor between formula and simulation from which on one is warned."""
WORTH_A_WORD: Final = 0.1
"""Seconds by which they differ at least then."""


@dataclasses.dataclass(frozen=True)
class FirstGuess:
    """
    What formulas say of a sender.

    Attributes
    ----------
    delay : float
        Seconds; infinite if the film is too much; not a number if no formula knows the sender.
    because : str
        Which of the formulas says so.
    """

    delay: float
    because: str


NO_GUESS: Final = FirstGuess(math.nan, "no formula for it")


def timeout(line: Line) -> float:
    """Return a first timeout of Linux over an empty line, in seconds."""
    return line.round_trip + TIMER_FLOOR


def tcp_throughput(line: Line) -> float:
    """Return what a Reno sender gets of the line by the PFTK formula, in bits per second."""
    if not line.loss:
        return line.rate
    window = max(2 * line.volume / SEGMENT, 10.0)
    events = line.loss / line.mean_burst
    packets = pftk_throughput(events, line.round_trip, timeout(line), window=window, per_ack=PER_ACK)
    return min(8 * SEGMENT * packets, line.rate)


def first_guess(line: Line, film: Broadcast, candidate: Candidate, late: float) -> FirstGuess:
    """Say what the formulas say of a sender."""
    if candidate.base == "srt":
        return _srt(line)
    guesses = [_opening(line, film), _repair(line, film, late)]
    if candidate.base in ("cubic", "reno", "newreno", "sack", "tahoe"):
        guesses.append(_streaming(line, film, late))
    return max(guesses, key=lambda guess: guess.delay)


def disagree(guess: float, simulated: float) -> bool:
    """Return whether the formulas are far from the simulation."""
    if math.isnan(guess):
        return False
    if math.isinf(guess) or math.isinf(simulated):
        return guess != simulated
    low, high = sorted((guess, simulated))
    return high > FAR_APART * low and high - low > WORTH_A_WORD


def _opening(line: Line, film: Broadcast) -> FirstGuess:
    """How late the largest frame is if it is the first one, or the first frame of a stored film."""
    largest = film.clip.largest_frame if film.goal != "vod" else int(film.clip.sizes[0])
    delay = slow_start_delay(math.ceil(largest / SEGMENT), line.round_trip, line.rate / 8 / SEGMENT)
    return FirstGuess(delay, "first frame in slow start")


def _repair(line: Line, film: Broadcast, late: float) -> FirstGuess:
    """How late a frame is of which a packet is lost so often in a row that one session in ten sees it."""
    frames = len(film.play_times)
    packets = max(film.clip.sizes.mean() / SEGMENT, 1.0)
    seen = (max(math.ceil(late * frames) - 1, 0) + SESSIONS_LEFT) / frames
    lost = math.floor(math.log(seen / packets) / math.log(line.loss)) if line.loss else 0
    if lost < 1:
        return FirstGuess(0.0, "hardly a loss")
    period = film.clip.length / (film.clip.frames * packets)
    return FirstGuess(burst_delay(min(lost, ONE_EXPIRY), line.round_trip, period, timeout(line)), "burst buffer")


def _streaming(line: Line, film: Broadcast, late: float) -> FirstGuess:
    """How late frames are because the window is halved again and again: the Markov chain of streaming over TCP."""
    name = "streaming chain"
    if not line.loss:
        return FirstGuess(0.0, name)
    if film.clip.mean_rate >= tcp_throughput(line):
        return FirstGuess(math.inf, "PFTK's throughput")
    window = min(max(round(3 * math.sqrt(8 / (3 * PER_ACK * line.loss))), 16), LARGEST_CHAIN)
    chain = streaming_chain(line.loss, line.round_trip, timeout(line), window=window, per_ack=PER_ACK)
    rate = film.clip.mean_rate / 8 / SEGMENT
    if rate >= chain.throughput:
        return FirstGuess(math.inf, name)
    shares = chain.late_share(rate, CHAIN_DELAYS, steps=STEPS)
    found = crossing(CHAIN_DELAYS, -shares, -late)
    return FirstGuess(line.round_trip / 2 + found, name) if math.isfinite(found) else FirstGuess(math.inf, name)


def _srt(line: Line) -> FirstGuess:
    factor = next((trips for most, trips in SRT_ROUND_TRIPS if line.loss <= most), None)
    if factor is None:
        return NO_GUESS
    return FirstGuess((factor + 0.5) * line.round_trip, f"SRT's table: {factor} round trips")
