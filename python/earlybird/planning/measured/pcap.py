"""A capture of a TCP transfer: pcap or pcapng, taken at the sender, at the receiver, or between them."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earlybird import _core
from earlybird.errors import InputError, because
from earlybird.planning.measured import segments
from earlybird.planning.path import Measurements
from earlybird.planning.samples import LossSample
from earlybird.planning.stream import HEADERS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Seconds = NDArray[np.float64]
    Flags = NDArray[np.bool_]

WINDOW: Final = 1.0  # seconds in which a transfer shows how fast it can be
BUSY: Final = 0.9
"""Share of the seconds that are slower than what is taken for the rate: the fastest ones have what queues gave back."""
FEW_BYTES: Final = 100_000  # payload below which a transfer shows no rate: it is over within its first windows
PACKET: Final = 1460
"""Most bytes of payload in a packet over Ethernet; what was caught with more was yet to be cut, or was put together."""
IDLE: Final = 0.3
"""Share of the time in which a sender is idle from which on the rate is its own. One that fills the line hardly is:
even a lost tail is repaired within a few round trips."""
REST: Final = 5.0  # times the mean time between two segments from which on a sender rests
SHORT: Final = 0.1  # share of short segments that writes of any program make
LONG: Final = 0.9  # share of the round trips below the one that stands for a full queue: ACKs behind holes are longer
FULL_QUEUE: Final = 0.25
"""Share of the round trip that a loss's predecessor waited, from which on a queue may have been full …"""
MOST_QUEUE: Final = 0.5
"""… and share of the longest such wait: what is lost at half of the highest delay or more is lost to congestion (the
scheme "Spike" in Cen, Cosman and Voelker, "End-to-end differentiation of congestion and wireless losses", 2003; from
memory)."""


@dataclasses.dataclass(frozen=True, eq=False)
class Transfer:
    """The busiest connection of a capture, seen from its sender; sequence numbers do not wrap."""

    name: str
    time: Seconds
    begin: Integers
    end: Integers  # the byte after the last
    ts_value: Integers
    ts_echo: Integers
    ack_time: Seconds
    ack: Integers
    ack_ts_value: Integers
    handshake: float  # seconds from the opening segment to the third one; NaN if it was not caught


def read(path: str | Path) -> Measurements:
    """Read rate, round trips, losses and their bursts from the connection with the most payload."""
    transfer, facts = _transfer(path)
    round_trip = _round_trip(transfer)
    rate, idle = _rate(transfer), _idle_share(transfer, round_trip)
    losses = _losses(transfer, round_trip)
    facts.append(f"capture: {transfer.name}, {len(transfer.time)} segments with payload")
    if rate is None:
        facts.append("capture: too little was transferred to show the line's rate; give --rate")
    elif idle > IDLE:
        facts.append(
            f"capture: {rate / 1e6:.4g} Mb/s is what the sender had to send, not what the line has, as it was idle for "
            f"{100 * idle:.0f} % of the time; give --rate"
        )
        rate = None
    else:
        facts.append(f"capture: {rate / 1e6:.4g} Mb/s came in its fast seconds: the line has that much at least")
    if round_trip is None:
        facts.append("capture: no round trip can be told, as one direction is missing or has no timestamps; give --rtt")
    else:
        facts.append(f"capture: a round trip of {1e3 * round_trip:.4g} ms, the shortest one")
    facts.extend(losses.facts())
    facts.extend(_gaps(transfer))
    longest = _longest(transfer, round_trip)
    if longest is not None and round_trip is not None and longest > 2 * round_trip:
        facts.append(f"capture: round trips of up to {1e3 * longest:.4g} ms, with what waited in the queue")
    return Measurements(
        rate=rate,
        round_trip=round_trip,
        loss=losses.share,
        loss_sample=losses.sample,
        mean_burst=losses.burst,
        longest_transfer=longest,
        facts=tuple(facts),
    )


