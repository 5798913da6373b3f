"""`earlybird serve`: our TCP endpoint in front of a server."""

import json as json_module
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird import serving
from earlybird.cli.arguments import examples
from earlybird.cli.output import echo_status
from earlybird.lazy import LateModule
from earlybird.state_file import stamped

if TYPE_CHECKING:
    from earlybird import progress
    from earlybird.cli import prometheus as exporter
else:
    exporter = LateModule("earlybird.cli.prometheus")
    progress = LateModule("earlybird.progress")

NAME = "serve"
DRAIN_S = 30.0

EXAMPLES = examples(
    "sudo earlybird serve --listen 203.0.113.5:80 --to 127.0.0.1:8080",
    "sudo earlybird serve --listen :443 --to 127.0.0.1:8443 --transport cubic-rack --prometheus 9100",
    "sudo earlybird serve --listen 10.76.0.2:80 --to 127.0.0.1:8080 --json",
)


def command(
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS:PORT",
            help="Where clients connect: an address of this machine, an unused one that is routed to it, or :PORT.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="The server, such as 127.0.0.1:8080.", show_default=False)
    ],
    *,
    transport: Annotated[
        str, typer.Option(help="The sender: a byte stream of `earlybird transports`, with the profile linux.")
    ] = serving.TRANSPORT,
    max_connections: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="The most connections at once; more are reset.")
    ] = serving.MAX_CONNECTIONS,
    idle_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="Reset a connection without data for so long.")
    ] = serving.IDLE_TIMEOUT_S,
    drain_timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Time that SIGTERM leaves to open connections.")
    ] = DRAIN_S,
    device: Annotated[str, typer.Option(help="Name of the TUN device; a second `serve` needs another.")] = (
        serving.DEVICE
    ),
    inside: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Address behind the device, if --listen is this machine's (default: by port)."
        ),
    ] = None,
    prometheus: Annotated[
        str | None,
        typer.Option(metavar="[ADDRESS:]PORT", help="Serve Prometheus metrics on this port, on localhost by default."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a line of JSON each second.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no state.")] = False,
) -> None:
    """
    Send to ordinary TCP clients with our endpoint, in front of a server.

    Connections of unmodified clients end at this endpoint, behind a TUN device;
    their bytes are forwarded to the server and back, so that a server's data reach
    browsers and players by early retransmission and PERT. TLS passes through.

    Needs root (CAP_NET_ADMIN), nft and ip. All changes of this machine are undone
    at the end. SIGTERM accepts no more connections and waits for the open ones;
    Ctrl-C resets them.
    """
    handlers: list[Callable[[dict[str, Any]], None]] = []
    with ExitStack() as resources:
        if json:
            handlers.append(lambda report: print(json_module.dumps(stamped(report)), flush=True))
        elif not quiet:
            handlers.append(_Lines(f"{listen} → {to}, {transport}"))
        if prometheus:
            handlers.append(resources.enter_context(exporter.serving(prometheus, exporter.SERVE)))
        last = serving.serve(
            listen,
            to,
            transport=transport,
            device=device,
            inside=inside,
            max_connections=max_connections,
            idle_timeout_s=idle_timeout,
            watch=_Watch(handlers, drain_timeout),
        )
        for handle in handlers:
            handle(last)


class _Watch:
    """Calls the report handlers; SIGTERM drains for a limited time, SIGINT ends at once."""

    def __init__(self, handlers: list[Callable[[dict[str, Any]], None]], drain_s: float) -> None:
        self._handlers = handlers
        self._drain_s = drain_s
        self._drained_at: float | None = None
        self._is_ended = False
        signal.signal(signal.SIGTERM, self._drain)
        signal.signal(signal.SIGINT, self._end)

    def _drain(self, *_: object) -> None:
        self._is_ended = self._drained_at is not None  # a second SIGTERM
        self._drained_at = self._drained_at or time.monotonic() + self._drain_s

    def _end(self, *_: object) -> None:
        self._is_ended = True

    def __call__(self, report: dict[str, Any] | None) -> bool | None:
        for handle in self._handlers if report else ():
            handle(report)  # type: ignore[arg-type]
        if self._is_ended:
            return False
        if self._drained_at is None:
            return True
        return None if time.monotonic() < self._drained_at else False


class _Lines:
    """Prints a status line at the beginning, and then every ten seconds."""

    def __init__(self, title: str) -> None:
        self._title, self._next = title, 0.0

    def __call__(self, report: dict[str, Any]) -> None:
        if report["time_s"] >= self._next or report["is_draining"]:
            rtt = "" if report["srtt_ms"] is None else f", RTT {report['srtt_ms']:.0f} ms"
            echo_status(
                f"{report['time_s']:.0f} s: {self._title}: {report['open']:,} open, {report['accepted']:,} accepted,"
                f" {report['bytes_out'] / 1e6:,.1f} MB sent, {report['retransmissions']:,} retransmissions,"
                f" {report['early_retransmissions']:,} early, {report['timeouts']:,} timeouts{rtt}"
            )
            self._next = report["time_s"] + progress.BETWEEN_LINES
