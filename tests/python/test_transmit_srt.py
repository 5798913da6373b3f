"""SRT as an end of relays: OBS and cameras send it, and many players and servers receive it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from conftest import HUNG, command
from test_cli_input import complaint
from test_emulate import _allowed
from test_transmit import clip, free_port, relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from test_cli_input import Program

__all__ = ["_allowed", "clip"]  # fixtures

LIBRARY = re.findall(r"libsrt(?:-\w+)?\.so\.1\.5 .*=> (.*)", subprocess.getoutput("/sbin/ldconfig -p"))
needs_library = pytest.mark.skipif(not LIBRARY, reason="needs libsrt 1.5, which srt-tools brings")
needs_tools = pytest.mark.skipif(
    not LIBRARY or not shutil.which("ffmpeg") or not shutil.which("srt-live-transmit"), reason="needs ffmpeg, srt-tools"
)
NO_LIBRARY = 77
PASSPHRASE = "probably another passphrase, or one on one side only"


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block."""
    process = subprocess.Popen(list(map(str, arguments)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait(process: subprocess.Popen[str], is_reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read the reports of a relay until one of them is as wanted."""
    assert process.stdout
    for line in process.stdout:
        if is_reached(report := json.loads(line)):
            return report  # type: ignore[no-any-return]
    raise AssertionError(process.stderr and process.stderr.read())


def sends(report: dict[str, Any]) -> bool:
    return bool(re.fullmatch(r"SRT: [\d.:]+ sends", report["notice"] or ""))


def ffmpeg(source: Path, *outputs: str) -> list[str]:
    """Return the command with which ffmpeg sends a stream in real time."""
    copies = [word for output in outputs for word in ("-map", "0", "-c", "copy", "-f", "mpegts", output)]
    return ["ffmpeg", "-v", "error", "-nostdin", "-re", "-i", str(source), *copies]


def frames(stream: Path, kind: str = "v") -> int:
    """Return the number of frames that can be decoded, without an error."""
    count = f"ffprobe -v error -count_frames -select_streams {kind} -show_entries stream=nb_read_frames -of csv=p=0"
    counted = subprocess.run([*count.split(), str(stream)], capture_output=True, text=True, check=True)
    return int(counted.stdout.split()[0].strip(","))


@needs_library
@pytest.mark.parametrize("options", ["latency=200", "passphrase=correct-horse&pbkeylen=32&streamid=%23!::r=a"])
def test_a_stream_arrives_whole_through_srt_between_four_relays(clip: Path, tmp_path: Path, options: str) -> None:
    copy, (first, srt, second) = tmp_path / "copy.ts", (free_port() for _ in range(3))
    with (
        relay("--json", f"srt://127.0.0.1:{srt}?mode=listener&{options}", f"eb://127.0.0.1:{second}") as into,
        relay("-q", f"eb://127.0.0.1:{second}?mode=listener", f"file:{copy}") as end,
    ):
        wait(into, lambda report: report["peers"] == 1)
        with (
            relay("-q", f"eb://127.0.0.1:{first}", f"srt://127.0.0.1:{srt}?{options}") as out,
            relay("-q", f"file:{clip}", f"eb://127.0.0.1:{first}?mode=listener"),
        ):
            wait(into, sends)
            assert out.wait(timeout=HUNG) == 0
        wait(into, lambda report: report["notice"] == "SRT: the sender has disconnected")
        for process in (into, end):
            process.terminate()
            assert process.wait(timeout=HUNG) == 0
    assert copy.read_bytes() == clip.read_bytes()


@contextmanager
def listening(copy: Path, options: str = "") -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Receive SRT with a relay, and write to a file what another relay gets from it."""
    srt, port = free_port(), free_port()
    with (
        relay("-q", f"eb://127.0.0.1:{port}?mode=listener", f"file:{copy}") as end,
        relay("--json", f"srt://127.0.0.1:{srt}?mode=listener{options}", f"eb://127.0.0.1:{port}") as into,
    ):
        wait(into, lambda report: report["peers"] == 1)
        yield into, srt
        for process in (into, end):
            process.terminate()
            assert process.wait(timeout=HUNG) == 0


@needs_tools
def test_what_ffmpeg_sends_arrives_up_to_the_latency_before_its_end(clip: Path, tmp_path: Path) -> None:
    sent, copy = tmp_path / "sent.ts", tmp_path / "copy.ts"
    with listening(copy, "&passphrase=correct-horse") as (_, port):
        to = f"srt://127.0.0.1:{port}?pkt_size=1316&passphrase=correct-horse&latency=120000"
        subprocess.run(ffmpeg(clip, str(sent), to), check=True, timeout=HUNG)
        time.sleep(0.5)
    # FFmpeg disconnects at its end, and SRT then drops what is in its buffers.
    assert sent.read_bytes().startswith(copy.read_bytes())
    assert copy.stat().st_size > 0.8 * sent.stat().st_size
    assert frames(copy) > 0.8 * frames(sent)


@needs_tools
@pytest.mark.parametrize(
    ("mine", "theirs", "reason"),
    [
        ("passphrase=correct-horse", "passphrase=another-horse", PASSPHRASE),
        ("passphrase=correct-horse", "", PASSPHRASE),
        ("streamid=studio", "streamid=kitchen", "another streamid"),
        ("streamid=studio", "", "another streamid"),
    ],
)
def test_a_sender_without_the_key_or_name_is_refused(
    clip: Path, tmp_path: Path, mine: str, theirs: str, reason: str
) -> None:
    copy = tmp_path / "copy.ts"
    with listening(copy, f"&{mine}") as (into, port):
        with running(*ffmpeg(clip, f"srt://127.0.0.1:{port}?{theirs}")) as sender:
            assert sender.wait(timeout=HUNG) != 0
        assert wait(into, lambda report: report["notice"])["notice"] == f"SRT: 127.0.0.1 was refused: {reason}"
        with running(*ffmpeg(clip, f"srt://127.0.0.1:{port}?{mine}")) as sender:
            wait(into, sends)
            assert sender.wait(timeout=HUNG) == 0
    assert copy.stat().st_size > 0


@needs_library
def test_a_caller_reports_why_it_is_refused() -> None:
    srt, port = free_port(), free_port()
    with (
        relay("-q", f"srt://127.0.0.1:{srt}?mode=listener&passphrase=correct-horse", f"eb://127.0.0.1:{port}"),
        relay("--json", f"eb://127.0.0.1:{port}", f"srt://127.0.0.1:{srt}?passphrase=another-horse") as caller,
    ):
        report = wait(caller, lambda report: report["notice"] and "no answer" not in report["notice"])
    assert report["notice"] == f"SRT: 127.0.0.1:{srt} is not connected: another passphrase"


@needs_tools
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP])
def test_a_sender_that_was_killed_or_cut_off_is_replaced(clip: Path, tmp_path: Path, end: signal.Signals) -> None:
    copy = tmp_path / "copy.ts"
    with listening(copy) as (into, port), ExitStack() as senders:
        first = senders.enter_context(running(*ffmpeg(clip, f"srt://127.0.0.1:{port}?pkt_size=1316")))
        received = wait(into, lambda report: sends(report) and report["bytes"] > 0)["bytes"]
        with running(*ffmpeg(clip, f"srt://127.0.0.1:{port}?pkt_size=1316")) as intruder:
            assert intruder.wait(timeout=HUNG) != 0  # the stream has its sender
        os.kill(first.pid, end)
        began = time.monotonic()
        time.sleep(1.5)
        second = senders.enter_context(running(*ffmpeg(clip, f"srt://127.0.0.1:{port}?pkt_size=1316")))
        quiet = wait(into, lambda report: report["bytes"] > received)["bytes"]
        wait(into, lambda report: sends(report) and report["bytes"] > quiet)
        assert time.monotonic() - began < 7
        assert second.wait(timeout=HUNG) == 0
    assert frames(copy) > 0


@needs_tools
def test_several_players_receive_from_a_listener(clip: Path, tmp_path: Path) -> None:
    srt, port = free_port(), free_port()
    copies = [tmp_path / "one.ts", tmp_path / "two.ts"]
    long = tmp_path / "long.ts"
    subprocess.run(["ffmpeg", "-v", "error", "-stream_loop", "2", "-i", clip, "-c", "copy", long], check=True)
    with (
        relay("-q", f"file:{long}", f"eb://127.0.0.1:{port}?mode=listener"),
        relay("--json", f"eb://127.0.0.1:{port}", f"srt://127.0.0.1:{srt}?mode=listener&streamid=film") as out,
        ExitStack() as players,
    ):
        address = f"srt://127.0.0.1:{srt}?streamid=film"
        wait(out, lambda report: report["bytes"] > 0)
        play = ["ffmpeg", "-v", "error", "-nostdin", "-i", address, "-c", "copy", str(copies[0])]
        for player in (play, ["srt-live-transmit", "-q", address, "file://con"]):
            output = players.enter_context(copies[1].open("wb"))
            process = subprocess.Popen(player, stdout=output, stderr=subprocess.DEVNULL)
            players.callback(process.wait)
            players.callback(process.kill)
        assert wait(out, lambda report: report["notice"])["notice"] == "SRT: 127.0.0.1 is connected"
        assert out.wait(timeout=HUNG) == 0
        time.sleep(1)
    whole = long.read_bytes()
    assert copies[1].read_bytes() in whole
    for copy in copies:
        assert copy.stat().st_size > len(whole) / 4
        assert frames(copy) > 0


@needs_tools
@pytest.mark.usefixtures("_allowed")
def test_srt_repairs_the_losses_between_the_sender_and_the_relay(program: Program, clip: Path, tmp_path: Path) -> None:
    sent, copy = tmp_path / "sent.ts", tmp_path / "copy.ts"
    servers = [
        command("transmit", "-q", "srt://:9000?latency=400", "eb://127.0.0.1:4201"),
        command("transmit", "-q", "eb://127.0.0.1:4201?mode=listener", f"file:{copy}"),
    ]
    options = [word for server in servers for word in ("--server", shlex.join(server))]
    send = ffmpeg(clip, str(sent), "srt://10.77.0.2:9000?pkt_size=1316&latency=400000")
    near = ["sh", "-c", f"sleep 2; {shlex.join(send)} && sleep 2"]
    link = ("--rate", "20M", "--delay", "25ms", "--loss", "3%", "--json")
    finished = program("emulate", *link, *options, "--", *near)
    assert finished.code == 0, finished
    assert json.loads(finished.out)["links"][0]["packets_dropped"] > 0
    assert sent.read_bytes().startswith(copy.read_bytes())
    assert copy.stat().st_size > 0.5 * sent.stat().st_size


def test_a_missing_library_is_named_with_its_package() -> None:
    hide = " && ".join(f"mount --bind /dev/null {shlex.quote(path)}" for path in LIBRARY) or "true"
    transmit = shlex.join(command("transmit", "-q", "srt://:9000", "eb://127.0.0.1:4201"))
    tried = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"({hide}) || exit {NO_LIBRARY}; {transmit}"],
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    if "unshare failed" in tried.stderr or tried.returncode == NO_LIBRARY:
        pytest.skip(f"this system gives no namespace of one's own: {tried.stderr}")
    assert tried.returncode == 2
    assert "apt install libsrt1.5-openssl" in tried.stderr
    assert tried.stderr.count("\n") == 1


@needs_library
def test_a_port_that_srt_cannot_have_is_reported(earlybird: Program) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        address = f"srt://127.0.0.1:{port}?mode=listener&passphrase=correct-horse"
        message = complaint(earlybird("transmit", "-q", address, "eb://127.0.0.1:4201"))
    assert "in use" in message
    assert "correct-horse" not in message
