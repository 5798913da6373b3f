"""Readers of what people measured with other programs."""

from collections.abc import Mapping
from typing import Final

KINDS: Final[Mapping[str, str]] = {
    "pcap": "Rate, round trip, losses and their bursts from a capture of a TCP transfer.",
    "iperf3": "Rate and round trip from `iperf3 --json`.",
    "mahimahi": "Rate over time from a trace in mahimahi's format.",
    "irtt": "Round trip, losses and their bursts from `irtt client -o FILE`.",
    "ping": "Round trip and losses from what `ping` printed.",
}
"""
The quantities that are read from each kind of file.

They are in rising order of what they know about round trips: the later ones count.
"""
