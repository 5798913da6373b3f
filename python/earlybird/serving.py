"""Our endpoint in front of a server of the kernel's TCP: addresses, and the rules that lead packets to the endpoint."""

from __future__ import annotations

import shutil
import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from earlybird import _core
from earlybird.errors import EarlybirdError, InputError, because
from earlybird.internet import applied

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE: Final = "eb-serve"
TRANSPORT: Final = "pert-er"
MAX_CONNECTIONS: Final = 4096
IDLE_TIMEOUT_S: Final = 600.0
"""As nginx's `proxy_timeout` of byte streams."""
NET_ADMIN: Final = 12  # the bit of CAP_NET_ADMIN (`linux/capability.h`)
IPV6_FORWARDING: Final = Path("/proc/sys/net/ipv6/conf/all/forwarding")

Address: TypeAlias = IPv4Address | IPv6Address

RULES: Final = {
    # The device is ours until this process ends, so that a table with its name is the remainder of a killed process.
    "claim": "nft delete table inet {table} 2> /dev/null || :\nnft create table inet {table}",
    # -100 is `dstnat`, a name that nft does not allow for the output hook. Chains of others that end with a refusal,
    # such as Docker's, are passed by what is inserted in front of them.
    "do": """
nft add chain inet {table} arriving '{{ type nat hook prerouting priority -100; }}'
nft add chain inet {table} local '{{ type nat hook output priority -100; }}'
if {redirects}; then
    nft add rule inet {table} arriving {match} tcp dport {port} dnat {family} to {inside}
    nft add rule inet {table} local {match} tcp dport {port} dnat {family} to {inside}
fi
if {tables} -w -S FORWARD 2> /dev/null | grep -qvx -e '-P FORWARD ACCEPT'; then
    {tables} -w -I FORWARD -i {device} -j ACCEPT
    {tables} -w -I FORWARD -o {device} -j ACCEPT
fi
""",
    "undo": "nft delete table inet {table};"
    " {tables} -w -D FORWARD -i {device} -j ACCEPT 2> /dev/null;"
    " {tables} -w -D FORWARD -o {device} -j ACCEPT 2> /dev/null",
}


class Endpoint(NamedTuple):
    """An address and a port."""

    address: Address
    port: int

    def __str__(self) -> str:
        """Return it as in a URL."""
        return f"[{self.address}]:{self.port}" if self.address.version == 6 else f"{self.address}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether this machine has the address, or it stands for all of this machine's."""
        with socket.socket(socket.AF_INET if self.address.version == 4 else socket.AF_INET6) as probe:
            try:
                probe.bind((str(self.address), 0))
            except OSError:
                return False
        return True


def listened(text: str) -> Endpoint:
    """Read `--listen`: ``ADDRESS:PORT``, or ``:PORT`` for all addresses of IPv4."""
    host, port = _parts("--listen", text)
    try:
        endpoint = Endpoint(ip_address(host or "0.0.0.0"), port)
    except ValueError as error:
        hint = "an IP address, as clients reach it, such as 203.0.113.5:80, or :80 for all addresses of IPv4"
        raise InputError(f"--listen {text}: `{host}` is no IP address; allowed: {hint}.") from error
    if endpoint.address.is_loopback:
        raise InputError(
            f"--listen {text}: packets to a loopback address do not leave the kernel. Give an address that clients"
            " reach, or one that no machine has, such as 10.76.0.2, for clients of this machine."
        )
    return endpoint


