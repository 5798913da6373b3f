"""Commands in emulated networks that lead to the Internet, which here is another network of this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import HUNG
from earlybird import internet
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from test_ordinary_user import DROP, NOT_ALLOWED

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, SERVER = "198.51.100.1", "198.51.100.2"
"""Of TEST-NET-2 (RFC 5737), where nobody is."""
TOOLS = ("iptables", "nft", "slirp4netns")
FORWARDS = Path("/proc/sys/net/ipv4/ip_forward")

ANSWER = f"""
import socket
with socket.create_server(("{SERVER}", 8000)) as listener:
    print("ready", flush=True)
    while True:
        caller, (address, _) = listener.accept()
        with caller:
            caller.sendall(address.encode())
"""
ASK = f"import socket; print(socket.create_connection(('{SERVER}', 8000)).recv(100).decode(), end='')"


@pytest.fixture(scope="module")
def _outside() -> Iterator[None]:
    """Make a network with a server that tells who called, beside this machine."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("a network beside this machine takes root and `ip`")
    server = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", 'read network; exec "$0" -c "$1"', sys.executable, ANSWER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    steps = [
        f"link add ebtest type veth peer name ebin netns {server.pid}",
        f"address add {HOST}/24 dev ebtest",
        "link set ebtest up",
    ]
    inside = ["link set lo up", f"address add {SERVER}/24 dev ebin", "link set ebin up"]
    with server:
        try:
            while Path(f"/proc/{server.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
                time.sleep(0.01)  # it is still to leave this one
            for step in steps:
                subprocess.run(["ip", *step.split()], check=True)
            for step in inside:
                subprocess.run(["nsenter", f"--net=/proc/{server.pid}/ns/net", "ip", *step.split()], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            server.kill()
            pytest.skip(f"this system gives no network beside this machine: {error}")
        try:
            server.stdin.write("there\n")
            server.stdin.flush()
            assert server.stdout.readline() == "ready\n"
            yield
        finally:
            server.kill()


def _only(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing else lead to the Internet."""
    if not shutil.which(tool):
        pytest.skip(f"there is no {tool}")
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: which(name) if name == tool else None)


@pytest.fixture
def _firewall() -> None:
    """Need what leads to the Internet by this machine's own rules."""
    if not any(map(shutil.which, ("iptables", "nft"))):
        pytest.skip("there is neither iptables nor nft (Debian: apt-get install nftables)")


def _rules() -> str:
    lists = ("iptables -S", "iptables -t nat -S", "nft list tables")
    known = [words.split() for words in lists if shutil.which(words.split()[0])]
    return "".join(subprocess.run(words, capture_output=True, text=True, check=True).stdout for words in known)


@pytest.mark.usefixtures("_outside")
@pytest.mark.parametrize("tool", TOOLS)
def test_a_command_reaches_another_network_over_the_links(
    tool: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _only(tool, monkeypatch)
    forwarded = FORWARDS.read_text()
    shape = link(rate="10M", delay="20ms")
    outcome = emulate(network(shape, shape), [sys.executable, "-c", ASK], internet=True)
    assert outcome.exit_code == 0
    assert capfd.readouterr().out == HOST
    assert outcome.summary["time_s"] > 4 * 0.02
    assert all(side["packets_out"] >= 3 for side in outcome.summary["links"])
    assert FORWARDS.read_text() == forwarded


@pytest.mark.usefixtures("_outside")
def test_an_ordinary_user_reaches_another_network() -> None:
    if not shutil.which("slirp4netns"):
        pytest.skip("there is no slirp4netns")
    # A Python that only root can run is replaced by a command that every user can run.
    ask = ["bash", "-c", f"cat < /dev/tcp/{SERVER}/8000"]
    act = f"""
shape = link(rate="10M", delay="20ms")
sys.exit(emulate(network(shape, shape), {ask!r}, internet=True).exit_code)
"""
    script = DROP + act
    finished = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=HUNG)
    if NOT_ALLOWED in finished.stderr:
        pytest.skip(finished.stderr.splitlines()[-1])
    assert (finished.returncode, finished.stdout) == (0, HOST), finished.stderr


@pytest.mark.usefixtures("_outside", "_firewall")
def test_nothing_is_left_in_this_machines_network_by_who_is_killed() -> None:
    before, forwarded = _rules(), FORWARDS.read_text()
    arguments = ["emulate", "--rate", "10M", "--internet", "--", "sh", "-c", "echo ready; sleep 600"]
    with subprocess.Popen([sys.executable, "-m", "earlybird", *arguments], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        assert _rules() != before
        assert FORWARDS.read_text() == "1\n"
        running.send_signal(signal.SIGKILL)
        running.wait()
    end = time.monotonic() + HUNG
    while (_rules(), FORWARDS.read_text()) != (before, forwarded):
        assert time.monotonic() < end, _rules()
        time.sleep(0.05)


@pytest.mark.usefixtures("_outside", "_firewall")
def test_names_are_resolved_by_whom_the_command_can_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    here, away = tmp_path / "stub.conf", tmp_path / "resolv.conf"
    here.write_text("nameserver 127.0.0.53\n")
    away.write_text(f"nameserver {SERVER}\n")
    monkeypatch.setattr(internet, "RESOLVERS", (here, away))
    shape, own = link(rate="10M"), Path("/etc/resolv.conf").read_text()
    assert emulate(network(shape, shape), ["cat", "/etc/resolv.conf"], internet=True).exit_code == 0
    assert capfd.readouterr().out == away.read_text()
    assert Path("/etc/resolv.conf").read_text() == own
    monkeypatch.setattr(internet, "RESOLVERS", (here,))
    with pytest.raises(EarlybirdError, match=r"--internet: names are resolved .* loopback address"):
        emulate(network(shape, shape), ["true"], internet=True)


@pytest.mark.parametrize(
    ("user", "servers", "words"),
    [
        (0, False, "iptables or nft or slirp4netns. Install one, such as by `apt-get install nftables`"),
        (0, True, "which takes slirp4netns. Install one, such as by `apt-get install slirp4netns`"),
        (1000, False, "which takes slirp4netns. Install one, such as by `apt-get install slirp4netns`"),
    ],
)
def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, user: int, servers: bool, words: str) -> None:  # noqa: FBT001
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    with pytest.raises(EarlybirdError, match=f"--internet: .*{words}"):
        internet.resolver_hint(has_servers=servers)
