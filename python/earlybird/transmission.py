"""Live streams between relays, over the endpoint."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from earlybird import _core
from earlybird.errors import InputError
from earlybird.state_file import stamped

if TYPE_CHECKING:
    from collections.abc import Callable


def transmit(
    source: str, destination: str, *, watch: Callable[[dict[str, Any] | None], bool | None] | None = None
) -> dict[str, Any]:
    """
    Carry a live stream from one address to another, in real time, until its source ends.

    One of the two is another relay: ``eb://host:port`` calls it, ``eb://:port`` waits for it. Options follow ``?``:
    ``latency`` (milliseconds, 120), ``transport`` (``earlybird-rt``), ``streamid``, ``mode`` (``caller``,
    ``listener``), ``passphrase`` or ``keyfile`` (the same on both sides; the environment variable
    ``EARLYBIRD_PASSPHRASE`` is used without them), ``keys`` (of a listener: a file with the keys of callers),
    ``insecure=1`` (a listener for other hosts without a key), ``conntimeo``, ``peeridletimeo`` (milliseconds, 3000 and
    5000), ``maxpeers`` (64). The larger latency of both sides applies. A file begins when the first relay is
    connected. If an address is invalid, or the combination is not supported, an `InputError` is raised.

    `watch` is called many times a second: with a report once a second, otherwise with `None`. If it returns false,
    buffered data are sent and played out, and then the relay ends: after the latency and two seconds at most.

    Returns the last report. Names are SRT's where the meaning is the same: ``timepoint``, the time of day (ISO 8601,
    UTC); ``time_s``; ``peers``, connections that are ready; ``reconnects``; ``refusal``, why the last attempt to
    connect failed, if that is known; ``foreign``, other protocols at the relay's port, each with its last sender;
    ``notice``, the last event of the end that is no relay, such as a sender that was refused; ``units`` and ``bytes``
    read from the source or received; ``bytesOut`` delivered, counted for each receiver; ``pktSndDrop``, units dropped
    before they were sent, or given up later; ``pktRetrans``, retransmitted segments; ``pktRcvDrop``, units that were
    incomplete at their playout time; ``pktRcvBelated``, units that arrived late; ``refused``, units that the
    destination did not read; ``pktRcvUndecrypt``, datagrams that were not made with the key; ``unitsLeft`` and
    ``bytesLeft``, not read two seconds after the last playout, when the relay was asked to end; ``msRcvBuf``;
    ``msRTT``; ``pktCongestionWindow``; ``pktFlightSize``; ``connections``, for each that is ready ``address``,
    ``caller`` (of ``keys=``), ``age_s`` and its own ``bytesOut``, ``pktSndDrop``, ``pktRetrans``, ``msRTT``,
    ``pktCongestionWindow`` and ``pktFlightSize``.
    """
    _check_protocols(source, destination)
    for address in (source, destination):
        check_address(address)

    def on_report(report: dict[str, Any] | None) -> bool:
        return watch is None or watch(report and stamped(report)) is not False

    try:
        return stamped(_core.transmit(source, destination, on_report))
    except _core.ScenarioError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error
    except PermissionError as error:
        if path_in(error.filename) is not None:
            raise
        raise InputError(f"{error.filename}: Ports below 1024 need root.") from error


THROUGH_FFMPEG: Final = ("rtmps", "rtsp", "rist")
"""Schemes of live streams that FFmpeg reads and writes, and `transmit` does not."""


def _check_protocols(source: str, destination: str) -> None:
    """Raise InputError with the commands to use if an address has a protocol for which FFmpeg is needed."""
    if _scheme(source) in THROUGH_FFMPEG:
        destination = redacted(destination)
        read = f"ffmpeg -i '{source}' -c copy -f mpegts 'udp://127.0.0.1:1234?pkt_size=1316'"
        raise InputError(
            f"`{source}`: transmit does not read {_scheme(source).upper()}; FFmpeg does: "
            f"{read} & earlybird transmit udp://:1234 '{destination}'"
        )
    if _scheme(destination) in (*THROUGH_FFMPEG, "rtmp"):
        source = redacted(source)
        muxer = "flv" if _scheme(destination).startswith("rtmp") else "mpegts"
        write = f"ffmpeg -i udp://127.0.0.1:1234 -c copy -f {muxer} '{destination}'"
        raise InputError(
            f"`{destination}`: transmit does not write {_scheme(destination).upper()}; FFmpeg does: "
            f"{write} & earlybird transmit '{source}' udp://127.0.0.1:1234"
        )


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower() if "://" in address else ""


def check_address(text: str) -> None:
    """Raise InputError if the text is no valid address for `transmit`."""
    try:
        _core.check_address(text)
    except ValueError as error:
        raise InputError(str(error)) from error


def redacted(address: str) -> str:
    """Return addresses without passphrases and stream keys, for messages."""
    return re.sub(r"(passphrase=|rtmp://[^/\s]*/[^/\s]*/)[^&\s]*", r"\1…", address)


def path_in(address: str) -> str | None:
    """Return the file that an address names, if it names one."""
    return address.removeprefix("file:").removeprefix("//") if address.startswith("file:") else None
