"""Measurements from the output of `ping`: of Linux (iputils, busybox), the BSDs and macOS, or Windows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.errors import InputError
from earlybird.planning.measured.text import text_of
from earlybird.planning.path import Measurements

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

REPLY: Final = re.compile(r"time\s*[=<]\s*([\d.,]+)\s*ms", re.IGNORECASE)
COUNTS: Final = re.compile(r"(\d+) packets transmitted,\s*(\d+)(?: packets)? received", re.IGNORECASE)
WINDOWS_COUNTS: Final = re.compile(r"Sent = (\d+), Received = (\d+)", re.IGNORECASE)
SUMMARY: Final = re.compile(r"(?:rtt|round-trip) min/avg/max\S* = ([\d.]+)/([\d.]+)/([\d.]+)")
"""Of Linux (iputils: rtt), busybox, the BSDs and macOS, which may stand alone (`ping -q`)."""
SEQUENCE: Final = re.compile(r"(?:icmp_)?seq=(\d+)", re.IGNORECASE)
TIMED_OUT: Final = re.compile(r"timed out|timeout|unreachable|no answer yet", re.IGNORECASE)
FEW: Final = 100  # replies below which a share of a per cent is a guess


def read(path: str | Path) -> Measurements:
    """Read the median (else mean) round trip, and losses, all counted to the film's way: the careful side."""
    lines = text_of(path, "what ping prints").splitlines()
    replies = [line for line in lines if REPLY.search(line) and "DUP!" not in line]
    times = np.array([float(REPLY.search(line)[1].replace(",", ".")) for line in replies])  # type: ignore[index]
    known = _round_trip(times, lines)
    sent, counted = _counts(lines, replies)
    if not sent:
        raise InputError(f"{path} is not what ping prints: no line has a time such as `time=12.3 ms`.")
    if known is None:
        raise InputError(
            f"{path}: none of {sent} pings came back, which tells nothing of the line. The way may block ICMP: measure "
            "with iperf3 or irtt, or give --rtt."
        )
    (middle, variation), came = known, len(times) or counted
    loss = max(sent - came, 0) / sent
    facts = (
        f"ping: a round trip of {middle:.4g} ms, {variation}",
        f"ping: {sent - came} of {sent} lost, {100 * loss:.3g} %{_doubt(sent)}",
    )
    return Measurements(round_trip=middle / 1e3, loss=loss, facts=facts)


def _round_trip(times: NDArray[np.float64], lines: list[str]) -> tuple[float, str] | None:
    """Return the round trip in milliseconds, and what to say of it; of the summary if no reply is listed."""
    if len(times):
        middle, most = (float(np.quantile(times, share)) for share in (0.5, 0.95))
        return middle, f"the median (shortest {times.min():.4g}, 95 % below {most:.4g})"
    for found in map(SUMMARY.search, lines):
        if found:
            shortest, mean, longest = map(float, found.groups())
            return mean, f"the mean, as no reply is listed (shortest {shortest:.4g}, longest {longest:.4g})"
    return None


def _doubt(sent: int) -> str:
    return "; so few tell little of losses" if sent < FEW else ""


def _counts(lines: list[str], replies: list[str]) -> tuple[int, int]:
    """Count what was sent and came: by the summary, or by sequence numbers and complaints where that is missing."""
    for line in lines:
        found = COUNTS.search(line) or WINDOWS_COUNTS.search(line)
        if found:
            return int(found[1]), int(found[2])
    numbers = [int(found[1]) for line in replies if (found := SEQUENCE.search(line))]
    if numbers:
        return max(max(numbers) - min(numbers) + 1, len(replies)), len(replies)
    return len(replies) + sum(1 for line in lines if TIMED_OUT.search(line)), len(replies)
