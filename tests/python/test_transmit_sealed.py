"""Encrypted streams between two relays in network namespaces, and what a capture of their link contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import command
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from earlybird.transmission import redacted
from test_cli_input import complaint
from test_transmit import clip

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli_input import Program

__all__ = ["clip"]

NAME = b"nameofthestream"
PACKET = 188  # bytes of a packet of a transport stream


@pytest.mark.parametrize("key", ["insecure=1", "passphrase=correct-horse"])
def test_a_capture_of_a_link_contains_the_stream_only_without_a_key(clip: Path, tmp_path: Path, key: str) -> None:
    copy, capture = tmp_path / "copy.ts", tmp_path / "packets.pcapng"
    options = f"latency=400&streamid={NAME.decode()}&{key}"
    sender = command("transmit", "-q", f"file:{clip}", f"eb://:4201?{options}")
    receiver = command("transmit", "-q", f"eb://10.77.0.2:4201?{options}", f"file:{copy}")
    shape = link(rate="20M", delay="20ms", loss="1%")
    try:
        ended = emulate(network(shape, shape), receiver, servers=[sender], pcap=capture)
    except EarlybirdError as error:
        pytest.skip(str(error))
    assert ended.exit_code == 0
    stream, packets = clip.read_bytes(), capture.read_bytes()
    assert copy.read_bytes() == stream
    is_plain = key == "insecure=1"
    assert (NAME in packets) == is_plain
    # Packets of a transport stream, from their header on; some are nothing but padding.
    parts = {stream[start : start + 64] for start in range(0, len(stream), PACKET * 50)}
    assert any(part in packets for part in parts) == is_plain


def test_a_listener_for_other_hosts_without_a_key_is_refused(earlybird: Program) -> None:
    message = complaint(earlybird("transmit", "-q", "udp://127.0.0.1:5000", "eb://:4201"))
    assert "insecure=1" in message
    assert "keyfile=" in message


def test_messages_do_not_contain_the_passphrase(earlybird: Program) -> None:
    assert redacted("eb://h:1?passphrase=correct-horse&latency=3") == "eb://h:1?passphrase=…&latency=3"
    message = complaint(earlybird("transmit", "udp://127.0.0.1:5000", "eb://h:1?passphrase=correct-horse&latncy=3"))
    assert "latency" in message
    assert "correct-horse" not in message
