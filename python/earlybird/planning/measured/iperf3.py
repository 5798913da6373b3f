"""Measurements from the output of `iperf3 --json`, of any version; several tests, and `--json-stream` too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.planning.measured.text import documents_of, number, text_of
from earlybird.planning.path import Measurements
from earlybird.planning.samples import LossSample
from earlybird.planning.stream import HEADERS, SEGMENT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WHAT: Final = "what `iperf3 --json` prints"
TABLE: Final = re.compile(r"^\[ *ID\] +Interval", re.MULTILINE)  # the heading of the table that it prints otherwise
DATAGRAM_HEADERS: Final = 28  # bytes of IPv4 and UDP
OVERLOAD: Final = 0.1
"""Share of lost datagrams from which on they tell that more was sent than the line carries, and not how the line is."""
ALL: Final = 100.0  # per cent
REACHED: Final = 0.9  # share of the rate that was asked for from which on the test was limited by it
UDP_RATE: Final = 1_048_576  # bits per second of a stream over UDP unless `-b` says otherwise (iperf3(1))
REPEATED: Final = 0.01  # share of datagrams up to which more came than were sent, as some came twice
NEAR: Final = 0.01  # share by which a test over UDP misses its rate at most, as it sends by a timer
SHORTEST: Final = 1.0  # seconds of a test below which slow start and the socket's buffer are most of it


def read(path: str | Path) -> Measurements:
    """Read the rate, and what else the test knows: the round trips of TCP, the losses of UDP."""
    if TABLE.search(text_of(path, WHAT)):
        raise InputError(f"{path} is what iperf3 prints without --json. Repeat the measurement with --json.")
    tests = _tests(documents_of(path, WHAT))
    whole = [test for test in tests if isinstance(test.get("end"), dict) and test["end"] and not test.get("error")]
    if not whole:
        raise InputError(_failure(path, tests))
    found = _of_test(path, whole[-1])
    if len(tests) > 1:
        fact = f"iperf3: the file holds {len(tests)} tests, of which the last whole one is taken"
        return Measurements().updated_with(found).updated_with(Measurements(facts=(fact,)))
    return found


def _tests(documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tests; of `--json-stream` each has a document for each event, from `start` to `end`."""
    tests: list[dict[str, Any]] = []
    for document in documents:
        event, data = document.get("event"), document.get("data")
        if event is None:
            tests.append(document)
        elif event == "start" or not tests:
            tests.append({str(event): data})
        elif event != "interval":
            tests[-1][str(event)] = data
    return tests


def _failure(path: str | Path, tests: Sequence[dict[str, Any]]) -> str:
    errors = [test["error"] for test in tests if test.get("error")]
    if errors:
        return f"{path}: iperf3 failed: {errors[-1]}. Repeat the measurement."
    return f"{path} is not {WHAT}, or that of a test that was cut off: there is no `end`."


def _of_test(path: str | Path, test: dict[str, Any]) -> Measurements:
    end = test["end"]
    is_udp = number(end, "sum", "lost_percent") is not None or _is_udp(test)
    received = number(end, "sum_received", "bytes")
    if received == 0 or _sent(end) <= 0 or number(end, "sum", "lost_percent") == ALL:
        raise InputError(f"{path}: nothing arrived, so iperf3 transferred nothing. Repeat the measurement, for 10 s.")
    return _datagrams(path, test, end) if is_udp else _transfer(test, end)


def _is_udp(test: dict[str, Any]) -> bool:
    start = test.get("start")
    settings = start.get("test_start") if isinstance(start, dict) else None
    return isinstance(settings, dict) and settings.get("protocol") == "UDP"


def _sent(end: dict[str, Any]) -> float:
    keys = ("sum_received", "sum_sent", "sum")
    return next((value for key in keys if (value := number(end, key, "bits_per_second"))), 0.0)


def _asked(test: dict[str, Any], key: str) -> float:
    """Return the rate that all streams together were asked for; 0 if any, or if the version does not tell."""
    return (number(test, "start", "test_start", key) or 0.0) * _streams(test)


def _streams(test: dict[str, Any]) -> float:
    return number(test, "start", "test_start", "num_streams") or 1.0


def _transfer(test: dict[str, Any], end: dict[str, Any]) -> Measurements:
    received = number(end, "sum_received", "bits_per_second") or number(end, "sum_sent", "bits_per_second") or 0.0
    rate = received * (1 + HEADERS / SEGMENT)
    limit = _limit(test, end, received)
    if limit:
        facts = [f"iperf3: {rate / 1e6:.4g} Mb/s is no rate of the line, as {limit}; give --rate"]
    else:
        facts = [f"iperf3: {rate / 1e6:.4g} Mb/s, what TCP got with its headers: the line has that much at least"]
    back = number(end, "sum_received_bidir_reverse", "bits_per_second")
    if back:
        facts.append(f"iperf3: {back / 1e6:.4g} Mb/s went the other way meanwhile, and is not looked at")
    round_trip, longest = _round_trip(end, "min_rtt"), _round_trip(end, "max_rtt")
    if round_trip is not None:
        facts.append(
            f"iperf3: a round trip of {1e3 * round_trip:.4g} ms, the shortest one of its senders, with what the test "
            "itself put into the queue; ping knows better"
        )
    if round_trip and longest and longest > 2 * round_trip:
        facts.append(
            f"iperf3: round trips of up to {1e3 * longest:.4g} ms while it ran: the queue holds "
            f"{1e3 * (longest - round_trip):.4g} ms"
        )
    facts += _retransmissions(end)
    return Measurements(
        rate=None if limit else rate, round_trip=round_trip, longest_transfer=longest, facts=tuple(facts)
    )