def connected(text: str) -> Endpoint:
    """Read `--to`: ``HOST:PORT``; a name is resolved once."""
    host, port = _parts("--to", text)
    try:
        family, *_, place = socket.getaddrinfo(host or "127.0.0.1", port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(f"--to {text}: {because(error)}.") from error
    assert family in {socket.AF_INET, socket.AF_INET6}
    return Endpoint(ip_address(place[0]), port)


def _parts(option: str, text: str) -> tuple[str, int]:
    host: str | None = None
    port: int | None = None
    with suppress(ValueError):
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname or "", parts.port
    if host is None or not port or "/" in text or "@" in text:
        raise InputError(f"{option} {text}: give an address and a port, such as {EXAMPLE[option]}.")
    return host, port


EXAMPLE: Final = {"--listen": "203.0.113.5:80 or [2001:db8::5]:80", "--to": "127.0.0.1:8080"}


def serve(
    listen: str,
    to: str,
    *,
    transport: str = TRANSPORT,
    device: str = DEVICE,
    inside: str | None = None,
    max_connections: int = MAX_CONNECTIONS,
    idle_timeout_s: float = IDLE_TIMEOUT_S,
    watch: Callable[[dict[str, Any] | None], bool | None],
) -> dict[str, Any]:
    """
    Accept TCP connections with our endpoint, and forward the bytes in both directions to a server.

    An address that this machine has is redirected to the endpoint (destination NAT), any other is routed to it. Both
    are undone at the end. It takes root (CAP_NET_ADMIN). `watch` is called many times a second, with a report once a
    second; the first means that clients are accepted. It returns true to continue, None to let the open connections
    end, and false to reset them.
    """
    place, server = listened(listen), connected(to)
    _core.check_serve_transport(transport)
    redirects = place.is_local
    address = _inside(place, inside) if redirects else place.address
    _check(place, server, device, redirects=redirects)
    rules = {name: text.format(**_words(place, address, device)) for name, text in RULES.items()}
    with applied(rules, lambda line: EarlybirdError(f"packets are not led to the endpoint: {line or 'nft failed'}.")):
        return _run(
            address,
            place.port,
            tuple(server),
            device=device,
            transport=transport,
            max_connections=max_connections,
            idle_timeout_s=idle_timeout_s,
            watch=watch,
        )


def _run(*arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: ANN401, those of `_core.serve`
    try:
        return _core.serve(*arguments, **options)
    except _core.ScenarioError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _check(place: Endpoint, server: Endpoint, device: str, *, redirects: bool) -> None:
    """Raise an error for what cannot work, before this machine is changed."""
    if redirects and place.port == server.port and server.is_local and not server.address.is_loopback:
        raise InputError(f"--to {server}: it is redirected to this proxy itself; give the server a loopback address.")
    if not device.replace("-", "").isalnum() or not device.isascii() or len(device) > 15:  # IFNAMSIZ
        raise InputError(f"--device {device}: allowed are 1 to 15 letters, digits and hyphens.")
    if not _has_net_admin():
        raise EarlybirdError(
            "serve needs root (CAP_NET_ADMIN), as it creates a TUN device and leads packets to it: run it with sudo, or"
            " with AmbientCapabilities=CAP_NET_ADMIN of systemd."
        )
    for tool, package in (("nft", "nftables"), ("ip", "iproute2")):
        if not shutil.which(tool):
            raise EarlybirdError(f"serve needs `{tool}`: install it, such as by `apt-get install {package}`.")
    if device in (name for _, name in socket.if_nameindex()):
        raise InputError(f"--device {device}: this machine has a device of this name. Does another `serve` use it?")
    if place.address.version == 6 and IPV6_FORWARDING.read_text(encoding="ascii").strip() != "1":
        raise InputError(
            f"--listen {place}: this machine does not forward IPv6. `sysctl -w net.ipv6.conf.all.forwarding=1` changes"
            " that; it also ends automatic addresses, unless accept_ra is 2 on the device of the network."
        )


def _has_net_admin() -> bool:
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    (effective,) = (line.split()[1] for line in status if line.startswith("CapEff:"))
    return bool(int(effective, 16) >> NET_ADMIN & 1)


def _inside(place: Endpoint, text: str | None) -> Address:
    """Return the address of the endpoint behind a redirection: the given one, or one that follows from the port."""
    if text is None:
        high, low = divmod(place.port, 256)
        return ip_address(f"10.76.{high}.{low}" if place.address.version == 4 else f"fd76::{place.port:x}")
    with suppress(ValueError):
        if (address := ip_address(text)).version == place.address.version:
            return address
    raise InputError(f"--inside {text}: give an unused address of IPv{place.address.version}, such as 10.76.0.2.")


def _words(place: Endpoint, inside: Address, device: str) -> dict[str, object]:
    version = place.address.version
    family = {4: "ip", 6: "ip6"}[version]
    # A loopback address as source would be wrong on the device.
    every = {4: "ip daddr != 127.0.0.0/8", 6: "ip6 daddr != ::1"}[version] + " fib daddr type local"
    return {
        "table": f"earlybird_{device.replace('-', '_')}",
        "redirects": "true" if inside != place.address else "false",
        "match": every if place.address.is_unspecified else f"{family} daddr {place.address}",
        "port": place.port,
        "family": family,
        "inside": inside,
        "device": device,
        "tables": {4: "iptables", 6: "ip6tables"}[version],
    }
