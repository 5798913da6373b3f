"""`earlybird transmit`: a live stream over the endpoint."""

import csv
import json as json_module
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.plain import say_aside
from earlybird.transmission import transmit

NAME = "transmit"
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no state on the terminal.")] = False,
) -> None:
    """
    Carry a live stream, called like srt-live-transmit.

    One of the two addresses is another relay: eb://HOST:PORT calls it, eb://:PORT waits for it, both over UDP. Options
    stand behind a question mark: latency (milliseconds, default 120), transport (earlybird-rt), streamid, mode (caller,
    listener), conntimeo and peeridletimeo (milliseconds). Nothing is encrypted.
    """
    takers: list[Callable[[dict[str, Any]], None]] = []
    with ExitStack() as files:
        if statistics:
            takers.append(_file(files, statistics))
        if json:
            takers.append(_line)
        elif not quiet:
            takers.append(_state)
        last = transmit(source, destination, watch=_Watch(takers))
        for take in takers:
            take(last)
    if not json and not quiet:
        say_aside("")


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


def _line(report: dict[str, Any]) -> None:
    print(json_module.dumps(report), flush=True)


def _file(files: ExitStack, path: Path) -> Callable[[dict[str, Any]], None]:
    file = files.enter_context(path.open("w", encoding="utf-8", newline=""))
    if path.suffix != ".csv":
        return lambda report: print(json_module.dumps(report), file=file, flush=True)
    writer = csv.writer(file)

    def write(report: dict[str, Any]) -> None:
        if file.tell() == 0:
            writer.writerow(report)
        writer.writerow(report.values())
        file.flush()

    return write


def _state(report: dict[str, Any]) -> None:
    """Show the state on one line of the terminal, which is written over."""
    if report["refusal"] and not report["peers"]:
        text = f"the other relay refuses: {report['refusal']}"
    elif not report["peers"]:
        text = "waiting for the other relay …"
    else:
        rtt = "" if report["msRTT"] is None else f"  rtt {report['msRTT']:.1f} ms"
        text = (
            f"{report['units']:,} units, {report['bytes'] / 1e6:.1f} MB{rtt}  buffer {report['msRcvBuf']:.0f} ms"
            f"  lost {report['pktRcvDrop']:,}  late {report['pktRcvBelated']:,}  left out {report['pktSndDrop']:,}"
            f"  repeated {report['pktRetrans']:,}"
        )
    line = f"{report['time_s']:6.0f} s  {text}"
    if sys.stderr.isatty():
        print(f"{line:<110}", end="\r", file=sys.stderr, flush=True)
    else:
        say_aside(line)
