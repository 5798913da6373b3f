"""`earlybird transmit`: a live stream over the endpoint."""

import json as json_module
import signal
from collections.abc import Callable
from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.output import complain, echo_status
from earlybird.lazy import LateModule
from earlybird.outputs import check_outputs
from earlybird.state_file import states_to

if TYPE_CHECKING:
    from earlybird import console, progress, transmission
    from earlybird.cli import live
    from earlybird.cli import prometheus as exporter
else:
    live = LateModule("earlybird.cli.live")
    exporter = LateModule("earlybird.cli.prometheus")
    progress = LateModule("earlybird.progress")
    transmission = LateModule("earlybird.transmission")
    console = LateModule("earlybird.console")

NAME = "transmit"
HINT = "Ctrl-C drains buffered data, then exits; a second one exits at once."
EXIT_INCOMPLETE = 1  # the destination did not read all units before the end


class LogLevel(StrEnum):
    """Levels of messages on the error stream; each includes those before."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    DEBUG = "debug"


EXAMPLES = examples(
    "earlybird transmit udp://:1234 'eb://viewer.example:4201?latency=200&passphrase=correct-horse'",
    "earlybird transmit 'eb://:4201?passphrase=correct-horse' udp://127.0.0.1:5000",
    "earlybird transmit 'srt://:9000?passphrase=from-obs-only' 'eb://viewer.example:4201?passphrase=correct-horse'",
    "earlybird transmit file:clip.ts 'eb://127.0.0.1:4201?mode=listener' & earlybird transmit eb://127.0.0.1:4201 http://:8080",
    "ffmpeg -i FILM -c copy -f mpegts - | earlybird transmit - 'eb://host:4201?transport=bbr-rack&latency=1s'",
)


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="udp://:PORT, rtp://:PORT, tcp://HOST:PORT, tcp://:PORT, srt://HOST:PORT, srt://:PORT, "
            "rtmp://:PORT/APP/KEY, file:PATH, - or eb://…",
            show_default=False,
        ),
    ],
    destination: Annotated[
        str,
        typer.Argument(
            metavar="DESTINATION", help="The same but rtmp://, or http://:PORT for players.", show_default=False
        ),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON each second.")] = False,
    statistics: Annotated[
        Path | None, typer.Option(metavar="FILE.csv|jsonl", help="Write a line each second to this file.")
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option(metavar="[ADDRESS:]PORT", help="Serve Prometheus metrics on this port, on localhost by default."),
    ] = None,
    log_level: Annotated[
        LogLevel,
        typer.Option(
            help="Messages on the error stream: errors; warnings (why no relay connects, other protocols at the"
            " port, senders by SRT or RTMP that come, go or are refused);"
            " info: also the state, a table on a terminal; debug: lines, also connections that come or go."
        ),
    ] = LogLevel.INFO,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="The same as --log-level error.")] = False,
) -> None:
    """
    Relay a live stream, with arguments like those of srt-live-transmit.

    One of the two addresses is another relay: eb://HOST:PORT calls it,
    eb://:PORT waits for it. Options follow `?`: latency
    (milliseconds, default 120), transport (earlybird-rt, or any of `earlybird
    transports`), streamid, mode (caller, listener), conntimeo and peeridletimeo
    (milliseconds), maxpeers (of a listener, default 64), via (udp, or tun with local and device, which takes root).
    passphrase (10 to 79 characters) or keyfile, the same on both sides, encrypts and authenticates everything. Other
    users of this machine see arguments, but neither keyfile's contents nor the variable EARLYBIRD_PASSPHRASE, which is
    used without them. A listener for other hosts needs a key, keys (a file with a key for each caller), or insecure=1.
    srt:// calls SRT's listener or, without a host, waits for callers such as OBS. Options: latency (milliseconds,
    default 120), passphrase, pbkeylen, streamid, mode (caller, listener), pkt_size, conntimeo, peeridletimeo. It
    needs libsrt 1.5 (Debian: libsrt1.5-openssl). rtmp://:1935/live/KEY waits for a publisher such as OBS, with the
    server rtmp://HOST:1935/live and the stream key KEY; it needs ffmpeg, which copies H.264 and AAC.
    """
    report_handlers: list[Callable[[dict[str, Any]], None]] = []
    with ExitStack() as files:
        check_outputs(
            {"statistics": statistics},
            {"source": transmission.path_in(source), "destination": transmission.path_in(destination)},
        )
        if statistics:
            report_handlers.append(_file(files, statistics))
        if json:
            report_handlers.append(lambda report: print(json_module.dumps(report), flush=True))
        elif (level := LogLevel.ERROR if quiet else log_level) is not LogLevel.ERROR:
            report_handlers.append(_shown(files, transmission.redacted(f"{source} → {destination}"), level))
        if prometheus:
            report_handlers.append(files.enter_context(exporter.serving(prometheus)))
        last = transmission.transmit(source, destination, watch=_Watch(report_handlers))
        for handle in report_handlers:
            handle(last)
    if last["unitsLeft"]:
        left = f"{last['unitsLeft']:,} units ({last['bytesLeft'] / 1e6:.2f} MB)"
        complain(f"{transmission.redacted(destination)}: {left} were played out but not read in time, and are dropped.")
        raise typer.Exit(EXIT_INCOMPLETE)


class _Watch:
    """Calls the report handlers; SIGTERM and the first Ctrl-C drain buffered data."""

    def __init__(self, report_handlers: list[Callable[[dict[str, Any]], None]]) -> None:
        self._report_handlers = report_handlers
        self._is_wanted = True
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._drain)

    def _drain(self, number: int, *_: object) -> None:
        self._is_wanted = False
        signal.signal(number, signal.default_int_handler)  # a second one ends the process at once

    def __call__(self, report: dict[str, Any] | None) -> bool:
        for handle in self._report_handlers if report else ():
            handle(report)  # type: ignore[arg-type]
        return self._is_wanted


def _shown(files: ExitStack, title: str, level: LogLevel) -> Callable[[dict[str, Any]], None]:
    """Return a handler that shows reports as a table on a terminal, otherwise as lines of a level."""
    terminal = console.Console(stderr=True)
    if terminal.is_terminal and level is LogLevel.INFO:
        return files.enter_context(live.Screen(title, terminal, HINT)).take
    events = _Events(level)
    if level is LogLevel.WARNING:
        return events
    lines = files.enter_context(_Lines())

    def take(report: dict[str, Any]) -> None:
        events(report)
        lines(report)

    return take


class _Events:
    """Prints a line for each event of a level."""

    def __init__(self, level: LogLevel) -> None:
        self._level = level
        self._foreign: set[str] = set()
        self._refusal: str | None = None
        self._notice: str | None = None
        self._addresses: dict[str, float] = {}

    def __call__(self, report: dict[str, Any]) -> None:
        # Once for each protocol: messages of a stranger must not fill the log.
        for message in (report["foreign"] or "").split(", "):
            name = message.partition(" from ")[0]
            if name and name not in self._foreign:
                echo_status(f"Received and dropped at the relay's port: {message}.")
            self._foreign.add(name)
        if report["notice"] not in (None, self._notice):
            echo_status(f"{report['time_s']:.0f} s: {report['notice']}.")
        self._notice = report["notice"]
        # Other levels have it in their lines.
        if self._level is LogLevel.WARNING and report["refusal"] not in (None, self._refusal):
            echo_status(f"Not connected: {report['refusal']}.")
        self._refusal = report["refusal"]
        if self._level is LogLevel.DEBUG:
            self._connections(report)

    def _connections(self, report: dict[str, Any]) -> None:
        now = {connection["address"]: connection["bytesOut"] for connection in report["connections"]}
        for address in now.keys() - self._addresses.keys():
            echo_status(f"{report['timepoint']} {address} is connected.")
        for address in self._addresses.keys() - now.keys():
            echo_status(f"{report['timepoint']} {address} is disconnected, after {self._addresses[address]:,} bytes.")
        self._addresses = now


def _file(files: ExitStack, path: Path) -> Callable[[dict[str, Any]], None]:
    """Return a handler that writes reports to a file; the stream continues if the disk is full."""
    file = files.enter_context(states_to(path))

    def write(report: dict[str, Any]) -> None:
        was_ok = file.error is None
        file(report)
        if was_ok and file.error:
            complain(f"{path}: {file.error}. The file ends there; the stream continues.")

    return write


class _Lines:
    """Prints a status line at the beginning, every ten seconds, and when the state of an end changes."""

    def __init__(self) -> None:
        self._next = 0.0
        self._peer_state: tuple[object, ...] = ()
        self._last: dict[str, Any] | None = None

    def __enter__(self) -> Callable[[dict[str, Any]], None]:
        return self._take

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._last:
            echo_status(f"It has ended: {live.relay_counts(self._last)}")

    def _take(self, report: dict[str, Any]) -> None:
        self._last = report
        peer_state = (report["peers"], report["refusal"])
        if report["time_s"] >= self._next or peer_state != self._peer_state:
            echo_status(live.relay_line(report))
            self._next, self._peer_state = report["time_s"] + progress.BETWEEN_LINES, peer_state