def _limit(test: dict[str, Any], end: dict[str, Any], received: float) -> str:
    """Return what held the test back if it was not the line; nothing if it was."""
    for key, option in (("target_bitrate", "-b"), ("fqrate", "--fq-rate")):
        asked = _asked(test, key)
        if asked and received >= REACHED * asked:
            return f"{option} asked for {asked / 1e6:.4g} Mb/s"
    seconds = number(end, "sum_received", "seconds") or number(end, "sum_sent", "seconds")
    if seconds is not None and seconds < SHORTEST:
        return f"the test took {seconds:.2g} s, most of it slow start"
    return ""


def _retransmissions(end: dict[str, Any]) -> list[str]:
    repeated, sent = number(end, "sum_sent", "retransmits"), number(end, "sum_sent", "bytes")
    if not repeated or not sent:
        return []
    share = 100 * repeated * SEGMENT / sent
    return [
        f"iperf3: {repeated:.0f} retransmissions, {share:.2g} %, are not taken for losses of the line: a full "
        "queue makes them; give --loss if you know of others"
    ]


def _round_trip(end: dict[str, Any], key: str) -> float | None:
    """Return the extreme round trip in seconds that a sender saw; receivers and other systems than Linux have none."""
    streams = end.get("streams")
    known = [number(stream, "sender", key) for stream in streams] if isinstance(streams, list) else []
    values = [value / 1e6 for value in known if value]
    return (min(values) if key == "min_rtt" else max(values)) if values else None


def _datagrams(path: str | Path, test: dict[str, Any], end: dict[str, Any]) -> Measurements:
    total, size = number(end, "sum", "packets") or 0.0, number(end, "sum", "bytes") or 0.0
    lost_packets, percent = number(end, "sum", "lost_packets"), number(end, "sum", "lost_percent") or 0.0
    lost = lost_packets / total if lost_packets is not None and total else percent / 100
    if -REPEATED <= lost < 0 and percent <= 0:
        lost, percent = 0.0, 0.0
    came = number(end, "sum_received", "bits_per_second")
    sent = number(end, "sum", "bits_per_second") or number(end, "sum_sent", "bits_per_second") or 0.0
    if not (0 <= lost <= 1 and 0 <= percent <= 100):
        return _impossible(path, percent, came)
    headers = 1 + DATAGRAM_HEADERS * total / size if size else 1.0
    came = came or sent * (1 - lost)  # not in all versions
    rate = came * headers
    if lost >= OVERLOAD:
        facts = (
            f"iperf3: {rate / 1e6:.4g} Mb/s of datagrams came with their headers, of {sent * headers / 1e6:.4g} sent: "
            "what the line carries",
            f"iperf3: {100 * lost:.3g} % of {total:.0f} datagrams lost: more than the line carries, and not taken for "
            "its losses; repeat with a lower -b to learn these",
        )
        return Measurements(rate=rate, facts=facts)
    if _is_default(test, sent):
        first = (
            f"iperf3: {rate / 1e6:.4g} Mb/s is no rate of the line: over UDP iperf3 sends 1.05 Mb/s unless -b says "
            "otherwise; give --rate"
        )
    else:
        first = (
            f"iperf3: {rate / 1e6:.4g} Mb/s of datagrams came with their headers, nearly all that -b asked for: the "
            "line has that much at least; give --rate if you know it"
        )
    second = f"iperf3: {100 * lost:.3g} % of {total:.0f} datagrams lost; more than the line carries is lost too"
    sample = LossSample(round(lost * total), round(total)) if total else None
    known = None if _is_default(test, sent) else rate
    return Measurements(
        rate=known, may_be_faster=known is not None or None, loss=lost, loss_sample=sample, facts=(first, second)
    )


def _is_default(test: dict[str, Any], sent: float) -> bool:
    """Return whether the test sent at the rate that nobody asked for."""
    usual = UDP_RATE * _streams(test)
    return abs(sent - usual) < NEAR * usual


def _impossible(path: str | Path, percent: float, came: float | None) -> Measurements:
    """Use what came, if the version tells it: a share above 100 % is an error of iperf3 (with --omit)."""
    if not came:
        raise InputError(
            f"{path}: iperf3 states that {percent:.4g} % were lost, which cannot be (esnet/iperf issue 1489, with "
            "--omit), and not what came. Repeat the measurement without --omit."
        )
    facts = (
        f"iperf3: {came / 1e6:.4g} Mb/s of datagrams came: the line has that much at least",
        f"iperf3: {percent:.4g} % lost cannot be (esnet/iperf issue 1489, with --omit), and is not taken; give --loss",
    )
    return Measurements(rate=came, facts=facts)
