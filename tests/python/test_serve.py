"""Unmodified clients and servers with our endpoint between them, in two network namespaces over a lossy link."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from conftest import HUNG, command
from earlybird.serving import DEVICE, connected, listened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Finished

SERVER: Final = "10.77.0.2"
"""The address of the far side of an emulated network."""
SERVER_V6: Final = "[fd77::2]"
ROUTED: Final = "203.0.113.7"
"""Of TEST-NET-3: no machine has it, so that it is routed to the endpoint."""
MEGABYTES: Final = 3

SERVE_FILES = """
import functools, http.server, os, pathlib, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    log_message = lambda *_: None
server = http.server.ThreadingHTTPServer
server.request_queue_size = 2048
made = server(("127.0.0.1", 8080), functools.partial(Handler, directory=sys.argv[1]))
made_file = pathlib.Path(sys.argv[2] + ".new")
made_file.write_text(str(os.getpid()))
made_file.rename(sys.argv[2])
made.serve_forever()
"""
WAIT = """
import os, pathlib, sys
made_file = pathlib.Path(sys.argv[1] + ".new")
made_file.write_text(str(os.getpid()))
made_file.rename(sys.argv[1])
sys.stdin.read()
"""


class Host:
    """A network namespace, in which programs run."""

    def __init__(self, file: Path, network: subprocess.Popen[str]) -> None:
        wait(lambda: file.exists() or network.poll() is not None)
        if network.poll() is not None:
            pytest.skip(network.communicate()[1])
        self.namespace = f"/proc/{file.read_text()}/ns/net"

    def start(self, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
        """Start a program."""
        line = ["nsenter", f"--net={self.namespace}", *arguments]
        return subprocess.Popen(line, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str) -> str:
        """Run a program, and return what it prints."""
        with self.start(*arguments) as process:
            out, err = process.communicate(timeout=HUNG)
        assert process.returncode == 0, (arguments, out, err)
        return out

    def python(self, script: str, *arguments: str) -> str:
        """Run a script of Python."""
        return self.run(sys.executable, "-c", script, *arguments)


class Machines:
    """A server with a folder of files, and a client."""

    def __init__(self, server: Host, client: Host, folder: Path) -> None:
        self.server, self.client, self.folder = server, client, folder

    @contextmanager
    def serving(self, *options: str, listen: str = f"{SERVER}:80", to: str = "127.0.0.1:8080") -> Iterator[Serving]:
        """Run the program beside the server until the end."""
        process = self.server.start(*command("serve", "--listen", listen, "--to", to, "--json", *options))
        try:
            yield Serving(process)
        finally:
            process.kill()
            process.communicate()
            wait(lambda: not self.traces())

    def traces(self) -> list[str]:
        """Return what a program has left: its device, its rules, forwarding."""
        links, rules = self.server.run("ip", "link"), self.server.run("nft", "list", "ruleset")
        forwards = self.server.run("cat", "/proc/sys/net/ipv4/ip_forward")
        has_rules = "earlybird" in rules or DEVICE in rules
        found = {"device": DEVICE in links, "rules": has_rules, "forwarding": forwards.strip() != "0"}
        return [name for name, is_left in found.items() if is_left]


class Serving:
    """A running program, which accepts connections."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.report()

    def report(self) -> dict[str, Any]:
        """Return the next report."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()
        report: dict[str, Any] = json.loads(line)
        return report

    def until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Return the first report of which something is true."""
        until = time.monotonic() + HUNG
        while not is_so(report := self.report()):
            assert time.monotonic() < until, report
        return report


