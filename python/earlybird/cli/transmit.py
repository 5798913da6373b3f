"""`earlybird transmit`: a live stream over the endpoint."""

import json as json_module
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.output import complain, echo_status
from earlybird.lazy import LateModule
from earlybird.outputs import check_outputs
from earlybird.state_file import states_to

if TYPE_CHECKING:
    from rich import console as rich_console

    from earlybird import progress, transmission
    from earlybird.cli import live
    from earlybird.cli import prometheus as exporter
else:
    live = LateModule("earlybird.cli.live")
    exporter = LateModule("earlybird.cli.prometheus")
    progress = LateModule("earlybird.progress")
    transmission = LateModule("earlybird.transmission")
    rich_console = LateModule("rich.console")

NAME = "transmit"
HINT = "Ctrl-C lets it finish what is under way, a second one ends it at once."
NOT_TAKEN = 1  # exit code where the destination did not take all that it should have had before the end

EXAMPLES = examples(
    "earlybird transmit udp://:1234 'eb://viewer.example:4201?latency=200'",
    "earlybird transmit eb://:4201 udp://127.0.0.1:5000",
    "earlybird transmit file:clip.ts eb://:4201 & earlybird transmit eb://127.0.0.1:4201 http://:8080",
    "ffmpeg -i FILM -c copy -f mpegts - | earlybird transmit - 'eb://host:4201?transport=bbr-rack&latency=1s'",
)


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="udp://:PORT, rtp://:PORT, tcp://HOST:PORT, tcp://:PORT, file:PATH, - or eb://…",
            show_default=False,
        ),
    ],
    destination: Annotated[
        str,
        typer.Argument(metavar="DESTINATION", help="The same, or http://:PORT for players.", show_default=False),
    ],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON each second.")] = False,
    statistics: Annotated[
        Path | None, typer.Option(metavar="FILE.csv|jsonl", help="Write a line each second to this file.")
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option(
            metavar="[ADDRESS:]PORT", help="Answer Prometheus at this port, of this host alone if no address."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no state on the terminal.")] = False,
) -> None:
    """
    Carry a live stream, called like srt-live-transmit.

    One of the two addresses is another relay: eb://HOST:PORT calls it,
    eb://:PORT waits for it. Options stand behind a question mark: latency
    (milliseconds, default 120), transport (earlybird-rt, or any of `earlybird
    transports`), streamid, mode (caller, listener), conntimeo and peeridletimeo
    (milliseconds), via (udp, or tun with local and device, which takes root).
    Nothing is encrypted.
    """
    takers: list[Callable[[dict[str, Any]], None]] = []
    with ExitStack() as files:
        check_outputs(
            {"statistics": statistics},
            {"source": transmission.path_in(source), "destination": transmission.path_in(destination)},
        )
        if statistics:
            takers.append(_file(files, statistics))
        if json:
            takers.append(lambda report: print(json_module.dumps(report), flush=True))
        elif not quiet:
            takers.append(_shown(files, f"{source} → {destination}"))
        if prometheus:
            takers.append(files.enter_context(exporter.serving(prometheus)))
        last = transmission.transmit(source, destination, watch=_Watch(takers))
        for take in takers:
            take(last)
    if last["unitsLeft"]:
        left = f"{last['unitsLeft']:,} units ({last['bytesLeft'] / 1e6:.2f} MB)"
        complain(f"{destination}: {left} that were played were not taken in time, and are left out.")
        raise typer.Exit(NOT_TAKEN)


class _Watch:
    """Hands reports on, and lets SIGTERM and the first Ctrl-C drain what is under way."""

    def __init__(self, takers: list[Callable[[dict[str, Any]], None]]) -> None:
        self._takers = takers
        self._is_wanted = True
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._drain)

    def _drain(self, number: int, *_: object) -> None:
        self._is_wanted = False
        signal.signal(number, signal.default_int_handler)  # the second one ends it at once

    def __call__(self, report: dict[str, Any] | None) -> bool:
        for take in self._takers if report else ():
            take(report)  # type: ignore[arg-type]
        return self._is_wanted


def _shown(files: ExitStack, title: str) -> Callable[[dict[str, Any]], None]:
    """Show reports as a table on a terminal, elsewhere as a line now and then."""
    console = rich_console.Console(stderr=True)
    return (
        files.enter_context(live.Screen(title, console, HINT)).take
        if console.is_terminal
        else files.enter_context(_Lines())
    )


def _file(files: ExitStack, path: Path) -> Callable[[dict[str, Any]], None]:
    """Write reports to a file; the stream goes on when the disk is full."""
    file = files.enter_context(states_to(path))

    def write(report: dict[str, Any]) -> None:
        was_well = file.error is None
        file(report)
        if was_well and file.error:
            complain(f"{path}: {file.error}. The file ends there; the stream goes on.")

    return write


class _Lines:
    """Prints the state at the beginning, every ten seconds, and when the other relay comes, goes or refuses."""

    def __init__(self) -> None:
        self._next = 0.0
        self._reported: tuple[object, ...] = ()
        self._last: dict[str, Any] | None = None

    def __enter__(self) -> Callable[[dict[str, Any]], None]:
        return self._take

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._last:
            echo_status(f"It has ended: {live.relay_counts(self._last)}")

    def _take(self, report: dict[str, Any]) -> None:
        self._last = report
        who = (report["peers"], report["refusal"])
        if report["time_s"] >= self._next or who != self._reported:
            echo_status(live.relay_line(report))
            self._next, self._reported = report["time_s"] + progress.BETWEEN_LINES, who
