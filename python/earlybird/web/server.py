"""Serves the page."""

from __future__ import annotations

import errno
import ipaddress
import socket
import webbrowser
from contextlib import closing
from typing import TYPE_CHECKING, Final

import uvicorn

from earlybird.errors import InputError, because
from earlybird.web.app import application

if TYPE_CHECKING:
    from collections.abc import Callable

OWN_NAMES: Final = ("localhost", "127.0.0.1", "[::1]", "::1")
LEAVE: Final = 2  # seconds that open connections get to end with the server


def serve(host: str, port: int, *, opens: bool, report: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C; the address is reported, and opened in a browser if wanted."""
    with closing(listening(host, port)) as port_socket:
        address = f"http://{f'[{host}]' if ':' in host else host}:{port_socket.getsockname()[1]}/"
        report(address)
        if opens:
            webbrowser.open(address)
        config = uvicorn.Config(
            application(names(host)),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=LEAVE,
        )
        uvicorn.Server(config).run(sockets=[port_socket])


def names(host: str) -> list[str]:
    """Return the names by which browsers may call the server: a page of another name may be that of an attacker."""
    own = [host, f"[{host}]", *OWN_NAMES]
    return own if is_loopback(host) else [*own, socket.gethostname(), socket.getfqdn(), *_addresses()]


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _addresses() -> set[str]:
    """Return the addresses of this machine's name."""
    try:
        return {str(info[4][0]) for info in socket.getaddrinfo(socket.gethostname(), None)}
    except OSError:
        return set()


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise InputError if there cannot be one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            message = f"port = {port}: another program has it. Take another one, such as --port {port + 1}."
        else:
            message = f"host = {host}: cannot listen there ({because(error)})."
        raise InputError(message) from error
