"""Captures, as Wireshark reads them."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

TSHARK = shutil.which("tshark")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Write the packets of a run with losses."""
    file = tmp_path / "packets.pcap"
    scenario = REPOSITORY / "scenarios" / "fall-floyd-1996.toml"
    earlybird.run(scenario, overrides={"drops": [14, 28]}, pcap=file)
    return file


def test_a_capture_has_nanoseconds_and_begins_with_the_opening_segment(capture: Path) -> None:
    content = capture.read_bytes()
    assert content[:4] in (bytes.fromhex("a1b23c4d"), bytes.fromhex("4d3cb2a1"))
    first_packet = content[24 + 16 :]
    assert first_packet[0] == 0x45  # IPv4 without options
    assert first_packet[20 + 13] == 0x02  # SYN alone


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")
def test_wireshark_finds_no_malformed_packet(capture: Path) -> None:
    def count(display_filter: str) -> int:
        command = [str(TSHARK), "-r", str(capture), "-Y", display_filter]
        return len(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

    assert count("tcp") > 1000
    assert count("_ws.malformed || ip.checksum.status == Bad || tcp.analysis.ack_lost_segment") == 0