@dataclasses.dataclass(frozen=True)
class Losses:
    """Retransmissions: shares of the packets taken for losses of the line and for drops of a full queue."""

    share: float = 0.0
    burst: float = 1.0
    queued: float = 0.0
    packets: int = 0

    @property
    def sample(self) -> LossSample | None:
        """The packets that were sent, and lost on the line."""
        return LossSample(round(self.share * self.packets), self.packets, self.burst) if self.packets else None

    def facts(self) -> list[str]:
        """Return a sentence or two."""
        bursts = f", {self.burst:.3g} in a row on average" if self.burst > 1 else ""
        facts = [f"capture: {100 * self.share:.3g} % of the packets repeated{bursts}, and counted as lost on the line"]
        if self.queued:
            facts.append(
                f"capture: {100 * self.queued:.3g} % more were repeated when the round trip had grown, and are taken "
                "for drops of a full queue, not for losses of the line"
            )
        return facts


def _transfer(path: str | Path) -> tuple[Transfer, list[str]]:
    """Read the busiest connection, and the remarks about the file."""
    try:
        found = _core.tcp_segments(path)
    except OSError as error:
        why = because(error) if error.errno else "it is neither pcap nor pcapng; decompress it first if it is packed"
        raise InputError(f"{path} is no capture that can be read ({why}).") from error
    table = found["segments"]
    if not len(table["time_s"]):
        others = ", ".join(f"{count} are {kind}" for kind, count in found["others"].items()) or "it is empty"
        raise InputError(
            f"{path}: none of its {found['packets']} packets is a TCP segment that can be read ({others}). Capture a "
            "transfer over TCP."
        )
    facts = [f"capture: it breaks off ({found['breaks_off']}) and is read up to there"] if found["breaks_off"] else []
    table, caught_twice = segments.once(table)
    if caught_twice:
        facts.append(f"capture: {caught_twice} packets were caught twice, and count once")
    return _busiest(path, table, found["connections"]), facts


