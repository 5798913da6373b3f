"""Reads files of any kind, which can be recognised by their content."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird import _core
from earlybird.errors import InputError, ScenarioError
from earlybird.planning.measured import KINDS, iperf3, ping
from earlybird.planning.measured.text import text_of, without_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from earlybird.planning.path import Measurements

CAPTURES: Final = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)
"""First bytes of a capture: pcap in both byte orders, with microseconds or nanoseconds (pcap-savefile(5)); pcapng."""

JSON: Final = re.compile(r"^\[?\s*\{", re.MULTILINE)
WHAT: Final = "a capture (pcap or pcapng), or what ping, iperf3, irtt or mahimahi writes"


def read(files: Iterable[tuple[str, Path]]) -> list[Measurements]:
    """Read files with their kinds, in the order in which they count."""
    order = [*KINDS]
    return [
        import_module(f"earlybird.planning.measured.{kind}").read(path)
        for kind, path in sorted(files, key=lambda file: order.index(file[0]))
    ]


def kind_of(path: str | Path) -> str:
    """Recognise a file by its content; raise InputError if it is neither text nor a capture."""
    if _begin(Path(path)) in CAPTURES:
        return "pcap"
    text = text_of(path, WHAT)
    if '"round_trips"' in text:
        return "irtt"
    if JSON.search(without_times(text)) or iperf3.TABLE.search(text):
        return "iperf3"
    return "mahimahi" if _is_trace(text) and not _is_ping(path) else "ping"


def _begin(path: Path) -> bytes:
    """Return the first bytes; none if the file cannot be read, of which `text_of` tells."""
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError:
        return b""


def _is_trace(text: str) -> bool:
    try:
        _core.trace_times(text, "")
    except ScenarioError:
        return text.split(maxsplit=1)[0].isdecimal()  # as a damaged one begins, which its reader refuses
    return True


def _is_ping(path: str | Path) -> bool:
    """Return whether pings are found: names of hosts and times may look like a trace's heading and rows."""
    try:
        ping.read(path)
    except InputError:
        return False
    return True
