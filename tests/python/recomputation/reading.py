"""Reading of the files that a run writes: the capture, the packet trace, the link trace and the tables."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BYTE_ORDER: Final = (0x1A2B3C4D).to_bytes(4, "little")
ENHANCED_PACKET: Final = 6
TCP: Final = 6
FIN, SYN = 1, 2


@dataclass(frozen=True)
class Frame:
    """A packet in the capture, which is that of the host that opens the connection."""

    time: float
    is_sent: bool
    connection: tuple[bytes, int]
    is_tcp: bool
    seq: int
    ack: int
    flags: int
    payload: int

    @property
    def has_data(self) -> bool:
        """Whether it fills sequence space."""
        return self.payload > 0 or bool(self.flags & (SYN | FIN))


@dataclass(frozen=True)
class Event:
    """A line of the packet trace."""

    time: float
    event: str
    seq: int | None
    timeouts: int | None


@dataclass(frozen=True)
class Arrival:
    """A line of the link trace: a packet that came (`enq`) or was dropped (`drp`)."""

    time: float
    event: str
    flow: str
    seq: int | None
    bytes: int


def capture(path: Path) -> list[Frame]:
    """Read a capture (pcapng, draft-ietf-opsawg-pcapng, with times in nanoseconds)."""
    return list(frames(path.read_bytes()))


def frames(data: bytes) -> Iterator[Frame]:
    """Yield the packets of a capture."""
    at = 0
    # The first block says how its numbers are written.
    order = "<" if data[8:12] == BYTE_ORDER else ">"
    while at < len(data):
        kind, length = struct.unpack_from(f"{order}II", data, at)
        if kind == ENHANCED_PACKET:
            high, low, captured = struct.unpack_from(f"{order}III", data, at + 12)
            yield frame((high << 32 | low) * 1e-9, data[at + 28 : at + 28 + captured])
        at += length


def frame(time: float, packet: bytes) -> Frame:
    """Read the headers of a packet: IPv4 (RFC 791), then TCP (RFC 9293) or UDP (RFC 768)."""
    header = 4 * (packet[0] & 15)
    (length,) = struct.unpack_from(">H", packet, 2)
    source, target = packet[12:16], packet[16:20]
    source_port, target_port = struct.unpack_from(">HH", packet, header)
    # Hosts that open connections have addresses from 10.0.0.0/8, the others from 11.0.0.0/8.
    is_sent = source[0] == 10
    connection = (source, source_port) if is_sent else (target, target_port)
    if packet[9] != TCP:
        return Frame(time, is_sent, connection, is_tcp=False, seq=0, ack=0, flags=0, payload=length - header - 8)
    seq, ack, offset, flags = struct.unpack_from(">IIBB", packet, header + 4)
    payload = length - header - 4 * (offset >> 4)
    return Frame(time, is_sent, connection, is_tcp=True, seq=seq, ack=ack, flags=flags, payload=payload)


def packet_trace(path: Path, only: str | None) -> dict[str, list[Event]]:
    """Read a packet trace by flow. `only`: the flow, where there is one and the file has no column for it."""
    events: dict[str, list[Event]] = defaultdict(list)
    columns = pl.read_csv(path, schema_overrides={"cwnd": pl.Float64, "ssthresh": pl.Float64, "timeouts": pl.Int64})
    names = columns["flow"] if "flow" in columns.columns else [only] * len(columns)
    rows = zip(names, columns["time"], columns["event"], columns["seq"], columns["timeouts"], strict=True)
    for flow, time, event, seq, timeouts in rows:
        events[flow].append(Event(float(time), event, seq, timeouts))
    return events


def link_trace(path: Path) -> list[Arrival]:
    """Read a link trace."""
    columns = pl.read_csv(path, schema_overrides={"time": pl.Float64, "seq": pl.Int64})
    return [Arrival(*row) for row in columns.iter_rows()]


def tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the tables of a run."""
    return {path.stem: pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