def wait(is_so: Callable[[], bool]) -> None:
    """Wait until something is true."""
    until = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    """Connect two hosts by a link of 20 ms that loses 2 % of the packets in both directions."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "nft", "curl", "nsenter"))):
        pytest.skip("serve takes root, ip and nft, and this test curl")
    folder, pids = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("pids")
    (folder / "film").write_bytes(random.Random(1).randbytes(MEGABYTES << 20))
    shape = ("--rate", "50M", "--delay", "20ms", "--loss", "2%")
    files = shlex.join([sys.executable, "-c", SERVE_FILES, str(folder), str(pids / "server")])
    waits = [sys.executable, "-c", WAIT, str(pids / "client")]
    arguments = command("emulate", *shape, "--server", files, "--", *waits)
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as network:
        try:
            hosts = [Host(pids / name, network) for name in ("server", "client")]
            yield Machines(hosts[0], hosts[1], folder)
        finally:
            network.communicate()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("listen", [f"{SERVER}:80", ":80", f"{ROUTED}:80", f"{SERVER_V6}:80"])
def test_a_file_arrives_byte_for_byte_over_a_lossy_link(machines: Machines, tmp_path: Path, listen: str) -> None:
    address = listen.removesuffix(":80") or SERVER
    if address == SERVER_V6:
        machines.server.run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
    with machines.serving(listen=listen) as served:
        machines.client.run("curl", "-sSf", "--max-time", "300", "-o", str(tmp_path / "copy"), f"http://{address}/film")
        report = served.until(lambda report: report["accepted"] > 0 and report["open"] == 0)
    assert sha256(tmp_path / "copy") == sha256(machines.folder / "film")
    assert (report["accepted"], report["refused"], report["unreachable"], report["broken"]) == (1, 0, 0, 0)
    assert report["bytes_out"] > MEGABYTES << 20
    assert report["fast_retransmits"] > 0
    assert report["retransmissions"] > 0.01 * report["segments_sent"]


@pytest.mark.skipif(not shutil.which("iptables"), reason="no iptables")
def test_a_machine_that_refuses_to_forward_lets_the_packets_pass(machines: Machines) -> None:
    machines.server.run("iptables", "-P", "FORWARD", "DROP")
    try:
        with machines.serving():
            machines.client.run("curl", "-sSf", "--max-time", "300", "-o", "/dev/null", f"http://{SERVER}/film")
        assert machines.server.run("iptables", "-S", "FORWARD") == "-P FORWARD DROP\n"
    finally:
        machines.server.run("iptables", "-P", "FORWARD", "ACCEPT")


ASK_TOGETHER = """
import asyncio, hashlib, sys
async def fetch(everybody, count):
    reader, writer = await asyncio.open_connection(sys.argv[1], 80)
    await everybody.wait()
    writer.write(b"GET /small HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    answer = await reader.read(-1)
    writer.close()
    return hashlib.sha256(answer.partition(b"\\r\\n\\r\\n")[2]).hexdigest()
async def main(count):
    everybody = asyncio.Barrier(count)
    print(*set(await asyncio.gather(*(fetch(everybody, count) for _ in range(count)))), end="")
asyncio.run(main(int(sys.argv[2])))
"""


@pytest.mark.parametrize("count", [200, 1000])
def test_connections_that_are_open_at_once_all_get_the_file(machines: Machines, count: int) -> None:
    (machines.folder / "small").write_bytes(random.Random(2).randbytes(20_000))
    with machines.serving() as served:
        client = machines.client.start(sys.executable, "-c", ASK_TOGETHER, SERVER, str(count))
        served.until(lambda report: report["accepted"] >= count)
        out, err = client.communicate(timeout=HUNG)
        report = served.until(lambda report: report["open"] == 0)
    assert out == sha256(machines.folder / "small"), err
    assert (report["accepted"], report["refused"], report["unreachable"], report["broken"]) == (count, 0, 0, 0)


READ_SLOWLY = """
import hashlib, socket, sys
with socket.socket() as client:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    client.connect((sys.argv[1], 80))
    client.sendall(b"GET /film HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n")
    print("asked", flush=True)
    sys.stdin.readline()
    answer = b"".join(iter(lambda: client.recv(65536), b""))
print(hashlib.sha256(answer.partition(b"\\r\\n\\r\\n")[2]).hexdigest(), end="")
"""


def test_the_server_waits_for_a_client_that_does_not_read(machines: Machines) -> None:
    with machines.serving() as served:
        client = machines.client.start(sys.executable, "-c", READ_SLOWLY, SERVER, stdin=subprocess.PIPE)
        served.until(lambda report: report["bytes_out"] > 0)
        reports = [served.report() for _ in range(4)]
        out, err = client.communicate("read\n", timeout=HUNG)
    # 192 kB that wait in the sender, and the client's window of twice its buffer (`tcp(7)`).
    assert reports[-1]["bytes_out"] == reports[-2]["bytes_out"] < 400_000
    assert out.split() == ["asked", sha256(machines.folder / "film")], err


CONNECT = """
import socket, sys, time
began = time.monotonic()
try:
    with socket.create_connection((sys.argv[1], 80), timeout=60) as client:
        client.sendall(b"hello")
        print(client.recv(100), end="")
except OSError as error:
    print(type(error).__name__, time.monotonic() - began < 5, end="")
"""


def test_a_client_is_reset_at_once_while_the_server_is_down(machines: Machines) -> None:
    with machines.serving(to="127.0.0.1:9") as served:
        assert machines.client.python(CONNECT, SERVER) == "ConnectionResetError True"
        report = served.until(lambda report: report["unreachable"] > 0)
    assert (report["open"], report["accepted"], report["unreachable"]) == (0, 1, 1)


LISTEN = """
import hashlib, socket, struct, sys
def reset(peer):
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
with socket.create_server(("127.0.0.1", 8081)) as listener:
    print("ready", flush=True)
    with listener.accept()[0] as peer:
        try:
            match sys.argv[1]:
                case "reset":
                    peer.recv(100)
                    reset(peer)
                case "close first":
                    peer.sendall(b"all")
                    peer.shutdown(socket.SHUT_WR)
                    print(b"".join(iter(lambda: peer.recv(65536), b"")), end="")
                case "digest":
                    received = b"".join(iter(lambda: peer.recv(65536), b""))
                    peer.sendall(hashlib.sha256(received).hexdigest().encode())
        except OSError as error:
            print(type(error).__name__, end="")
"""
CALL = """
import hashlib, random, socket, struct, sys, time
with socket.create_connection((sys.argv[1], 80), timeout=60) as client:
    match sys.argv[2]:
        case "send and half-close":
            data = random.Random(3).randbytes(1_000_000)
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
            print(answer.decode() == hashlib.sha256(data).hexdigest(), end="")
        case "read, then send":
            print(b"".join(iter(lambda: client.recv(65536), b"")), end="")
            client.sendall(b"thanks")
        case "reset":
            client.sendall(b"hello")
            time.sleep(0.5)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        case "await reset":
            try:
                client.sendall(b"hello")
                print(client.recv(100), end="")
            except OSError as error:
                print(type(error).__name__, end="")
"""


@pytest.mark.parametrize(
    ("server", "client", "answered", "read"),
    [
        ("digest", "send and half-close", "", "True"),
        ("close first", "read, then send", "b'thanks'", "b'all'"),
        ("digest", "reset", "ConnectionResetError", ""),
        ("reset", "await reset", "", "ConnectionResetError"),
    ],
)
def test_half_closes_and_resets_are_forwarded(
    machines: Machines, server: str, client: str, answered: str, read: str
) -> None:
    with (
        machines.serving(to="127.0.0.1:8081") as served,
        machines.server.start(sys.executable, "-c", LISTEN, server) as listener,
    ):
        assert listener.stdout is not None
        assert listener.stdout.readline() == "ready\n"
        assert machines.client.python(CALL, SERVER, client) == read
        assert listener.communicate(timeout=HUNG)[0] == answered
        report = served.until(lambda report: report["accepted"] > 0 and report["open"] == 0)
    assert report["broken"] == int("Reset" in answered + read)


def test_connections_beyond_the_limit_are_reset_and_idle_ones_end(machines: Machines) -> None:
    with machines.serving("--max-connections", "1", "--idle-timeout", "5") as served:
        first = machines.client.start(sys.executable, "-c", CONNECT, SERVER)
        served.until(lambda report: report["open"] == 1)
        assert machines.client.python(CONNECT, SERVER) == "ConnectionResetError True"
        # The server awaits the rest of the first client's request.
        report = served.until(lambda report: report["idle"] > 0)
        assert first.communicate(timeout=HUNG)[0] == "ConnectionResetError False"
    assert (report["accepted"], report["refused"]) == (1, 1)


def test_sigterm_lets_connections_end_and_refuses_new_ones(machines: Machines) -> None:
    with machines.serving() as served:
        client = machines.client.start(sys.executable, "-c", READ_SLOWLY, SERVER, stdin=subprocess.PIPE)
        served.until(lambda report: report["bytes_out"] > 0)
        served.process.send_signal(signal.SIGTERM)
        served.until(lambda report: report["is_draining"])
        assert machines.client.python(CONNECT, SERVER) == "ConnectionRefusedError True"
        out, err = client.communicate("read\n", timeout=HUNG)
        assert out.split() == ["asked", sha256(machines.folder / "film")], err
        assert served.process.wait(HUNG) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_it_ends(machines: Machines, number: signal.Signals) -> None:
    """Also if the shell that removes the rules was killed, at the next start."""
    machines.server.run("nft", "create", "table", "inet", "earlybird_eb_serve")
    with machines.serving() as served:
        client = machines.client.start(sys.executable, "-c", CONNECT, SERVER)
        served.until(lambda report: report["open"] == 1)
        assert machines.traces() == ["device", "rules", "forwarding"]
        served.process.send_signal(number)
        assert served.process.wait(HUNG) == {signal.SIGINT: 0, signal.SIGKILL: -9}[number]
        wait(lambda: not machines.traces())
        client.kill()
        client.communicate()


def test_numbers_are_exported_to_prometheus(machines: Machines) -> None:
    with machines.serving("--prometheus", "9100"):
        machines.client.run("curl", "-sSf", "-o", "/dev/null", f"http://{SERVER}/film")
        page = machines.server.run("curl", "-sSf", "http://127.0.0.1:9100/metrics")
    assert "earlybird_serve_accepted_total 1.0" in page


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--listen", "nowhere", "--to", "127.0.0.1:80"), "--listen nowhere: give an address and a port"),
        (("--listen", "example.org:80", "--to", "127.0.0.1:80"), "`example.org` is no IP address"),
        (("--listen", "127.0.0.1:80", "--to", "127.0.0.1:81"), "loopback"),
        (("--listen", "10.76.0.2:80", "--to", "127.0.0.1"), "--to 127.0.0.1: give an address and a port"),
        (("--listen", "10.76.0.2:80", "--to", "127.0.0.1:81", "--transport", "perter"), "pert"),
        (("--listen", "10.76.0.2:80", "--to", "127.0.0.1:81", "--transport", "earlybird-rt"), "sends frames"),
        (("--listen", "10.76.0.2:80", "--to", "127.0.0.1:81", "--device", "an/other"), "--device an/other"),
        (("--listen", ":80", "--to", "127.0.0.1:81", "--inside", "fd76::2"), "--inside fd76::2: give an unused"),
        (("--listen", ":80", "--to", "127.0.0.1:81", "--prometheus", "x"), "--prometheus x"),
    ],
)
def test_what_cannot_be_served_is_one_line_on_the_error_stream(
    earlybird: Callable[..., Finished], options: tuple[str, ...], words: str
) -> None:
    ended = earlybird("serve", *options)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert ended.err.count("\n") == 1


def test_a_server_that_would_be_redirected_to_the_proxy_is_refused(machines: Machines) -> None:
    with machines.server.start(*command("serve", "--listen", ":8080", "--to", f"{SERVER}:8080")) as process:
        assert "redirected to this proxy itself" in process.communicate(timeout=HUNG)[1]
        assert process.returncode == 2
    assert not machines.traces()


def test_addresses_are_read_as_in_a_url() -> None:
    assert str(listened("[2001:db8::5]:443")) == "[2001:db8::5]:443"
    assert str(listened(":80")) == "0.0.0.0:80"
    assert str(connected(":8080")) == "127.0.0.1:8080"
