"""PERT in this machine's kernel; what needs root or `make kernel` is skipped, with the reason, where there is none."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import REPOSITORY
from earlybird import kernel
from earlybird.errors import EarlybirdError
from test_cli_input import complaint
from test_emulate import command_lines

sys.path.insert(0, str(REPOSITORY / "tools"))

import kernel_versions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from test_cli_input import Program

NAME = f"pert_{os.getpid()}"
"""Of this test alone, as tests run side by side."""
ADDRESSES = ("10.98.0.1", "10.98.0.2")
PORT = 9000
BYTES = 20_000_000
TCP_CONGESTION = 13
TALK = f"""
import socket, sys
out = socket.create_connection(({ADDRESSES[1]!r}, {PORT}))
out.sendall(bytes({BYTES}))
out.shutdown(socket.SHUT_WR)
print(out.recv(100).decode(), out.getsockopt(socket.IPPROTO_TCP, {TCP_CONGESTION}, 16).rstrip(b"\\0").decode())
"""
"""Sends, and prints what the other side says and which congestion control it had."""


@pytest.fixture(scope="module")
def _allowed() -> None:
    try:
        conditions = kernel.check(NAME)
    except EarlybirdError as error:
        pytest.skip(str(error))
    for condition in conditions:
        if condition["met"] is False and "only)" not in condition["name"]:
            pytest.skip(f"{condition['name']}: {condition['found']}")


@pytest.fixture(scope="module")
def network(_allowed: None) -> Iterator[tuple[str, str]]:
    """Two network namespaces with a link between them, and a server in the second that counts what it gets."""
    names = (f"{NAME}-a", f"{NAME}-b")
    links = [f"v{os.getpid()}a", f"v{os.getpid()}b"]
    try:
        for name in names:
            _ip("netns", "add", name)
        _ip("link", "add", links[0], "netns", names[0], "type", "veth", "peer", "name", links[1], "netns", names[1])
        for name, link, address in zip(names, links, ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", link)
            _ip("-n", name, "link", "set", link, "up")
        with _server(names[1]):
            yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)


COUNT = f"""
import socket
server = socket.create_server(({ADDRESSES[1]!r}, {PORT}))
print("ready", flush=True)
while True:
    peer, _ = server.accept()
    received = 0
    while taken := len(peer.recv(1 << 20)):
        received += taken
    peer.sendall(str(received).encode())
    peer.close()
