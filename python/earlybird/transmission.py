"""Live streams between relays, over the endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def transmit(
    source: str, destination: str, *, watch: Callable[[dict[str, Any] | None], bool | None] | None = None
) -> dict[str, Any]:
    """
    Carry a live stream from one address to another, in real time, until its source ends.

    One of the two is another relay: ``eb://host:port`` calls it, ``eb://:port`` waits for it. Options stand behind a
    question mark: ``latency`` (milliseconds, 120), ``transport`` (``earlybird-rt``), ``streamid``, ``mode``
    (``caller``, ``listener``), ``conntimeo``, ``peeridletimeo`` (milliseconds, 3000 and 5000). The longer latency of
    both sides counts. A file begins when the first relay is there.

    `watch` is called many times a second: with a report once a second, else with nothing. If it returns false, what is
    under way is still sent and played, and then the relay ends: after the latency and two seconds at most.

    Returns the last report. Names are SRT's where the meaning is the same: ``time_s``; ``peers``, connections that are
    ready; ``reconnects``; ``refusal``, why the last attempt to connect failed, if that is known; ``units`` and
    ``bytes`` that the source had or that came; ``bytesOut`` that were handed on, to each receiver anew; ``pktSndDrop``,
    units left out before they were sent; ``pktRetrans``, segments sent again; ``pktRcvDrop``, units that did not come
    whole in time; ``pktRcvBelated``, units that came after their time; ``refused``, units that the destination did not
    take; ``unitsLeft`` and ``bytesLeft`` that it had not taken two seconds after all was played, when the relay was
    asked to end; ``msRcvBuf``; ``msRTT``; ``pktCongestionWindow``; ``pktFlightSize``.
    """
    for address in (source, destination):
        check_address(address)

    def forward(report: dict[str, Any] | None) -> bool:
        return watch is None or watch(report) is not False

    try:
        return _core.transmit(source, destination, forward)
    except _core.ScenarioError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    except PermissionError as error:
        if path_in(error.filename) is not None:
            raise
        raise InputError(f"{error.filename}: this port is root's alone. Take one from 1024 on.") from error


def check_address(text: str) -> None:
    """Raise InputError if this is no address of a relay's end."""
    try:
        _core.check_address(text)
    except ValueError as error:
        raise InputError(str(error)) from error


def path_in(address: str) -> str | None:
    """Return the file that an address names, if it names one."""
    return address.removeprefix("file:").removeprefix("//") if address.startswith("file:") else None
