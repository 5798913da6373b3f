"""
The far side: an HTTP server with the film, which reads its connections' windows from the kernel every 10 ms.

    python -m earlybird.testbed.server FILM SENDER SAMPLES [COMPETING]

SAMPLES is the number of an open file. With COMPETING, a second congestion control, whoever connects to the next port is
sent bytes without end.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, NamedTuple

FILM_PORT, TRANSFER_PORT = 8000, 8001
INTERVAL: Final = 0.01  # seconds between two samples (PERT-video paper, figure 11)
ZEROS: Final = bytes(1 << 16)

LAYOUT: Final = struct.Struct("=8x24I2Q2Q5I")  # the beginning of `struct tcp_info` (linux/tcp.h)


class Sample(NamedTuple):
    """A sample of `TCP_INFO`."""

    cwnd: int
    ssthresh: int
    rtt_us: int
    unacked: int
    retransmissions: int
    acked: int

    @classmethod
    def of(cls, connection: socket.socket) -> Sample:
        """Read the sample from the kernel."""
        fields = LAYOUT.unpack(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAYOUT.size))
        return cls(fields[18], fields[17], fields[15], fields[4], fields[23], fields[26])


COLUMNS: Final = ("time_s", "connection", *Sample._fields)
"""Contents of a line of the samples: the machine's monotonic clock, the connection's number, its sample."""


class Handler(BaseHTTPRequestHandler):
    """Handle requests for the film, in full or as a range (RFC 9110 §14)."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Send what is asked for."""
        size = self.server.film.stat().st_size
        first, last = _range(self.headers.get("Range", ""), size)
        if first >= size:
            self.send_error(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)
            return
        is_part = "Range" in self.headers
        self.send_response(HTTPStatus.PARTIAL_CONTENT if is_part else HTTPStatus.OK)
        self.send_header("Content-Type", "video/mp4")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(last - first + 1))
        if is_part:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.end_headers()
        with self.server.film.open("rb") as file, suppress(ConnectionError):
            self.connection.sendfile(file, first, last - first + 1)

    def log_message(self, *arguments: object) -> None:
        """Log nothing."""


class Server(ThreadingHTTPServer):
    """An HTTP server of one film, whose connections the sampler can read."""

    daemon_threads = True

    def __init__(self, film: Path, sender: str, address: str = "") -> None:
        """Listen with a congestion control, which connections inherit, at all addresses or one."""
        super().__init__((address, FILM_PORT), Handler, bind_and_activate=False)
        self.film = film
        self.connections: list[socket.socket] = []
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sender.encode())
        self.server_bind()
        self.server_activate()

    def get_request(self) -> tuple[socket.socket, object]:
        """Accept a connection."""
        connection, address = super().get_request()
        # The sampler's own handle: it stays valid when the handler closes its own.
        self.connections.append(connection.dup())
        return connection, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore players that disconnect."""


def _range(text: str, size: int) -> tuple[int, int]:
    """Read the one range that players ask for, such as ``bytes=500-``."""
    first, dash, last = text.removeprefix("bytes=").partition("-")
    if not dash:
        return 0, size - 1
    if not first:
        return max(0, size - int(last)), size - 1
    return int(first), min(int(last), size - 1) if last else size - 1


def sample(server: Server, file: int) -> None:
    """Write a line for each open connection every 10 ms, for ever."""
    due = time.monotonic()
    while True:
        for number, connection in enumerate(server.connections):
            found = Sample.of(connection)
            line = " ".join(map(str, (f"{time.monotonic():.4f}", number, *found)))
            os.write(file, f"{line}\n".encode())
        due = max(due + INTERVAL, time.monotonic())
        time.sleep(due - time.monotonic() if due > time.monotonic() else 0)


def transfer(sender: str) -> None:
    """Send bytes without end to each client."""
    listener = socket.create_server(("", TRANSFER_PORT))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sender.encode())
    while True:
        threading.Thread(target=_send_for_ever, args=(listener.accept()[0],), daemon=True).start()


def _send_for_ever(connection: socket.socket) -> None:
    with connection, suppress(ConnectionError):
        while True:
            connection.sendall(ZEROS)


def main() -> None:
    """Serve until the play is over, which ends this process."""
    film, sender, samples, *competing = sys.argv[1:]
    for name in competing:
        threading.Thread(target=transfer, args=(name,), daemon=True).start()
    server = Server(Path(film), sender)
    threading.Thread(target=sample, args=(server, int(samples)), daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