def _busiest(path: str | Path, table: dict[str, Any], connections: list[list[str]]) -> Transfer:
    """Pick the connection and direction with the most payload."""
    direction = 2 * table["connection"].astype(np.int64) + table["backwards"]
    carried = np.bincount(direction, weights=table["payload"], minlength=2 * len(connections))
    chosen = int(carried.argmax())
    if not carried[chosen]:
        raise InputError(f"{path}: its TCP segments carry no payload. Capture a transfer, from its beginning.")
    ends = connections[chosen // 2]
    sender, receiver = reversed(ends) if chosen % 2 else ends
    there, back = direction == chosen, direction == chosen ^ 1
    return _seen_from_sender(f"{sender} to {receiver}", table, there, back)


def _seen_from_sender(name: str, table: dict[str, Any], there: Flags, back: Flags) -> Transfer:
    start = int(table["seq"][there][0])
    data = there & (table["payload"] > 0)
    data[data] = ~segments.keep_alives(unwrapped(table["seq"][data], start), table["payload"][data])
    begin = unwrapped(table["seq"][data], start)
    acks = back & table["is_ack"]
    return Transfer(
        name=name,
        time=table["time_s"][data],
        begin=begin,
        end=begin + table["payload"][data],
        ts_value=table["ts_value"][data].astype(np.int64),
        ts_echo=table["ts_echo"][data].astype(np.int64),
        ack_time=table["time_s"][acks],
        ack=unwrapped(table["ack"][acks], start),
        ack_ts_value=table["ts_value"][acks].astype(np.int64),
        handshake=_handshake(table, there, back),
    )


def unwrapped(numbers: NDArray[np.uint32], start: int) -> Integers:
    """Count sequence numbers from `start`, past the end of 32 bits."""
    steps: Integers = np.diff(numbers.astype(np.int64), prepend=start).astype(np.int64)
    nearest = (steps + 2**31) % 2**32 - 2**31
    return np.cumsum(nearest)


def _handshake(table: dict[str, Any], there: Flags, back: Flags) -> float:
    """Return the time from the first SYN to the segment that answers the SYN of the other side."""
    syns = [np.flatnonzero(direction & table["is_syn"]) for direction in (there, back)]
    if not all(len(one) == 1 for one in syns):  # not caught, or repeated
        return math.nan
    first, second = sorted(int(one[0]) for one in syns)
    opener = there if there[first] else back
    third = np.flatnonzero(opener & ~table["is_syn"])
    third = third[third > second]
    return float(table["time_s"][third[0]] - table["time_s"][first]) if len(third) else math.nan


def _round_trip(transfer: Transfer) -> float | None:
    """Add the shortest ways to both ends and back, so that the capture may be taken anywhere."""
    far, near = _to_receiver(transfer), _to_sender(transfer)
    known = [value for value in (far + near, transfer.handshake) if math.isfinite(value)]
    return min(known) if known else None


def _to_receiver(transfer: Transfer) -> float:
    """Return the shortest time from a segment, sent but once, to the first ACK that covers it."""
    waits = _waits(transfer)
    return float(waits.min()) if len(waits) else math.nan


def _waits(transfer: Transfer) -> Seconds:
    """Return the times from segments, sent but once, to the first ACKs that cover them."""
    if not len(transfer.ack):
        return np.zeros(0)
    reached = np.maximum.accumulate(transfer.ack)
    fresh = transfer.end > np.maximum.accumulate(np.concatenate(([0], transfer.end[:-1])))
    places = np.searchsorted(reached, transfer.end[fresh])
    there = places < len(reached)
    waits = transfer.ack_time[places[there]] - transfer.time[fresh][there]
    return waits[waits > 0]


def _to_sender(transfer: Transfer) -> float:
    """Return the shortest time from an ACK to the first segment that echoes its timestamp."""
    values, first_acks = np.unique(transfer.ack_ts_value, return_index=True)
    echoes, first_echoes = np.unique(transfer.ts_echo, return_index=True)
    common, places, echo_places = np.intersect1d(values, echoes, return_indices=True)
    waits = transfer.time[first_echoes[echo_places]] - transfer.ack_time[first_acks[places]]
    good = (common > 0) & (waits > 0)
    return float(waits[good].min()) if good.any() else math.nan


def _rate(transfer: Transfer) -> float | None:
    """Return what one second in ten beats, sent and acknowledged: a queue takes more than the line for a while."""
    sizes = transfer.end - transfer.begin
    length = float(transfer.time[-1] - transfer.time[0])
    if sizes.sum() < FEW_BYTES or length <= 0:
        return None
    window = min(WINDOW, length)
    starts = np.sort(transfer.time)
    starts = starts[starts <= max(starts[-1] - window, starts[0])]  # one at least: a difference is rounded
    headers = 1 + HEADERS * float(_packets(sizes).sum() / sizes.sum())
    passed = _grown(transfer.time, np.cumsum(sizes), starts, window)
    if len(transfer.ack) and transfer.ack.max() - transfer.begin.min() > sizes.sum() / 2:  # both directions were caught
        passed = np.minimum(passed, _grown(transfer.ack_time, np.maximum.accumulate(transfer.ack), starts, window))
    return 8 * headers * float(np.quantile(passed, BUSY)) / window


def _grown(times: Seconds, total: Integers, starts: Seconds, window: float) -> Integers:
    """Return by how much a total grew in the windows that begin at `starts`."""
    counted = np.concatenate(([0], total))
    before, after = (counted[np.searchsorted(times, at, side="right")] for at in (starts, starts + window))
    return after - before


def _packets(sizes: Integers) -> Integers:
    """Return how many packets segments were on the line."""
    return -(-sizes // PACKET)


def _losses(transfer: Transfer, round_trip: float | None) -> Losses:
    """Find the segments that fill what should have come before, and what they were lost to."""
    packets = _packets(transfer.end - transfer.begin)
    repeated = segments.repeated(transfer.time, transfer.begin, transfer.end, round_trip)
    if not repeated.any():
        return Losses(packets=int(packets.sum()))
    holes = np.unique(np.column_stack((transfer.begin[repeated], transfer.end[repeated])), axis=0)
    run = np.concatenate(([0], np.cumsum(holes[1:, 0] > holes[:-1, 1])))
    firsts = holes[np.searchsorted(run, np.arange(run[-1] + 1)), 0]
    place = np.searchsorted(firsts, transfer.begin[repeated], side="right") - 1
    repaired = np.zeros(len(firsts))
    np.maximum.at(repaired, place, transfer.time[repeated])
    is_queued = _met_a_full_queue(transfer, firsts, repaired, round_trip)
    queued = is_queued[place]
    retransmitted, all_sent = packets[repeated], packets.sum()
    of_line = _packets(holes[:, 1] - holes[:, 0])[~is_queued[run]].sum()
    runs = (~is_queued).sum()
    return Losses(
        share=float(retransmitted[~queued].sum() / all_sent),
        burst=float(of_line / runs) if runs else 1.0,
        queued=float(retransmitted[queued].sum() / all_sent),
        packets=int(all_sent),
    )


def _met_a_full_queue(transfer: Transfer, firsts: Integers, repaired: Seconds, round_trip: float | None) -> Flags:
    """Return for each run of holes, by its first byte, whether the segment before it waited long."""
    shortest = _to_receiver(transfer)
    if round_trip is None or not math.isfinite(shortest):
        return np.zeros(len(firsts), dtype=np.bool_)
    ends, places = np.unique(transfer.end, return_index=True)
    before = np.minimum(np.searchsorted(ends, firsts), len(ends) - 1)
    reached = np.maximum.accumulate(transfer.ack)
    acks = np.minimum(np.searchsorted(reached, firsts), len(reached) - 1)
    waits = transfer.ack_time[acks] - transfer.time[places[before]] - shortest
    # An ACK that an earlier hole held back tells nothing of a queue; such a hole is of one kind with the one before it.
    held = np.concatenate(([False], np.maximum.accumulate(repaired)[:-1] > transfer.time[places[before]][1:]))
    waits = np.where((ends[before] == firsts) & (reached[acks] >= firsts) & ~held, waits, 0.0)
    is_long = waits > max(FULL_QUEUE * round_trip, MOST_QUEUE * float(waits.max()))
    known = np.maximum.accumulate(np.where(held, 0, np.arange(len(firsts))))
    return is_long[known]


def _idle_share(transfer: Transfer, round_trip: float | None) -> float:
    """
    Return the share of the time in which the sender had nothing to send, by the clearest of three signs.

    All that was sent is acknowledged; or it rests for much longer than from one segment to the next; or segments are
    short, because the data ended there.
    """
    length = float(transfer.time[-1] - transfer.time[0])
    if length <= 0:
        return 0.0
    gaps = np.diff(transfer.time)
    resting = float(gaps[gaps > REST * gaps.mean()].sum() / length)
    return max(_without_flight(transfer, round_trip) / length, resting, _short_share(transfer))


def _short_share(transfer: Transfer) -> float:
    """Return the share of the segments that are no multiple of the usual size, beyond what any transfer has."""
    sizes = transfer.end - transfer.begin
    values, counts = np.unique(sizes, return_counts=True)
    usual = values[counts.argmax()]
    return max(float((sizes % usual != 0).mean()) - SHORT, 0.0)


def _without_flight(transfer: Transfer, round_trip: float | None) -> float:
    """Return the seconds in which all that was sent had been acknowledged."""
    if not len(transfer.ack):
        return 0.0
    back = _to_sender(transfer)
    back = back if math.isfinite(back) else max((round_trip or 0.0) - _to_receiver(transfer), 0.0)
    highest = np.maximum.accumulate(transfer.end)
    is_new = transfer.begin[1:] >= highest[:-1]
    places = np.searchsorted(np.maximum.accumulate(transfer.ack), highest[:-1])
    known = is_new & (places < len(transfer.ack))
    # The ACK of all that was sent before is at the sender so much later than it was caught.
    waits = transfer.time[1:][known] - transfer.ack_time[places[known]] - back
    return float(waits[waits > 0].sum())


def _longest(transfer: Transfer, round_trip: float | None) -> float | None:
    """Return the round trip that few are longer than, with the time in the queue, where no loss held the ACK back."""
    if round_trip is None or not len(transfer.ack):
        return None
    waits = _waits(transfer)
    return round_trip + float(np.quantile(waits, LONG) - waits.min()) if len(waits) else None


def _gaps(transfer: Transfer) -> list[str]:
    """Return a remark on bytes that were acknowledged and are not in the capture."""
    if not len(transfer.ack):
        return []
    order = np.argsort(transfer.begin)
    begins, reached = transfer.begin[order], np.maximum.accumulate(transfer.end[order])
    holes = np.maximum(begins[1:] - reached[:-1], 0)
    acked = begins[1:] <= transfer.ack.max()
    missing = int(holes[acked].sum())
    if not missing:
        return []
    return [
        f"capture: {missing} bytes that the receiver acknowledged are missing in it: what caught it was too slow, and "
        "losses and rate are worse known for it"
    ]
