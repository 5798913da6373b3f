"""Live streams between two relays, each a process of its own as a user starts them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import av
import pytest

from conftest import HUNG, REPOSITORY, command
from test_cli_input import complaint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from test_cli_input import Program

CLIP = REPOSITORY / "media" / "test-clip.mp4"
SECONDS = 3
NO_LINK = 77
"""The exit code of the script that finds no `ip`."""


def free_port(kind: socket.SocketKind = socket.SOCK_DGRAM) -> int:
    """Return a port that nobody uses now."""
    with socket.socket(socket.AF_INET, kind) as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a transport stream of some seconds."""
    path = tmp_path_factory.mktemp("clip") / "clip.ts"
    with av.open(str(CLIP)) as film, av.open(str(path), "w", format="mpegts") as stream:
        video = film.streams.video[0]
        copy = stream.add_stream_from_template(video)
        for packet in film.demux(video):
            if packet.pts is None or packet.pts * packet.time_base > SECONDS:
                break
            packet.stream = copy
            stream.mux(packet)
    return path


@contextmanager
def relay(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Run a relay, and stop it if it still runs at the end."""
    process = subprocess.Popen(
        command("transmit", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("transport", ["earlybird-rt", "cubic-rack"])
def test_a_file_arrives_byte_for_byte_in_its_own_time(clip: Path, tmp_path: Path, transport: str) -> None:
    port, copy = free_port(), tmp_path / "copy.ts"
    options = f"latency=300&transport={transport}"
    began = time.monotonic()
    with (
        relay("-q", f"file:{clip}", f"eb://127.0.0.1:{port}?mode=listener&{options}") as sender,
        relay("--json", f"eb://127.0.0.1:{port}?{options}", f"file:{copy}") as receiver,
    ):
        out, err = receiver.communicate(timeout=HUNG)
        assert receiver.returncode == 0, err
        assert sender.wait(timeout=HUNG) == 0
    assert copy.read_bytes() == clip.read_bytes()
    assert time.monotonic() - began > SECONDS
    last = json.loads(out.splitlines()[-1])
    assert (last["bytes"], last["bytesOut"], last["pktRcvDrop"]) == (clip.stat().st_size, clip.stat().st_size, 0)


@pytest.mark.parametrize("transport", ["earlybird-rt", "cubic-rack"])
def test_a_file_arrives_over_a_link_of_1280_bytes(clip: Path, tmp_path: Path, transport: str) -> None:
    copy, options = tmp_path / "copy.ts", f"latency=300&transport={transport}"
    sender = shlex.join(command("transmit", "-q", f"file:{clip}", f"eb://127.0.0.1:4201?mode=listener&{options}"))
    receiver = shlex.join(command("transmit", "--json", f"eb://127.0.0.1:4201?{options}", f"file:{copy}"))
    script = f"ip link set lo mtu 1280 up || exit 77; {sender} & exec {receiver}"
    tried = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    if "unshare failed" in tried.stderr or tried.returncode == NO_LINK:
        pytest.skip(f"this system gives no network of one's own: {tried.stderr}")
    assert tried.returncode == 0, tried.stderr
    assert copy.read_bytes() == clip.read_bytes()


def test_what_goes_on_is_reported_to_prometheus_to_a_file_and_on_a_line(clip: Path, tmp_path: Path) -> None:
    port, http_port, states = free_port(), free_port(socket.SOCK_STREAM), tmp_path / "states.jsonl"
    options = ["--prometheus", http_port, "--statistics", states]
    with (
        relay(*options, f"file:{clip}", f"eb://127.0.0.1:{port}?mode=listener") as sender,
        relay("-q", f"eb://127.0.0.1:{port}", "file:/dev/null"),
    ):
        _open_port(http_port)
        while "earlybird_transmit_connections 1.0\n" not in (reported := _reported(http_port)):
            time.sleep(0.1)
        assert "\nearlybird_transmit_bytes_total " in reported
        _, err = sender.communicate(timeout=HUNG)
    assert sender.returncode == 0, err
    assert "Waiting" not in err
    assert "1 s: " in err
    assert err.count("\n") <= 4  # the other relay connects, disconnects; the end
    assert json.loads(states.read_text().splitlines()[-1])["bytes"] == clip.stat().st_size


def _reported(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text: str = answer.read().decode()
        return text


def test_players_fetch_the_stream_by_http(clip: Path) -> None:
    port, http_port = free_port(), free_port()
    with (
        relay("-q", f"eb://127.0.0.1:{port}?mode=listener", f"http://127.0.0.1:{http_port}"),
        relay("-q", f"file:{clip}", f"eb://127.0.0.1:{port}"),
        socket.create_connection(("127.0.0.1", _open_port(http_port))) as player,
    ):
        player.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        answer = b""
        while len(answer) < 10_000:
            answer += player.recv(4096)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert b"video/mp2t" in head
    assert all(body[start] == 0x47 for start in range(0, len(body) - 188, 188))


def _open_port(port: int) -> int:
    """Wait until somebody listens at a port."""
    end = time.monotonic() + HUNG
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return port
        time.sleep(0.05)
    pytest.fail("the server does not come up")


def test_a_player_that_stops_reading_is_named_at_the_end(clip: Path, tmp_path: Path) -> None:
    port, pipe = free_port(), tmp_path / "player"
    os.mkfifo(pipe)
    options = "latency=100&transport=cubic-rack"
    with (
        relay("-q", f"file:{clip}", f"eb://:{port}?insecure=1&{options}") as sender,
        relay("-q", f"eb://127.0.0.1:{port}?{options}", f"file:{pipe}") as receiver,
        pipe.open("rb", buffering=0) as player,
    ):
        assert player.read(188)
        sender.wait(HUNG)
        began = time.monotonic()
        receiver.send_signal(signal.SIGTERM)
        assert receiver.wait(HUNG) == 1
        assert time.monotonic() - began < HUNG / 4
        assert receiver.stderr is not None
        message = receiver.stderr.read()
    assert message.count("\n") == 1
    assert message.startswith(f"earlybird: file:{pipe}: ")
    assert message.endswith(" were played out but not read in time, and are dropped.\n")


def test_a_killed_sender_reconnects(clip: Path) -> None:
    port = free_port()
    with relay("--json", f"eb://127.0.0.1:{port}?mode=listener&peeridletimeo=1000", "file:/dev/null") as receiver:
        for _ in range(2):
            with relay("-q", f"file:{clip}", f"eb://127.0.0.1:{port}") as sender:
                assert receiver.stdout is not None
                while not json.loads(receiver.stdout.readline())["peers"]:
                    pass
                sender.kill()
        receiver.send_signal(signal.SIGTERM)
        out, err = receiver.communicate(timeout=HUNG)
    assert receiver.returncode == 0, err
    assert json.loads(out.splitlines()[-1])["reconnects"] == 1


@pytest.mark.parametrize(
    ("source", "destination", "words"),
    [
        ("nonsense", "eb://:1", ["nonsense", "udp://"]),
        ("udp://:5000", "udp://:5001", ["eb://"]),
        ("udp://:5000", "eb://:1?latncy=3", ["latncy", "latency"]),
        ("udp://:5000", "eb://:4201?insecure=1&transport=cubik", ["cubik", "cubic"]),
        ("file:/no/such/file.ts", "eb://127.0.0.1:4201", ["/no/such/file.ts", "No such file"]),
    ],
)
def test_what_is_wrong_is_reported(earlybird: Program, source: str, destination: str, words: list[str]) -> None:
    message = complaint(earlybird("transmit", "-q", source, destination))
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("source", "destination", "commands"),
    [
        (
            "rist://:9000",
            "eb://far:4201",
            "ffmpeg -i 'rist://:9000' -c copy -f mpegts 'udp://127.0.0.1:1234?pkt_size=1316' & "
            "earlybird transmit udp://:1234 'eb://far:4201'",
        ),
        (
            "eb://:4201",
            "rtmp://ingest/live/key",
            "ffmpeg -i udp://127.0.0.1:1234 -c copy -f flv 'rtmp://ingest/live/key' & "
            "earlybird transmit 'eb://:4201' udp://127.0.0.1:1234",
        ),
    ],
)
def test_rist_and_rtmp_out_name_ffmpeg(earlybird: Program, source: str, destination: str, commands: str) -> None:
    """The error names the commands with which FFmpeg translates."""
    message = complaint(earlybird("transmit", "-q", source, destination))
    assert message.rstrip().endswith(commands)


def test_a_port_in_use_is_reported(earlybird: Program) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        message = complaint(earlybird("transmit", "-q", f"eb://127.0.0.1:{port}?mode=listener", "file:/dev/null"))
    assert "in use" in message


@pytest.mark.parametrize("name", ["text.ts", "empty.ts", "clip.mp4"])
def test_a_file_that_is_no_stream_was_reported_only_once_a_receiver_came(
    earlybird: Program, tmp_path: Path, name: str
) -> None:
    (tmp_path / "text.ts").write_bytes(b"no stream" * 10_000)
    (tmp_path / "empty.ts").touch()
    shutil.copy(CLIP, tmp_path / "clip.mp4")
    message = complaint(earlybird("transmit", "-q", f"file:{tmp_path / name}", f"eb://:{free_port()}?insecure=1"))
    assert "not an MPEG transport stream" in message
    assert f"{tmp_path / name}" in message
