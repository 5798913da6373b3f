"""Internet access of an emulated network."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from earlybird.errors import EarlybirdError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GATEWAY = "slirp4netns"  # forwards connections of a namespace without privileges (`slirp4netns(1)`)
GATEWAY_RESOLVER = Path(__file__).with_name("gateway-resolv.conf")
"""The `resolv.conf` of what is behind it: its address as name server is 10.0.2.3 (`slirp4netns(1)`)."""
RESOLVERS = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))
"""The lists of name servers: the resolver's own, and systemd-resolved's, which names itself at a loopback address."""

KEEPER = """
set -e
trap '' INT TERM HUP PIPE
forwards=/proc/sys/net/ipv4/ip_forward
forwarded=$(cat $forwards)
undo() { set +e; %(undo)s; [ "$forwarded" = 1 ] || echo 0 > $forwards; }
%(claim)s
trap undo EXIT
%(do)s
[ "$forwarded" = 1 ] || echo 1 > $forwards
echo ready
cat > /dev/null
"""
"""Applies rules and forwards packets until its parent process has ended, even if killed, and removes all rules."""

IPTABLES = {
    # A chain of that name is somebody else's; Docker forbids to forward what no rule before its own allows.
    "claim": "iptables -w -t nat -N earlybird",
    "do": """
iptables -w -t nat -A earlybird -s {command} ! -o eb0 -j MASQUERADE
iptables -w -t nat -A POSTROUTING -j earlybird
iptables -w -I FORWARD -i eb0 -j ACCEPT
iptables -w -I FORWARD -o eb0 -j ACCEPT
""",
    "undo": "iptables -w -D FORWARD -o eb0 -j ACCEPT; iptables -w -D FORWARD -i eb0 -j ACCEPT;"
    " iptables -w -t nat -D POSTROUTING -j earlybird; iptables -w -t nat -F earlybird;"
    " iptables -w -t nat -X earlybird",
}
NFT = {
    "claim": "nft create table ip earlybird",
    "do": """
nft add chain ip earlybird out '{{ type nat hook postrouting priority srcnat; }}'
nft add rule ip earlybird out ip saddr {command} oifname != '"eb0"' masquerade
""",
    "undo": "nft delete table ip earlybird",
}


def resolver_hint(*, has_servers: bool) -> str:
    """Choose the gateway to the Internet: ``iptables``, ``nft`` or, always where `has_servers`, ``slirp4netns``."""
    may_change_this_machine = os.geteuid() == 0 and not has_servers
    tools = (("iptables", "nft") if may_change_this_machine else ()) + (GATEWAY,)
    for tool in tools:
        if shutil.which(tool):
            return tool
    package = "nftables" if may_change_this_machine else GATEWAY
    raise EarlybirdError(
        f"--internet: nothing here leads from the emulated network to the Internet, which takes {' or '.join(tools)}."
        f" Install one, such as by `apt-get install {package}`."
    )


@contextmanager
def masquerade(tool: str, command: str) -> Iterator[None]:
    """Masquerade an address of an emulated network (NAT) by ``iptables`` or ``nft``."""
    rules = {name: text.format(command=command) for name, text in {"iptables": IPTABLES, "nft": NFT}[tool].items()}
    with applied(rules, lambda line: _not_masqueraded(line or f"{tool} failed")):
        yield


def _not_masqueraded(line: str) -> EarlybirdError:
    return EarlybirdError(
        f"--internet: this machine does not forward packets: {line}. Does another `emulate --internet` run?"
    )


@contextmanager
def applied(rules: dict[str, str], failure: Callable[[str], EarlybirdError]) -> Iterator[None]:
    """
    Apply rules, shell commands ``claim``, ``do`` and ``undo``, and forward packets of IPv4 until the end.

    If a command fails, what `failure` makes of the first line of its errors is raised.
    """
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER % rules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    with keeper:
        if not keeper.stdout.readline():
            _, reason = keeper.communicate()
            raise failure(next(iter(reason.strip().splitlines()), ""))
        try:
            yield
        finally:
            keeper.communicate()


def resolver(tool: str) -> Path | None:
    """Find a `resolv.conf` for the command; None if this machine's can be used."""
    if tool == GATEWAY:
        return GATEWAY_RESOLVER
    for path in RESOLVERS:
        if path.exists() and _leads_away(path.read_text(encoding="utf-8", errors="replace")):
            return None if path == RESOLVERS[0] else path
    raise EarlybirdError(
        f"--internet: names are resolved by a server at this machine's loopback address ({RESOLVERS[0]}), which another"
        " network does not reach. Name one there that it does, such as `nameserver 9.9.9.9`."
    )


def _leads_away(text: str) -> bool:
    """Return whether any name server is not at a loopback address."""
    words = (line.split() for line in text.splitlines())
    servers = [line[1] for line in words if len(line) > 1 and line[0] == "nameserver"]
    return any(not server.startswith("127.") and server != "::1" for server in servers)
