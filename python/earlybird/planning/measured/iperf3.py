"""Measurements from the output of `iperf3 --json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.planning.measured.text import json_of, number
from earlybird.planning.path import Measurements
from earlybird.planning.stream import HEADERS, SEGMENT

if TYPE_CHECKING:
    from pathlib import Path

WHAT: Final = "what `iperf3 --json` prints"
DATAGRAM_HEADERS: Final = 28  # bytes of IPv4 and UDP
OVERLOAD: Final = 0.1
"""Share of lost datagrams from which on they tell that more was sent than the line carries, and not how the line is."""


def read(path: str | Path) -> Measurements:
    """Read the rate, and what else the test knows: the round trip of TCP, the losses of UDP."""
    document = json_of(path, WHAT)
    if document.get("error"):
        raise InputError(f"{path}: iperf3 failed: {document['error']}. Repeat the measurement.")
    end = document.get("end")
    if not isinstance(end, dict) or not end:
        raise InputError(f"{path} is not {WHAT}, or that of a test that was cut off: there is no `end`.")
    is_udp = number(end, "sum", "lost_percent") is not None
    findings = _datagrams(end) if is_udp else _transfer(end)
    if not findings.rate:
        raise InputError(f"{path}: iperf3 transferred nothing. Repeat the measurement.")
    return findings


def _transfer(end: dict[str, Any]) -> Measurements:
    received = number(end, "sum_received", "bits_per_second") or number(end, "sum_sent", "bits_per_second") or 0.0
    rate = received * (1 + HEADERS / SEGMENT)
    facts = [f"iperf3: {rate / 1e6:.4g} Mb/s, what TCP got with its headers: the line has that much at least"]
    back = number(end, "sum_received_bidir_reverse", "bits_per_second")
    if back:
        facts.append(f"iperf3: {back / 1e6:.4g} Mb/s went the other way meanwhile, and is not looked at")
    round_trip = _round_trip(end)
    if round_trip is not None:
        facts.append(
            f"iperf3: a round trip of {1e3 * round_trip:.4g} ms, the shortest one of its senders, with what the test "
            "itself put into the queue; ping knows better"
        )
    repeated, sent = number(end, "sum_sent", "retransmits"), number(end, "sum_sent", "bytes")
    if repeated and sent:
        share = 100 * repeated * SEGMENT / sent
        facts.append(
            f"iperf3: {repeated:.0f} retransmissions, {share:.2g} %, are not taken for losses of the line: a full "
            "queue makes them; give --loss if you know of others"
        )
    return Measurements(rate=rate, round_trip=round_trip, facts=tuple(facts))


def _round_trip(end: dict[str, Any]) -> float | None:
    """Return the shortest round trip in seconds that a sender saw; receivers and other systems than Linux have none."""
    streams = end.get("streams")
    known = [number(stream, "sender", "min_rtt") for stream in streams] if isinstance(streams, list) else []
    return min((value / 1e6 for value in known if value), default=None)


def _datagrams(end: dict[str, Any]) -> Measurements:
    lost = (number(end, "sum", "lost_percent") or 0.0) / 100
    total, size = number(end, "sum", "packets") or 0.0, number(end, "sum", "bytes") or 0.0
    headers = 1 + DATAGRAM_HEADERS * total / size if size else 1.0
    sent = number(end, "sum", "bits_per_second") or 0.0
    came = number(end, "sum_received", "bits_per_second") or sent * (1 - lost)  # not in all versions
    rate = came * headers
    if lost < OVERLOAD:
        facts = (
            f"iperf3: {rate / 1e6:.4g} Mb/s of datagrams came with their headers: the line has that much at least",
            f"iperf3: {100 * lost:.3g} % of {total:.0f} datagrams lost; more than the line carries is lost too",
        )
        return Measurements(rate=rate, loss=lost, facts=facts)
    facts = (
        f"iperf3: {rate / 1e6:.4g} Mb/s of datagrams came with their headers, of {sent * headers / 1e6:.4g} sent: what "
        "the line carries",
        f"iperf3: {100 * lost:.3g} % of {total:.0f} datagrams lost: more than the line carries, and not taken for its "
        "losses; repeat with a lower -b to learn these",
    )
    return Measurements(rate=rate, facts=facts)
