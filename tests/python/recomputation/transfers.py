"""Connections in the capture, joined with the packet trace of their flows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from .reading import FIN, SYN

if TYPE_CHECKING:
    from .reading import Event, Frame
    from .runs import Run
    from .scenario import Flow

ROUNDING: Final = 0.6e-6
"""Times in traces are rounded to the microsecond."""

SEQUENCE: Final = 1 << 32


@dataclass
class Sent:
    """A packet with data that the opener sent, by the trace and by the capture."""

    time: float
    number: int
    is_repeated: bool
    first: int
    last: int
    """The range of bytes of the stream; SYN and FIN have none."""
    covered: int
    """The acknowledgement number that covers it; 0 for the SYN."""


@dataclass
class Transfer:
    """A flow's packets, deliveries and acknowledgements."""

    flow: Flow
    sent: list[Sent] = field(default_factory=list)
    delivered: list[tuple[float, int]] = field(default_factory=list)
    """Time, and bytes in order since then; for datagrams bytes that arrived."""
    units_arrived: dict[int, float] = field(default_factory=dict)
    """Time of arrival of each datagram, by its number."""
    acknowledged: list[tuple[float, int]] = field(default_factory=list)
    """Time, and bytes that the acknowledgement covers; of those that cover more."""
    acknowledgements: list[Frame] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def in_order(self, at: float) -> int:
        """Return the bytes in order before a time."""
        return max((upto for time, upto in self.delivered if time < at), default=0)


def transfers(run: Run) -> dict[str, Transfer]:
    """Return every flow with one connection, as far as the capture can be joined with the trace."""
    connections: dict[tuple[bytes, int], list[Frame]] = defaultdict(list)
    for frame in run.frames:
        connections[frame.connection].append(frame)
    found = {}
    for flow in run.scenario.flows:
        if flow.is_web:
            continue
        events = run.events.get(flow.name, [])
        frames = of_flow(connections, flow, events)
        found[flow.name] = tcp(flow, events, frames) if flow.is_tcp else datagrams(flow, events, frames)
    return found


def of_flow(connections: dict[tuple[bytes, int], list[Frame]], flow: Flow, events: list[Event]) -> list[Frame]:
    """Take the connection whose packets were sent when the flow's were."""
    times = [event.time for event in events if event.event in ("snd", "rtx")]
    for key, frames in connections.items():
        sent = [frame.time for frame in frames if frame.is_sent and (frame.has_data or not frame.is_tcp)]
        if len(sent) == len(times) and all(abs(a - b) < ROUNDING for a, b in zip(sent, times, strict=True)):
            return connections.pop(key)
    raise AssertionError(f"no connection of the capture has the packets of {flow.name}")


def tcp(flow: Flow, events: list[Event], frames: list[Frame]) -> Transfer:
    """Return a TCP flow."""
    transfer = Transfer(flow, events=events)
    isn = next((frame.seq for frame in frames if frame.is_sent and frame.flags & SYN), 0)
    lines = (event for event in events if event.event in ("snd", "rtx"))
    for event, frame in zip(lines, (one for one in frames if one.is_sent and one.has_data), strict=True):
        assert event.seq is not None
        first = (frame.seq - isn - 1) % SEQUENCE if not frame.flags & SYN else 0
        last = first + frame.payload
        covered = last + bool(frame.flags & FIN)
        transfer.sent.append(Sent(frame.time, event.seq, event.event == "rtx", first, last, covered))
    deliver(transfer)
    highest = 0
    for frame in frames:
        if not frame.is_sent:
            transfer.acknowledgements.append(frame)
            upto = (frame.ack - isn - 1) % SEQUENCE
            if not frame.flags & SYN and highest < upto < SEQUENCE // 2:
                highest = upto
                transfer.acknowledged.append((frame.time, upto))
    return transfer


def deliver(transfer: Transfer) -> None:
    """Put the packets that arrived in order, as a receiver that holds what is behind a hole."""
    ranges: dict[int, tuple[int, int]] = {}
    held: dict[int, int] = {}
    upto = 0
    sent = iter(transfer.sent)
    later = next(sent, None)
    for event in transfer.events:
        while later and later.time < event.time + ROUNDING:
            ranges[later.number] = (later.first, later.last)
            later = next(sent, None)
        if event.event != "dlv" or event.seq is None:
            continue
        first, last = ranges[event.seq]
        held[first] = max(last, held.get(first, 0))
        before = upto
        while ready := [first for first, last in held.items() if first <= upto]:
            for one in ready:
                upto = max(upto, held.pop(one))
        if upto > before:
            transfer.delivered.append((event.time, upto))


def datagrams(flow: Flow, events: list[Event], frames: list[Frame]) -> Transfer:
    """Return a flow of datagrams; each is a unit."""
    transfer = Transfer(flow, events=events)
    lines = [event for event in events if event.event in ("snd", "rtx")]
    for event, frame in zip(lines, (one for one in frames if one.is_sent), strict=True):
        assert event.seq is not None
        transfer.sent.append(Sent(frame.time, event.seq, event.event == "rtx", 0, frame.payload, 0))
    sizes = {one.number: one.last for one in transfer.sent}
    total = 0
    for event in events:
        if event.event == "dlv" and event.seq is not None:
            total += sizes[event.seq]
            transfer.delivered.append((event.time, total))
            transfer.units_arrived.setdefault(event.seq, event.time)
    return transfer
