"""Estimates by formulas, before anything is simulated."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.models import burst_delay, pftk_throughput, slow_start_delay, streaming_chain
from earlybird.planning.stream import SEGMENT
from earlybird.statistics import crossing

if TYPE_CHECKING:
    from earlybird.planning.candidates import Candidate
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.stream import StreamSpec

LOSS_BASED: Final = ("cubic", "reno", "newreno", "sack", "tahoe")  # congestion controls that PFTK's formula describes
TIMER_FLOOR: Final = 0.2  # seconds that Linux's timeout is longer than the round trip at least (`TCP_RTO_MIN`)
PER_ACK: Final = 2  # segments that one ACK acknowledges once a connection is under way (RFC 5681 §4.2)
STEPS: Final = 2_000_000  # steps of the Markov chain that are drawn, a tenth of a second's work
CHAIN_DELAYS: Final = tuple(np.geomspace(0.02, 60, 60).tolist())
LARGEST_CHAIN: Final = 128  # packets of the chain's largest window: its states grow with the square
SRT_ROUND_TRIPS: Final = ((0.01, 3), (0.03, 4), (0.07, 5), (0.10, 6))
"""Loss rates up to which a latency in round trips is recommended (Haivision, "SRT Deployment Guide", latency)."""
SESSIONS_LEFT: Final = 0.1  # late frames more than allowed per session that nine of ten sessions do without
ONE_EXPIRY: Final = 4  # losses in a row that a first timeout repairs (see `burst_delay`)
FAR_APART: Final = 2.0  # factor between formula and simulation from which on one is warned
WORTH_A_WORD: Final = 0.1  # seconds by which they differ at least then


@dataclasses.dataclass(frozen=True)
class FormulaEstimate:
    """Seconds for a sender, and the formula: infinite if the film is too much, NaN if no formula knows the sender."""

    delay: float
    because: str


NO_FORMULA: Final = FormulaEstimate(math.nan, "no formula for it")


def timeout(path: NetworkPath) -> float:
    """Return a first timeout of Linux over an empty line, in seconds."""
    return path.round_trip + TIMER_FLOOR


def tcp_throughput(path: NetworkPath) -> float:
    """Return what a Reno sender gets of the line by the PFTK formula, in bits per second."""
    if not path.loss:
        return path.rate
    window = max(2 * path.volume / SEGMENT, 10.0)
    events = path.loss / path.mean_burst
    packets = pftk_throughput(events, path.round_trip, timeout(path), window=window, per_ack=PER_ACK)
    return min(8 * SEGMENT * packets, path.rate)


def formula_estimate(path: NetworkPath, stream: StreamSpec, candidate: Candidate, late: float) -> FormulaEstimate:
    """Return the estimate for a sender: the largest of the formulas that apply."""
    if candidate.base == "srt":
        return _srt(path)
    if stream.is_segmented:
        return _first_segment(path, stream, candidate)
    formulas = [_opening(path, stream), _repair(path, stream, late)]
    if candidate.base in LOSS_BASED:
        formulas.append(_streaming(path, stream, late))
    return max(formulas, key=lambda formula: formula.delay)


def disagree(formula: float, simulated: float) -> bool:
    """Return whether the formulas are far from the simulation."""
    if math.isnan(formula):
        return False
    if math.isinf(formula) or math.isinf(simulated):
        return formula != simulated
    low, high = sorted((formula, simulated))
    return high > FAR_APART * low and high - low > WORTH_A_WORD


def _opening(path: NetworkPath, stream: StreamSpec) -> FormulaEstimate:
    """Return the delay of the largest frame if it is sent first."""
    packets = math.ceil(stream.clip.largest_frame / SEGMENT)
    return FormulaEstimate(_slow_start(path, packets), "first frame in slow start")


def _slow_start(path: NetworkPath, packets: int) -> float:
    return slow_start_delay(packets, path.round_trip, path.rate / 8 / SEGMENT)


def _first_segment(path: NetworkPath, stream: StreamSpec, candidate: Candidate) -> FormulaEstimate:
    """Return the delay of the first segment: its request, slow start, and of a live film the time that it is made."""
    if candidate.base in LOSS_BASED and stream.clip.mean_rate >= tcp_throughput(path):
        return FormulaEstimate(math.inf, "PFTK's throughput")
    made = stream.segment if stream.goal == "hls" else 0.0
    packets = math.ceil(stream.clip.mean_rate * stream.segment / 8 / SEGMENT)
    return FormulaEstimate(made + path.round_trip + _slow_start(path, packets), "first segment in slow start")


def _repair(path: NetworkPath, stream: StreamSpec, late: float) -> FormulaEstimate:
    """Return the delay of a frame of which a packet is lost as often in a row as one session in ten sees."""
    frames = len(stream.play_times)
    packets = max(stream.clip.sizes.mean() / SEGMENT, 1.0)
    seen = (max(math.ceil(late * frames) - 1, 0) + SESSIONS_LEFT) / frames
    lost = math.floor(math.log(seen / packets) / math.log(path.loss)) if path.loss else 0
    if lost < 1:
        return FormulaEstimate(0.0, "hardly a loss")
    period = stream.clip.length / (stream.clip.frames * packets)
    return FormulaEstimate(burst_delay(min(lost, ONE_EXPIRY), path.round_trip, period, timeout(path)), "burst buffer")


def _streaming(path: NetworkPath, stream: StreamSpec, late: float) -> FormulaEstimate:
    """Return the delay that repeated halving of the window causes: the Markov chain of streaming over TCP."""
    name = "streaming chain"
    if not path.loss:
        return FormulaEstimate(0.0, name)
    if stream.clip.mean_rate >= tcp_throughput(path):
        return FormulaEstimate(math.inf, "PFTK's throughput")
    return FormulaEstimate(_chain_delay(path.loss, path.round_trip, stream.clip.mean_rate, late), name)


@functools.lru_cache(maxsize=16)
def _chain_delay(loss: float, round_trip: float, rate: float, late: float) -> float:
    """Return the chain's delay in seconds for a film of so many bits per second; infinite if it is too much."""
    window = min(max(round(3 * math.sqrt(8 / (3 * PER_ACK * loss))), 16), LARGEST_CHAIN)
    chain = streaming_chain(loss, round_trip, round_trip + TIMER_FLOOR, window=window, per_ack=PER_ACK)
    packets = rate / 8 / SEGMENT
    if packets >= chain.throughput:
        return math.inf
    found = crossing(CHAIN_DELAYS, -chain.late_share(packets, CHAIN_DELAYS, steps=STEPS), -late)
    return round_trip / 2 + found if math.isfinite(found) else math.inf


def _srt(path: NetworkPath) -> FormulaEstimate:
    factor = next((trips for most, trips in SRT_ROUND_TRIPS if path.loss <= most), None)
    if factor is None:
        return NO_FORMULA
    return FormulaEstimate((factor + 0.5) * path.round_trip, f"SRT's table: {factor} round trips")
