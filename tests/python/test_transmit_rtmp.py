"""RTMP as a source of relays, as OBS publishes it."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conftest import HUNG, command
from test_cli_input import complaint
from test_transmit import free_port, relay
from test_transmit_srt import frames, running, wait

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from test_cli_input import Program

FRAMES = 100
needs_ffmpeg = pytest.mark.skipif(not shutil.which("ffmpeg"), reason="needs ffmpeg")


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Encode four seconds as OBS does: H.264 and AAC."""
    path = tmp_path_factory.mktemp("film") / "film.flv"
    inputs = "-f lavfi -i testsrc2=size=320x180:rate=25 -f lavfi -i sine=440"
    encode = f"ffmpeg -v error {inputs} -t {FRAMES / 25} -c:v libx264 -g 25 -c:a aac {path}"
    subprocess.run(shlex.split(encode), check=True)
    return path


def publish(film: Path, port: int, name: str = "live/KEY") -> list[str]:
    """Return the command with which ffmpeg publishes a film in real time."""
    return shlex.split(f"ffmpeg -v error -nostdin -re -i {film} -c copy -f flv rtmp://127.0.0.1:{port}/{name}")


def images(stream: Path) -> list[str]:
    """Return the hashes of the decoded images."""
    decode = shlex.split(f"ffmpeg -v error -i {stream} -map 0:v -fps_mode passthrough -f framemd5 -")
    lines = subprocess.run(decode, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split(",")[-1] for line in lines if not line.startswith("#")]


@contextmanager
def listening(copy: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Receive RTMP with a relay, and write to a file what a player gets from another one by HTTP."""
    rtmp, http, port = free_port(socket.SOCK_STREAM), free_port(socket.SOCK_STREAM), free_port()
    with (
        relay("-q", f"eb://127.0.0.1:{port}?mode=listener", f"http://127.0.0.1:{http}") as out,
        relay("--json", f"rtmp://127.0.0.1:{rtmp}/live/KEY", f"eb://127.0.0.1:{port}") as into,
    ):
        wait(into, lambda report: report["peers"] == 1)
        with running(
            "ffmpeg", "-v", "error", "-nostdin", "-i", f"http://127.0.0.1:{http}", "-c", "copy", copy
        ) as player:
            time.sleep(1)  # until it has connected
            yield into, rtmp
            for process in (into, out):
                process.terminate()
                assert process.wait(timeout=HUNG) == 0
            player.wait(timeout=HUNG)


@needs_ffmpeg
def test_what_ffmpeg_publishes_is_played_from_the_first_image_to_the_last(film: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.ts"
    with listening(copy) as (into, port):
        with running(*publish(film, port)) as sender:
            assert wait(into, lambda report: report["notice"])["notice"] == "RTMP: 127.0.0.1 sends"
            assert sender.wait(timeout=HUNG) == 0
        wait(into, lambda report: report["notice"] == "RTMP: the sender has disconnected")
        time.sleep(0.5)  # the latency
    assert images(copy) == images(film)
    assert frames(copy, "a") == frames(film, "a")


@needs_ffmpeg
@pytest.mark.parametrize("name", ["live/WRONG", "other/KEY"])
def test_a_publisher_with_another_key_is_refused(film: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy.ts"
    with listening(copy) as (into, port), socket.create_connection(("127.0.0.1", port)):  # that says nothing
        assert subprocess.run(publish(film, port, name), check=False, stderr=subprocess.DEVNULL).returncode != 0
        notice = wait(into, lambda report: report["notice"])["notice"]
        assert notice == "RTMP: 127.0.0.1 was refused: another application or key"
        assert subprocess.run(publish(film, port), check=False).returncode == 0
    assert frames(copy) == FRAMES


@needs_ffmpeg
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_publisher_that_was_killed_or_cut_off_is_replaced(film: Path, tmp_path: Path, end: signal.Signals) -> None:
    copy = tmp_path / "copy.ts"
    with listening(copy) as (into, port), running(*publish(film, port)) as first:
        wait(into, lambda report: report["bytes"] > 0)
        os.kill(first.pid, end)
        assert subprocess.run(publish(film, port), check=False).returncode == 0
    assert frames(copy) > FRAMES


def test_another_protocol_at_the_port_of_rtmp_is_reported(tmp_path: Path) -> None:
    with listening(tmp_path / "copy.ts") as (into, port):
        with socket.create_connection(("127.0.0.1", port)) as browser:
            browser.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
            notice = wait(into, lambda report: report["notice"])["notice"]
        assert notice.startswith("RTMP: 127.0.0.1 was refused: ")


def test_a_missing_ffmpeg_is_named_with_its_package() -> None:
    tried = subprocess.run(
        command("transmit", "-q", f"rtmp://127.0.0.1:{free_port(socket.SOCK_STREAM)}/live/KEY", "eb://127.0.0.1:4201"),
        env={**os.environ, "PATH": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 2
    assert "apt install ffmpeg" in tried.stderr
    assert "KEY" not in tried.stderr
    assert tried.stderr.count("\n") == 1


def test_rtmp_without_a_key_is_refused(earlybird: Program) -> None:
    message = complaint(earlybird("transmit", "-q", "rtmp://:1935/live", "eb://127.0.0.1:4201"))
    assert "such as rtmp://:1935/live/KEY" in message
