"""The senders that a plan compares: what each is in a scenario, and what one does to send with it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.planning.stream import SEGMENTED
from earlybird.transports import transport as transport_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earlybird.planning.stream import Goal

SHORT_TIMER: Final = "50ms"
"""A floor of the timeout that the shortest delayed ACKs of Linux (40 ms, `TCP_DELACK_MIN`) stay below."""

BASELINE: Final = "cubic"  # Linux's default

DATAGRAMS: Final = ("udp", "tfrc", "srt", "quic-datagrams")  # transports of which what is late is lost


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A sender: its name here, its transport in scenarios, and its further keys of `endpoint`."""

    name: str
    transport: str
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    handshake: int = 0  # round trips of a handshake that is not simulated

    @property
    def has_deadline(self) -> bool:
        """Whether what is late is given up, so that the delay has to be chosen before."""
        return self.transport in DATAGRAMS or self.base in REAL_TIME

    @property
    def base(self) -> str:
        """The congestion control without ends: ``cubic``, ``bbr``."""
        return transport_named(self.transport).name


REAL_TIME: Final = ("mtcp", "tcp-rtm", "tltcp", "tcp-rc", "mtp", "limited-buffer", "hollywood", "earlybird-rt")
"""Transports of the real-time mode."""

SRT_HANDSHAKE: Final = 2  # round trips: induction and conclusion (draft-sharabayko-srt-01 §4.3.1)

SHORT_TIMERS: Final = "cubic+rto-min"

KNOWN: Final = {
    SHORT_TIMERS: Candidate(SHORT_TIMERS, "cubic", {"rto": {"floor": SHORT_TIMER}}),
}
"""Senders that are more than a transport."""

DEFAULTS: Final[Mapping[Goal, tuple[str, ...]]] = {
    "live": (SHORT_TIMERS, "bbr", "srt", "pert-rack", "earlybird-rt"),
    "vod": (SHORT_TIMERS, "bbr", "pert-rack"),
    "hls": (SHORT_TIMERS, "bbr", "pert-rack"),
    "call": ("bbr", "earlybird-rt", "srt"),
}
"""Senders that are compared with the baseline, from the easiest to switch on to the hardest; `bbr` is that of Linux."""


def candidate(name: str) -> Candidate:
    """Find a sender by its name: a transport, or ``cubic+rto-min``."""
    known = KNOWN.get(name)
    if known:
        return known
    transport_named(name)
    return Candidate(name, name)


def _with_handshake(sender: Candidate) -> Candidate:
    """Count the handshake of SRT, whose simulated endpoints are connected from the start, as TCP's is simulated."""
    return dataclasses.replace(sender, handshake=SRT_HANDSHAKE) if sender.base == "srt" else sender


def candidates(names: Sequence[str] | None, baseline: str, goal: Goal) -> tuple[Candidate, ...]:
    """Return today's sender and those to compare with it, each once, in the order in which they are preferred."""
    wanted = [baseline, *(DEFAULTS[goal] if names is None else names)]
    found = tuple(_with_handshake(candidate(name)) for name in dict.fromkeys(wanted))
    if goal in SEGMENTED:
        for key, sender in zip(("baseline", *["transport"] * len(found)), found, strict=False):
            _check_for_segments(key, sender, goal)
    return found


def _check_for_segments(key: str, sender: Candidate, goal: Goal) -> None:
    """Raise InputError if no web server could send with it."""
    if sender.has_deadline or sender.base.startswith("quic"):
        raise InputError(
            f"{key} = {sender.name}: with --goal {goal} a web server sends whole segments over TCP. Take cubic, bbr or "
            "pert-rack."
        )
