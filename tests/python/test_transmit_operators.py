"""Relays as an operator sees them: round trips, receivers, logs, errors at the start."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from conftest import HUNG, command
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from test_cli_input import complaint
from test_transmit import NO_LINK, clip, free_port, relay

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli_input import Program

__all__ = ["clip"]


def test_the_round_trip_under_loss_was_twice_that_of_the_path(clip: Path, tmp_path: Path) -> None:
    states = tmp_path / "states.jsonl"
    options = "latency=600&insecure=1"
    sender = command("transmit", "-q", "--statistics", states, f"file:{clip}", f"eb://:4201?{options}")
    receiver = command("transmit", "-q", f"eb://10.77.0.2:4201?{options}", "file:/dev/null")
    shape = link(rate="20M", delay="100ms", loss="5%")
    try:
        ended = emulate(network(shape, shape), receiver, servers=[sender])
    except EarlybirdError as error:
        pytest.skip(str(error))
    assert ended.exit_code == 0
    trips = [state["msRTT"] for state in map(json.loads, states.read_text().splitlines()) if state["msRTT"]]
    # An emulator that runs late on a busy machine adds to the path's 200 ms; 410 ms were told for them.
    assert trips
    assert all(200 <= trip < 270 for trip in trips)


def test_of_several_receivers_only_the_sum_was_reported(clip: Path, tmp_path: Path) -> None:
    port, states = free_port(), tmp_path / "states.jsonl"
    with (
        relay("-q", "--statistics", states, f"file:{clip}", f"eb://127.0.0.1:{port}?mode=listener") as sender,
        relay("-q", f"eb://127.0.0.1:{port}", "file:/dev/null"),
        relay("-q", f"eb://127.0.0.1:{port}", "file:/dev/null"),
    ):
        assert sender.wait(timeout=HUNG) == 0
    reports = [json.loads(line) for line in states.read_text().splitlines()]
    both = [report for report in reports if len(report["connections"]) == 2]
    assert both, reports
    last = both[-1]
    assert len({connection["address"] for connection in last["connections"]}) == 2
    assert all(connection["address"].startswith("127.0.0.1:") for connection in last["connections"])
    assert sum(connection["bytesOut"] for connection in last["connections"]) == last["bytesOut"]


def test_servers_of_emulate_were_killed_before_their_files_were_complete(clip: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.ts"
    options = "latency=3s&insecure=1"
    receiver = command("transmit", "-q", f"eb://:4201?{options}", f"file:{copy}")
    sender = command("transmit", "-q", f"file:{clip}", f"eb://10.77.0.2:4201?{options}")
    try:
        ended = emulate(
            network(link(rate="20M", delay="5ms"), link(rate="20M", delay="5ms")), sender, servers=[receiver]
        )
    except EarlybirdError as error:
        pytest.skip(str(error))
    assert ended.exit_code == 0
    # The sender has ended when all is acknowledged; the receiver then holds three seconds of it.
    assert copy.read_bytes() == clip.read_bytes()


@pytest.mark.parametrize(
    ("source", "destination", "words"),
    [
        ("udp://127.0.0.1:{free}", "eb://no-such-host.invalid:4201", "cannot be resolved"),
        ("udp://no-such-host.invalid:1", "eb://127.0.0.1:{free}", "cannot be resolved"),
        ("eb://127.0.0.1:{free}", "file:/proc/here/copy.ts", "No such file"),
        ("eb://127.0.0.1:{free}", "udp://127.0.0.1:{free}?localaddr=192.0.2.7", "assign"),
        ("udp://127.0.0.1:{used}", "eb://127.0.0.1:{free}", "in use"),
        ("udp://127.0.0.1:{free}", "eb://127.0.0.1:{used}?mode=listener", "in use"),
    ],
)
def test_ends_that_cannot_work_are_reported_before_anything_is_sent(
    earlybird: Program, source: str, destination: str, words: str
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as used:
        used.bind(("127.0.0.1", 0))
        ports = {"free": free_port(), "used": used.getsockname()[1]}
        assert words in complaint(earlybird("transmit", "-q", source.format(**ports), destination.format(**ports)))


@pytest.mark.parametrize(
    "ends", [("udp://127.0.0.1:5000", "eb://192.0.2.1:4201"), ("eb://:4201?insecure=1", "udp://192.0.2.1:5000")]
)
def test_a_host_without_a_route_is_reported_at_the_start(ends: tuple[str, str]) -> None:
    program = [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "sh",
        "-c",
        'ip link set lo up || exit 77; exec "$@"',
        "sh",
    ]
    tried = subprocess.run(
        [*program, *command("transmit", "-q", *ends)], capture_output=True, text=True, timeout=HUNG, check=False
    )
    if "unshare failed" in tried.stderr or tried.returncode == NO_LINK:
        pytest.skip(f"this system gives no network of one's own: {tried.stderr}")
    assert (tried.returncode, tried.stderr.count("\n")) == (2, 1), tried.stderr
    assert "unreachable" in tried.stderr


@pytest.mark.parametrize(
    ("level", "is_reported"), [("error", False), ("warning", True), ("info", True), ("debug", True)]
)
def test_a_log_level_had_only_two_values(level: str, *, is_reported: bool) -> None:
    port = free_port()
    listener = f"eb://127.0.0.1:{port}?mode=listener"
    with (
        relay("--log-level", level, f"udp://127.0.0.1:{free_port()}", listener) as sender,
        relay("-q", f"eb://127.0.0.1:{port}", "file:/dev/null"),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
    ):
        for _ in range(40):
            other.sendto(bytes.fromhex("000100002112a442") + bytes(12), ("127.0.0.1", port))
            time.sleep(0.1)
        sender.terminate()
        _, err = sender.communicate(timeout=HUNG)
    assert err.count("STUN from 127.0.0.1:") == is_reported
    assert bool(re.search(r"[0-9] is connected\.", err)) == (level == "debug")
    assert ("It has ended" in err) == (level in ("info", "debug"))


def _gap(key: str, listens: int, killed: int) -> float:
    """Return the time from `kill -9` of the sender (0) or the receiver (1), which starts again, to the next unit."""
    entry, middle = free_port(), free_port()
    with (
        ExitStack() as relays,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as player,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source,
    ):
        player.bind(("127.0.0.1", 0))
        player.settimeout(0.005)
        modes = ["listener" if side == listens else "caller" for side in (0, 1)]
        to, at = (f"eb://127.0.0.1:{middle}?latency=60&mode={mode}{key}" for mode in modes)
        ends = [(f"udp://127.0.0.1:{entry}", to), (at, f"udp://127.0.0.1:{player.getsockname()[1]}")]
        processes = [relays.enter_context(relay("-q", *one)) for one in ends]

        def is_there() -> bool:
            source.sendto(bytes(1000), ("127.0.0.1", entry))
            try:
                return bool(player.recv(2000))
            except TimeoutError:
                return False

        def wait() -> float:
            began = time.monotonic()
            while not is_there():
                assert time.monotonic() - began < HUNG
            return time.monotonic()

        wait()
        settled = time.monotonic() + 1
        while time.monotonic() < settled:
            is_there()
        processes[killed].kill()
        processes[killed].wait()
        killed_at = time.monotonic()
        relays.enter_context(relay("-q", *ends[killed]))
        # Units in flight at that time do not count.
        while time.monotonic() < killed_at + 0.2:
            is_there()
        return wait() - killed_at


@pytest.mark.parametrize("killed", [0, 1], ids=["sender", "receiver"])
@pytest.mark.parametrize("listens", [0, 1], ids=["sender listens", "receiver listens"])
def test_a_stream_was_away_for_five_seconds_after_kill_9(tmp_path: Path, listens: int, killed: int) -> None:
    (tmp_path / "key").write_text("0123456789abcdef" * 4)
    began = time.monotonic()
    subprocess.run(command("transmit", "udp://:1", "udp://:1"), capture_output=True, timeout=HUNG, check=False)
    start = time.monotonic() - began
    assert _gap(f"&keyfile={tmp_path / 'key'}", listens, killed) < 2 + 2 * start