"""


@contextmanager
def _server(namespace: str) -> Iterator[None]:
    command = ["ip", "netns", "exec", namespace, sys.executable, "-c", COUNT]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
        process.kill()


def _ip(*arguments: str) -> str:
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True).stdout


def _in(namespace: str, *command: str) -> str:
    return _ip("netns", "exec", namespace, *command)


def _default(namespace: str) -> str:
    return _in(namespace, "cat", "/proc/sys/net/ipv4/tcp_congestion_control").strip()


def _talk(namespace: str) -> list[str]:
    """Send, and return how much arrived and with which congestion control."""
    return _in(namespace, sys.executable, "-c", TALK).split()


def _loaded() -> dict[str, Any]:
    found: list[dict[str, Any]] = [one for one in kernel.status()["loaded"] if one["name"] == NAME]
    return found[0] if found else {}


def _wait_until_nothing_is_left() -> None:
    """Wait until neither the kernel nor a process has anything of it; it ends in the background after a ``kill -9``."""
    left = [f"{NAME} is registered"]
    deadline = time.monotonic() + 60
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [f"{NAME} is registered"] if NAME in kernel.status()["registered"] else []
        left += [path.name for path in Path("/sys/fs/cgroup").glob(f"**/earlybird-{NAME}-*")]
        left += [line for line in command_lines() if NAME in line and kernel.PROGRAM in line]
    assert not left


@pytest.mark.root
def test_two_namespaces_use_it_and_have_their_defaults_back(network: tuple[str, str]) -> None:
    before = [_default(name) for name in network]
    kernel.load(name=NAME, namespaces=network)
    assert [_default(name) for name in network] == [NAME, NAME]
    assert _talk(network[0]) == [str(BYTES), NAME]
    loaded = _loaded()
    assert loaded["counters"]["connections"] >= 2
    assert {space["name"] for space in loaded["namespaces"]} == set(network)
    kernel.unload(NAME)
    assert [_default(name) for name in network] == before
    _wait_until_nothing_is_left()


@pytest.mark.root
def test_ss_shows_it_beside_its_window(network: tuple[str, str]) -> None:
    kernel.load(name=NAME, namespaces=network[:1])
    script = TALK.replace("out.sendall", "import subprocess\nout.sendall").replace(
        "out.shutdown", "print(subprocess.check_output(['ss', '-tin'], text=True))\nout.shutdown"
    )
    shown = _in(network[0], sys.executable, "-c", script)
    kernel.unload(NAME)
    assert f"{NAME} " in shown
    assert "cwnd:" in shown


@pytest.mark.root
def test_every_ack_is_reported_while_somebody_wants_to_know(network: tuple[str, str]) -> None:
    kernel.load(name=NAME, namespaces=network[:1])
    try:
        every, decisions = _watched(network[0], every_ack=True), _watched(network[0], every_ack=False)
    finally:
        kernel.unload(NAME)
    acks = [one["ack"] for one in every if "ack" in one]
    assert sum(ack["acked"] for ack in acks) > BYTES / 65536, "segments"
    assert all(ack["growth"] <= ack["acked"] and 0 <= ack["draw"] < 1 for ack in acks)
    assert len(decisions) < len(acks) / 2, "the next one does not want to"


def _watched(namespace: str, *, every_ack: bool) -> list[dict[str, Any]]:
    """Watch one transfer."""
    request = json.dumps({"watch": {"name": NAME, "every_ack": every_ack}})
    with subprocess.Popen([str(kernel.program()), request], stdout=subprocess.PIPE, text=True) as watcher:
        time.sleep(0.5)
        _talk(namespace)
        watcher.send_signal(signal.SIGINT)
        lines, _ = watcher.communicate(timeout=30)
    assert watcher.returncode == 0
    return [json.loads(line) for line in lines.splitlines()]


@pytest.mark.root
def test_nothing_is_left_when_its_holder_is_killed(network: tuple[str, str]) -> None:
    before = _default(network[0])
    holder = kernel.load(name=NAME, namespaces=network[:1])["holder"]
    os.kill(holder, signal.SIGKILL)
    _wait_until_nothing_is_left()
    assert _default(network[0]) == before


@pytest.mark.root
def test_nothing_is_left_when_its_guard_is_killed(network: tuple[str, str]) -> None:
    before = _default(network[0])
    holder = kernel.load(name=NAME, namespaces=network[:1])["holder"]
    (guard,) = Path(f"/proc/{holder}/task/{holder}/children").read_text().split()
    os.kill(int(guard), signal.SIGKILL)
    _wait_until_nothing_is_left()
    assert _default(network[0]) == before


@pytest.mark.root
def test_nothing_is_left_of_a_registration_as_old_kernels_have_it(network: tuple[str, str]) -> None:
    before = _default(network[0])
    request = {"load": {"name": NAME, "namespaces": [network[0]], "as_before_links": True}}
    for is_killed in (False, True):
        answer = subprocess.run([kernel.program(), json.dumps(request)], capture_output=True, check=True)
        assert _talk(network[0]) == [str(BYTES), NAME]
        if is_killed:
            os.kill(json.loads(answer.stdout)["holder"], signal.SIGKILL)
        else:
            kernel.unload(NAME)
        _wait_until_nothing_is_left()
        assert _default(network[0]) == before


PINNED = """
set -e
mount -t bpf bpf /sys/fs/bpf
{program} '{load}'
{program} '{unload}'
ls /sys/fs/bpf
"""


@pytest.mark.root
@pytest.mark.usefixtures("_allowed")
def test_what_is_pinned_stays_until_it_is_unloaded() -> None:
    requests = {"load": json.dumps({"load": {"name": NAME, "pin": True}}), "unload": json.dumps({"unload": NAME})}
    script = PINNED.format(program=kernel.program(), **requests)
    finished = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    loaded, unloaded, *left = finished.stdout.splitlines()
    assert json.loads(loaded) == {"name": NAME, "pinned": f"/sys/fs/bpf/earlybird-{NAME}"}
    assert json.loads(unloaded) == {"name": NAME}
    assert not [name for name in left if "earlybird" in name]
    _wait_until_nothing_is_left()


@pytest.mark.root
def test_a_route_has_it_and_the_default_stays(network: tuple[str, str]) -> None:
    before = (_default(network[0]), _ip("-n", network[0], "route"))
    kernel.load(name=NAME, namespaces=network[:1], routes=["10.98.0.0/24"])
    assert _talk(network[0]) == [str(BYTES), NAME]
    assert f"congctl {NAME}" in _loaded()["routes"][0]["route"]
    assert _default(network[0]) == before[0]
    kernel.unload(NAME)
    assert (_default(network[0]), _ip("-n", network[0], "route")) == before


@pytest.mark.root
def test_a_namespace_that_still_uses_it_is_reported_with_the_command(
    network: tuple[str, str], earlybird: Program
) -> None:
    kernel.load(name=NAME)
    before = _default(network[0])
    _in(network[0], "sh", "-c", f"echo {NAME} > /proc/sys/net/ipv4/tcp_congestion_control")
    message = complaint(earlybird("kernel", "unload", "--name", NAME))
    assert f"`ip netns exec {network[0]} sysctl -w net.ipv4.tcp_congestion_control=cubic`" in message
    _in(network[0], "sh", "-c", f"echo {before} > /proc/sys/net/ipv4/tcp_congestion_control")
    kernel.unload(NAME)


@pytest.mark.root
def test_one_command_has_it_and_nobody_else(network: tuple[str, str], program: Program) -> None:
    run = ["kernel", "run", "pert", "--name", NAME, "--", "ip", "netns", "exec", network[0], sys.executable, "-c", TALK]
    finished = program(*run)
    assert (finished.code, finished.out.split()) == (0, [str(BYTES), NAME]), finished
    assert _talk(network[0])[1] != NAME
    assert program("kernel", "run", "pert", "--name", NAME, "--", "sh", "-c", "exit 7").code == 7
    _wait_until_nothing_is_left()


@pytest.mark.root
@pytest.mark.usefixtures("_allowed")
def test_a_command_ends_with_the_one_who_runs_it() -> None:
    request = {"run": {"name": NAME, "settings": [], "command": ["sh", "-c", "echo here; sleep 600 & sleep 600"]}}
    with subprocess.Popen([kernel.program(), json.dumps(request)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.kill()
        assert process.stdout.read() == b""  # nobody is left who could write
    _wait_until_nothing_is_left()


@pytest.mark.root
@pytest.mark.usefixtures("_allowed")
def test_it_can_be_loaded_and_unloaded_repeatedly() -> None:
    for turn in range(100):
        kernel.load(name=NAME, parameters={"preset": ("default", "text", "guarded", "port", "flat", "h")[turn % 6]})
        kernel.unload(NAME)
    _wait_until_nothing_is_left()


@pytest.mark.root
@pytest.mark.usefixtures("_allowed")
def test_a_name_that_is_taken_is_refused(earlybird: Program) -> None:
    kernel.load(name=NAME)
    message = complaint(earlybird("kernel", "load", "pert", "--name", NAME))
    kernel.unload(NAME)
    assert f"`{NAME}` is taken" in message
    assert f"earlybird kernel unload --name {NAME}" in message


@pytest.mark.root
@pytest.mark.usefixtures("_allowed")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preset", "flatt"], ["preset: `flatt`", "did you mean `flat`?"]),
        (["--parameter", "first-threshold=12ms"], ["first-threshold: `12 ms`", "below second-threshold, 10 ms"]),
        (["--parameter", "maximum-probability=2"], ["maximum-probability: `2`", "from 0 to 1"]),
        (["--parameter", "largest-alpha=100"], ["largest-alpha: `100`", "from 1 to 64"]),
        (["--parameter", "alpha"], ["--parameter alpha", "key=value"]),
        (["--parameter", "aplha=direct"], ["aplha", "did you mean `alpha`?"]),
        (["--name", "much_too_long_for_it"], ["--name", "up to 15"]),
        (["--name", "per-t"], ["--name: `per-t`", "letters, digits, _ and dots"]),
        (["--name", "cubic"], ["`cubic` is taken"]),
        (["--namespace", "no-such-namespace"], ["--namespace: `no-such-namespace`", "self"]),
        (["--route", "203.0.113.77/32"], ["--route: `203.0.113.77/32`"]),
    ],
)
def test_a_wrong_option_is_named_and_nothing_is_loaded(
    earlybird: Program, options: list[str], words: list[str]
) -> None:
    named = [] if "--name" in options else ["--name", NAME]
    message = complaint(earlybird("kernel", "load", "pert", *named, *options))
    assert all(word in message for word in words), message
    _wait_until_nothing_is_left()


def test_other_congestion_controls_are_refused(earlybird: Program) -> None:
    message = complaint(earlybird("kernel", "load", "vegas"))
    assert "`vegas`" in message
    assert "pert" in message


def test_a_program_that_was_not_built_is_reported(earlybird: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "/nowhere")
    message = complaint(earlybird("kernel", "status"))
    assert "make kernel" in message
    assert "libelf-dev" in message


def test_an_ordinary_user_gets_the_list_of_what_is_missing(earlybird: Program) -> None:
    try:
        found = kernel.program()
    except EarlybirdError as error:
        pytest.skip(str(error))
    request = json.dumps({"load": {"name": NAME}})
    drop = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all"]
    if subprocess.run([*drop, "test", "-x", found], check=False).returncode:
        pytest.skip(f"an ordinary user cannot reach {found}")
    asked = subprocess.run([*drop, found, request], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr == ("earlybird: rights: without CAP_NET_ADMIN, CAP_PERFMON, CAP_BPF. Run as root (`sudo`).\n")


MACHINE = [
    "c[?7lSTEP ok boot 6.1",
    *(f"STEP ok {step}" for step in ("load", "transfer", "unload", "load again", "kill")),
]


@pytest.mark.parametrize(
    ("lines", "succeeds", "reported"),
    [
        ([*MACHINE, "STEP ok one command", "Power down"], True, "boot 6.1, load, transfer, .*Nothing failed"),
        ([*MACHINE, "STEP failed one command: wget: timed out"], False, "one command: wget: timed out"),
        ([*MACHINE, "Kernel panic"], False, "ended after 6 of 7 steps: .*Kernel panic"),
        ([], False, "nothing. ended after 0 of 7 steps"),
    ],
)
def test_a_kernel_that_ended_early_or_failed_a_step_is_reported(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: list[str],
    succeeds: object,
    reported: str,
) -> None:
    monkeypatch.setattr(kernel_versions, "image", lambda _: Path("vmlinuz-6.1"))
    monkeypatch.setattr(kernel_versions, "booted", lambda *_: lines)
    assert kernel_versions.tried("linux-image", Path("initramfs")) is succeeds
    assert re.search(reported, capsys.readouterr().out)


def test_what_a_virtual_machine_needs_is_named_where_it_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert kernel_versions.main() == 0
    assert capsys.readouterr().out == "skipped: apt-get install qemu-system-x86 busybox-static apt\n"
