"""The state of a relay or a proxy for Prometheus, over HTTP."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge

from earlybird.errors import InputError, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from socket import socket
    from socketserver import TCPServer

STALE = 3.0  # seconds after which a report, of which there is one each second, is too old to be served
HERE = "127.0.0.1"
PATIENCE = 5.0  # seconds that the server waits for the next bytes of a request
MOST_CONNECTIONS = 16  # at the same time; Prometheus needs one


class Metric(NamedTuple):
    """A number of a report."""

    name: str
    kind: type[Counter | Gauge]
    meaning: str
    key: str  # its key in the report
    scale: float = 1.0


class Exported(NamedTuple):
    """Metrics of a program, whose names begin with a prefix, and those of each connection."""

    prefix: str
    metrics: tuple[Metric, ...]
    per_connection: tuple[Metric, ...] = ()


METRICS = (
    Metric("connections", Gauge, "Relays that are connected now.", "peers"),
    Metric("reconnects_total", Counter, "Connections beyond the first.", "reconnects"),
    Metric("units_total", Counter, "Units of the source, or received from a relay.", "units"),
    Metric("bytes_total", Counter, "Bytes of these units.", "bytes"),
    Metric("out_bytes_total", Counter, "Bytes delivered, summed over receivers.", "bytesOut"),
    Metric(
        "unsent_units_total", Counter, "Units not sent or given up: too old, buffer full, or no peer.", "pktSndDrop"
    ),
    Metric("lost_units_total", Counter, "Units that did not arrive whole in time.", "pktRcvDrop"),
    Metric("late_units_total", Counter, "Units that arrived after their deadline.", "pktRcvBelated"),
    Metric("refused_units_total", Counter, "Units that the destination did not take.", "refused"),
    Metric("refused_connections_total", Counter, "Connections that the listener refused.", "refusedConnections"),
    Metric("retransmitted_segments_total", Counter, "Retransmitted segments.", "pktRetrans"),
    Metric("buffer_seconds", Gauge, "Media in the playout buffer.", "msRcvBuf", 1e-3),
    Metric("rtt_seconds", Gauge, "Smoothed RTT of the first connection.", "msRTT", 1e-3),
    Metric("window_segments", Gauge, "Congestion window of the first connection.", "pktCongestionWindow"),
    Metric("in_flight_segments", Gauge, "Its segments in flight.", "pktFlightSize"),
)


PROXY_METRICS = (
    Metric("connections", Gauge, "Connections of clients that are open now.", "open"),
    Metric("accepted_total", Counter, "Connections that were accepted.", "accepted"),
    Metric("refused_total", Counter, "Connections beyond --max-connections, which were reset.", "refused"),
    Metric("unreachable_total", Counter, "Connections reset because the server was not reached.", "unreachable"),
    Metric("broken_total", Counter, "Connections that either side reset, or that broke.", "broken"),
    Metric("idle_total", Counter, "Connections reset because they were idle.", "idle"),
    Metric("in_bytes_total", Counter, "Bytes from clients to the server.", "bytes_in"),
    Metric("out_bytes_total", Counter, "Bytes from the server to clients.", "bytes_out"),
    Metric("segments_total", Counter, "Segments to clients, retransmissions included.", "segments_sent"),
    Metric("retransmitted_segments_total", Counter, "Retransmitted segments.", "retransmissions"),
    Metric("early_retransmissions_total", Counter, "Early retransmissions.", "early_retransmissions"),
    Metric("fast_retransmits_total", Counter, "Recoveries begun by the third duplicate ACK.", "fast_retransmits"),
    Metric("timeouts_total", Counter, "Expiries of retransmission timers.", "timeouts"),
    Metric("rtt_seconds", Gauge, "Median smoothed RTT of the open connections.", "srtt_ms", 1e-3),
)
CONNECTION_METRICS = (
    Metric("connection_age_seconds", Gauge, "Time since the relays have agreed.", "age_s"),
    Metric("connection_out_bytes_total", Counter, "Bytes of units sent to a relay.", "bytesOut"),
    Metric("connection_unsent_units_total", Counter, "Units not sent to a relay, or given up.", "pktSndDrop"),
    Metric("connection_retransmitted_segments_total", Counter, "Retransmitted segments to a relay.", "pktRetrans"),
    Metric("connection_rtt_seconds", Gauge, "Smoothed RTT to a relay.", "msRTT", 1e-3),
    Metric("connection_window_segments", Gauge, "Congestion window to a relay.", "pktCongestionWindow"),
    Metric("connection_in_flight_segments", Gauge, "Segments in flight to a relay.", "pktFlightSize"),
)
TRANSMIT = Exported("earlybird_transmit", METRICS, CONNECTION_METRICS)
SERVE = Exported("earlybird_serve", PROXY_METRICS)


class LastReport:
    """The newest report as a collector of the client library: nothing if there is none, or if it is too old."""

    def __init__(self, exported: Exported = TRANSMIT) -> None:
        self.exported = exported
        self.report: dict[str, Any] = {}
        self.taken = 0.0

    def take(self, report: dict[str, Any]) -> None:
        """Replace the report."""
        self.report, self.taken = report, time.monotonic()

    def collect(self) -> Iterator[Counter | Gauge]:
        """Return the numbers of the report that are known."""
        if not self.report or time.monotonic() - self.taken >= STALE:
            return
        for metric in self.exported.metrics:
            if (value := self.report[metric.key]) is not None:
                yield metric.kind(f"{self.exported.prefix}_{metric.name}", metric.meaning, value=value * metric.scale)
        connections = self.report.get("connections", [])
        for metric in self.exported.per_connection if connections else ():
            family = metric.kind(f"{self.exported.prefix}_{metric.name}", metric.meaning, labels=["address", "caller"])
            for connection in connections:
                if (value := connection[metric.key]) is not None:
                    family.add_metric([connection["address"], connection["caller"] or ""], value * metric.scale)
            yield family


@contextmanager
def serving(address: str, exported: Exported = TRANSMIT) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Answer Prometheus at ``9100``, of this host alone, or ``0.0.0.0:9100``; yields what takes reports."""
    host, port = _place(address)
    registry, last = CollectorRegistry(), LastReport(exported)
    registry.register(last)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise InputError(f"--prometheus {address}: {because(error)}.") from error
    _tolerate_vanished_clients(server)
    _limit(server)
    try:
        yield last.take
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _limit(server: TCPServer) -> None:
    """Let the server refuse newcomers beyond `MOST_CONNECTIONS`, and end requests that stand still."""
    server.RequestHandlerClass.timeout = PATIENCE  # type: ignore[attr-defined]
    connections, shut = set[object](), server.shutdown_request

    def is_taken(request: socket | tuple[bytes, socket], client_address: object) -> bool:
        if is_free := len(connections) < MOST_CONNECTIONS:
            connections.add(request)
        return is_free

    def end(request: socket | tuple[bytes, socket]) -> None:
        connections.discard(request)
        shut(request)

    server.verify_request = is_taken  # type: ignore[method-assign]
    server.shutdown_request = end  # type: ignore[method-assign]


def _tolerate_vanished_clients(server: TCPServer) -> None:
    """Let the server print nothing about a client that has gone before its answer."""
    handle = server.handle_error

    def handle_others(request: socket | tuple[bytes, socket], client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):
            handle(request, client_address)

    server.handle_error = handle_others  # type: ignore[method-assign]


def _place(address: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{HERE}:{address}" if address.isdecimal() else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InputError(f"--prometheus {address}: give a port, such as 9100, or an address with one: 0.0.0.0:9100.")
    return host, port
