"""A relay's state for Prometheus: the text format 0.0.4, over HTTP."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from earlybird.errors import InputError, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

STALE = 3.0
"""Seconds after which a report, of which there is one each second, tells nothing of now."""
PATIENCE = 5.0
"""Seconds that somebody who asks may take."""
HERE = "127.0.0.1"


class Metric(NamedTuple):
    """What is told."""

    name: str
    kind: str
    meaning: str
    key: str
    """Its key in a relay's report."""
    scale: float = 1.0


METRICS = (
    Metric("connections", "gauge", "Relays that are connected now.", "peers"),
    Metric("reconnects_total", "counter", "Connections beyond the first.", "reconnects"),
    Metric("units_total", "counter", "Units that the source had, or that came from a relay.", "units"),
    Metric("bytes_total", "counter", "Bytes of these units.", "bytes"),
    Metric("out_bytes_total", "counter", "Bytes that were handed on, to each receiver anew.", "bytesOut"),
    Metric("left_out_units_total", "counter", "Units not sent: too old, no room, or nobody there.", "pktSndDrop"),
    Metric("lost_units_total", "counter", "Units that did not come whole in time.", "pktRcvDrop"),
    Metric("late_units_total", "counter", "Units that came after their time.", "pktRcvBelated"),
    Metric("refused_units_total", "counter", "Units that the destination did not take.", "refused"),
    Metric("repeated_segments_total", "counter", "Segments sent again.", "pktRetrans"),
    Metric("buffer_seconds", "gauge", "Media that wait for their time.", "msRcvBuf", 1e-3),
    Metric("round_trip_seconds", "gauge", "Smoothed round trip of the first connection.", "msRTT", 1e-3),
    Metric("window_segments", "gauge", "Congestion window of the first connection.", "pktCongestionWindow"),
    Metric("in_flight_segments", "gauge", "Segments of it on their way.", "pktFlightSize"),
)


def text(report: dict[str, Any]) -> str:
    """Write a report in the text format; what is not known is left out."""
    return "".join(_lines(metric, report[metric.key]) for metric in METRICS if report[metric.key] is not None)


def _lines(metric: Metric, value: float) -> str:
    name = f"earlybird_transmit_{metric.name}"
    return f"# HELP {name} {metric.meaning}\n# TYPE {name} {metric.kind}\n{name} {value * metric.scale:.12g}\n"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.report: dict[str, Any] = {}
        self.taken = 0.0
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's also asks the name service for a name that nobody reads

    def take(self, report: dict[str, Any]) -> None:
        self.report, self.taken = report, time.monotonic()

    def text(self) -> str:
        return text(self.report) if self.report and time.monotonic() - self.taken < STALE else ""


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server: _Server

    def do_GET(self) -> None:
        if self.path.partition("?")[0] not in ("/", "/metrics"):
            self.send_error(404)
            return
        body = self.server.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the terminal for the state."""


@contextmanager
def serving(address: str) -> Iterator[Callable[[dict[str, Any]], None]]:
    """
    Answer Prometheus as long as the context lasts.

    Parameters
    ----------
    address
        A port of this host alone (``9100``), or an address with a port (``0.0.0.0:9100``).

    Yields
    ------
    Callable
        What takes reports.

    Raises
    ------
    InputError
        If the address is none, or is in use.
    """
    host, port = _place(address)
    try:
        server = _Server(host, port)
    except OSError as error:
        raise InputError(f"--prometheus {address}: {because(error)}.") from error
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.take
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _place(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{HERE}:{address}" if address.isdecimal() else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InputError(f"--prometheus {address}: give a port, such as 9100, or an address with one: 0.0.0.0:9100.")
    return host, port
