"""Live streams between two relays that are hosts of their own, each with a TUN device, over emulated links."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from conftest import command
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from test_transmit import clip

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["clip"]

FORWARDING = {4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding"}
NEAR, FAR = {4: "10.78.0.2", 6: "[fd78::2]"}, {4: "10.79.0.2", 6: "[fd79::2]"}


def relay(version: int, source: str, destination: str) -> list[str]:
    """Return a command that forwards between this host's devices, and then is a relay."""
    script = f'echo 1 > /proc/sys/{FORWARDING[version]} && exec "$@"'
    return ["sh", "-c", script, "sh", *command("transmit", "-q", source, destination)]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a TUN device in a namespace that somebody else made")
@pytest.mark.parametrize("version", [4, 6])
def test_a_file_arrives_byte_for_byte_over_ip_itself(clip: Path, tmp_path: Path, version: int) -> None:
    copy = tmp_path / "copy.ts"
    waits = f"eb://{FAR[version]}:4201?mode=listener&via=tun&insecure=1&latency=400"
    calls = f"eb://{FAR[version]}:4201?via=tun&local={NEAR[version].strip('[]')}&device=caller&latency=400"
    shape = link(rate="20M", delay="20ms", loss="1%")
    receiver, sender = relay(version, calls, f"file:{copy}"), relay(version, f"file:{clip}", waits)
    try:
        ended = emulate(network(shape, shape), receiver, servers=[sender])
    except EarlybirdError as error:
        pytest.skip(str(error))
    assert ended.exit_code == 0
    assert copy.read_bytes() == clip.read_bytes()
