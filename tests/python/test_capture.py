"""Captures, as Wireshark reads them."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import REPOSITORY
from earlybird.errors import ScenarioWarning
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from pathlib import Path

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Write the packets of a run with losses, under the rules of ns-2."""
    return captured(tmp_path, profile="ns2")


def captured(folder: Path, profile: str) -> Path:
    """Write the packets of a run with losses."""
    file = folder / f"{profile}.pcapng"
    overrides = {"drops": [14, 28], "endpoint.profile": profile}
    warned = pytest.warns(ScenarioWarning, match="^--pcap: ") if profile == "ns2" else nullcontext()
    with warned:
        earlybird.run(
            REPOSITORY / "scenarios" / "fall-floyd-1996.toml", overrides=overrides, outputs=Outputs(pcap=file)
        )
    return file


def read(file: Path, *options: str) -> list[str]:
    """List what tshark says of a capture, line by line."""
    command = [str(TSHARK), "-r", str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def described(file: Path) -> str:
    """Return what Wireshark's own program tells of a capture."""
    return subprocess.run(["capinfos", str(file)], capture_output=True, text=True, check=True).stdout


@needs_tshark
def test_a_capture_has_nanoseconds_and_begins_with_the_opening_segment(capture: Path) -> None:
    assert "precision:  nanoseconds (9)" in described(capture)
    first = read(capture, "-c", "1", "-T", "fields", "-e", "frame.time_relative", "-e", "ip.version", "-e", "tcp.flags")
    assert [row.split("\t") for row in first] == [["0.000000000", "4", "0x0002"]]  # SYN alone


@needs_tshark
def test_lengths_that_were_not_simulated_are_named_in_the_capture_itself(tmp_path: Path) -> None:
    """Whoever is handed the file alone has not seen the warning of the run that wrote it."""
    reported = "Capture comment:     This capture has headers as real networks do"
    assert reported in described(captured(tmp_path, "ns2"))
    assert "comment" not in described(captured(tmp_path, "rfc"))


@needs_tshark
def test_wireshark_finds_no_malformed_packet(capture: Path) -> None:
    def count(display_filter: str) -> int:
        return len(read(capture, "-Y", display_filter))

    assert count("tcp") > 1000
    assert count("_ws.malformed || ip.checksum.status == Bad || tcp.analysis.ack_lost_segment") == 0
