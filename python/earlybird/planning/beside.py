"""Other traffic on the line of a film."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError

if TYPE_CHECKING:
    from earlybird.planning.path import NetworkPath

NONE: Final = "none"
UPLOAD: Final = "upload"
HOUSEHOLD: Final = "household"

LEAD: Final = 10.0
"""Seconds for which the other traffic is under way before the film begins: its queue has filled by then."""
LARGE_QUEUE: Final = 2.0  # round trips; a larger queue decides what a film needs beside other traffic
MOST_VIEWERS: Final = 200  # of one port
PACKET: Final = 1500  # bytes
DIGITS: Final = 9  # of a number, more than that of any viewers

CALL_RATE: Final = "1Mb/s"  # of a video call in a household (assumed)
CALL_PACKET: Final = 1000  # bytes


def checked(text: str) -> str:
    """Return the name of other traffic; raise InputError if there is none of that name."""
    if text in (NONE, UPLOAD, HOUSEHOLD):
        return text
    hint = (
        f" For further viewers of the same film: --viewers {int(text[:DIGITS]) + 1}."
        if text.isascii() and text.isdigit() and int(text[:DIGITS]) < MOST_VIEWERS
        else ""
    )
    raise InputError(f"beside = {text}: none, upload (one transfer), or household (a transfer and a call).{hint}")


def title(name: str) -> str:
    """Return the other traffic in words, behind `with`."""
    return {UPLOAD: "an upload on the line", HOUSEHOLD: "an upload and a call on the line"}.get(
        name, "nothing else on the line"
    )


def flows(name: str, film: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the flows beside that of a film: transfers of Linux's default, and calls over UDP."""
    ends = {key: film[key] for key in ("from", "to")}
    upload = {
        "name": "upload",
        **ends,
        "application": {"bulk": {}},
        "endpoint": {"profile": "linux", "transport": "cubic"},
    }
    call = {
        "name": "call",
        **ends,
        "transport": "udp",
        "application": {"cbr": {"rate": CALL_RATE, "packet": CALL_PACKET}},
    }
    return {UPLOAD: [upload], HOUSEHOLD: [upload, call]}.get(name, [])


def queue_seconds(path: NetworkPath) -> float:
    """Return the time for which the line's queue holds data; NaN if it has no fixed size."""
    text = path.queue
    if text.isdecimal():
        return 8 * PACKET * int(text) / path.rate
    for suffix, factor in (("kB", 1e3), ("KiB", 1024.0), ("MB", 1e6), ("MiB", 2.0**20), ("B", 1.0)):
        number = text.removesuffix(suffix)
        if number != text and number.isdecimal():
            return 8 * factor * int(number) / path.rate
    return math.nan


def is_fifo(path: NetworkPath) -> bool:
    """Return whether the line has a queue of a fixed size and a constant rate, so that a shaper can replace it."""
    return math.isfinite(queue_seconds(path)) and not path.trace


def queue_text(path: NetworkPath) -> str:
    """Write a queue: bytes by the thousand, and the time that they take."""
    size = path.queue.removesuffix("B")
    text = f"{int(size) / 1e3:.4g} kB" if size != path.queue and size.isdecimal() else path.queue
    seconds = queue_seconds(path)
    return f"{text} ({1e3 * seconds:.3g} ms)" if math.isfinite(seconds) else text


def usual(path: NetworkPath) -> str:
    """Return the traffic to look at where none is named: an upload if the queue is larger than two round trips."""
    return UPLOAD if queue_seconds(path) > LARGE_QUEUE * path.round_trip else NONE
