"""Faults beside a stream between two relays in namespaces: the stream loses the outage only; disks that are full."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import pytest

from conftest import HUNG, Finished, command
from test_bad_peers import Feed, Screen, _resident, _syn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


Made = TypeVar("Made")
Started: TypeAlias = "subprocess.Popen[str]"
NEAR, FAR = "10.99.0.1", "10.99.0.2"
INTERVAL: Final = 0.01
"""Seconds between two datagrams of the source."""
LATENCY: Final = 0.12
"""The default of relays, in seconds."""
RECOVERY: Final = 1.0
"""
Seconds of the stream that may be lost beside those of the outage: the timeout after which a sender tries again doubles
(RFC 6298 §5.5), up to the length of the outage; and the machine is busy.
"""
PASSPHRASE: Final = "correct-horse-battery-staple"


def inside(process: int, make: Callable[[], Made]) -> Made:
    """Make something, such as a socket, in the network namespace of a process; only a thread of its own moves there."""
    made: list[Made] = []

    def act() -> None:
        with open(f"/proc/{process}/ns/net", "rb") as namespace:  # noqa: PTH123
            assert ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0) == 0, os.strerror(ctypes.get_errno())
        made.append(make())

    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
    return made[0]


class Hosts:
    """Two hosts with a link between them."""

    def __init__(self, near: int, far: int) -> None:
        self.near, self.far = near, far

    def run(self, process: int, *words: str) -> str:
        """Run a command on the host of a process."""
        line = ["nsenter", f"--net=/proc/{process}/ns/net", *words]
        return subprocess.run(line, check=True, capture_output=True, text=True).stdout

    @contextmanager
    def relay(self, process: int, *arguments: str, **environment: str) -> Iterator[Started]:
        """Run a relay on the host of a process."""
        line = ["nsenter", f"--net=/proc/{process}/ns/net", *command("transmit", *arguments)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started = subprocess.Popen(line, env={**os.environ, **environment}, **pipes)
        try:
            yield started
        finally:
            started.kill()
            started.communicate()


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    """Make two hosts, near and far."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "nsenter"))):
        pytest.skip("needs root, ip and nsenter")
    with ExitStack() as stack:
        line = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        holders = [stack.enter_context(subprocess.Popen(line, **pipes)) for _ in range(2)]
        for holder in holders:
            stack.callback(holder.kill)
            if not holder.stdout or holder.stdout.readline() != "ready\n":
                pytest.skip("this system gives no network namespaces")
        made = Hosts(holders[0].pid, holders[1].pid)
        made.run(made.near, *f"ip link add eth0 type veth peer name eth0 netns {made.far}".split())
        for process, address in ((made.near, NEAR), (made.far, FAR)):
            made.run(process, *f"ip address add {address}/24 dev eth0".split())
            made.run(process, *["ip", "link", "set", "eth0", "up"])
        yield made


class Stream:
    """A stream of numbered datagrams over two relays, and what has come of it."""

    def __init__(self, feed: Feed, screen: Screen, sender: Started, receiver: Started) -> None:
        self.feed, self.screen, self.sender, self.receiver = feed, screen, sender, receiver

    def play(self, seconds: float) -> list[int]:
        """Return the numbers that came while that much of the stream was sent, by the numbers."""
        numbers = [self.screen.next()]
        while numbers[-1] < numbers[0] + seconds / INTERVAL:
            numbers.append(self.screen.next())
        return numbers

    def end(self) -> str:
        """End both relays, and return the lines of the receiver's."""
        for process in (self.receiver, self.sender):
            process.send_signal(signal.SIGTERM)
        _, err = self.receiver.communicate(timeout=HUNG)
        return err


@contextmanager
def streaming(hosts: Hosts, options: str, **environment: str) -> Iterator[Stream]:
    """Send a stream from the near host, which listens, to the far one."""
    with ExitStack() as stack:
        screen = inside(hosts.far, Screen)
        stack.callback(screen.close)
        feed = stack.enter_context(inside(hosts.near, Feed))
        ends = f"udp://127.0.0.1:{feed.port}", f"eb://{NEAR}:4201?mode=listener&{options}"
        sender = stack.enter_context(hosts.relay(hosts.near, "-q", *ends, **environment))
        ends = f"eb://{NEAR}:4201?{options}", f"udp://127.0.0.1:{screen.port}"
        receiver = stack.enter_context(hosts.relay(hosts.far, *ends, **environment))
        screen.next(50)
        yield Stream(feed, screen, sender, receiver)


def lost(numbers: list[int]) -> int:
    """Return how many are missing; each came once and in order."""
    assert numbers == sorted(set(numbers))
    return numbers[-1] - numbers[0] + 1 - len(numbers)


OPTIONS: Final = ("insecure=1", f"passphrase={PASSPHRASE}")


def stop(hosts: Hosts, stream: Stream, victim: str, seconds: float) -> None:
    """Stop a relay, or its link, for some seconds."""
    if victim == "link":
        hosts.run(hosts.far, *["ip", "link", "set", "eth0", "down"])
        time.sleep(seconds)
        hosts.run(hosts.far, *["ip", "link", "set", "eth0", "up"])
        return
    process = stream.sender if victim == "sender" else stream.receiver
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


@pytest.mark.root
@pytest.mark.parametrize("victim", ["sender", "receiver", "link"])
@pytest.mark.parametrize("options", OPTIONS, ids=["insecure", "passphrase"])
def test_a_stopped_relay_or_link_costs_the_outage_only(hosts: Hosts, victim: str, options: str) -> None:
    outage = 2.0
    with streaming(hosts, options) as stream:
        assert lost(stream.play(1)) == 0
        stop(hosts, stream, victim, outage)
        missing = lost(stream.play(outage + 5))
        print(victim, options, "lost", missing)
        assert missing <= (outage + LATENCY + RECOVERY) / INTERVAL
        assert lost(stream.play(1)) == 0
        assert "Traceback" not in stream.end()


@pytest.mark.root
@pytest.mark.parametrize("options", OPTIONS, ids=["insecure", "passphrase"])
def test_a_link_that_shrinks_in_mid_stream_costs_one_unit(hosts: Hosts, options: str) -> None:
    with streaming(hosts, options) as stream:
        assert lost(stream.play(1)) == 0
        hosts.run(hosts.near, *["ip", "link", "set", "eth0", "mtu", "1280"])
        missing = lost(stream.play(3))
        print("mtu", options, "lost", missing)
        assert missing <= 1  # the unit that was cut to the former size when the link refused it
        hosts.run(hosts.near, *["ip", "link", "set", "eth0", "mtu", "1500"])
        assert lost(stream.play(1)) == 0


CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static long long offset(void) {
    char text[32] = "";
    int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
    if (file >= 0) { if (read(file, text, sizeof text - 1) < 0) text[0] = 0; close(file); }
    return atoll(text);
}
int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*original)(clockid_t, struct timespec *);
    if (!original) original = dlsym(RTLD_NEXT, "clock_gettime");
    int code = original(clock, at);
    if (clock == CLOCK_REALTIME) at->tv_sec += offset();
    return code;
}
"""
"""A library that shifts the time of day by the seconds in a file."""


@pytest.fixture
def clock(tmp_path: Path) -> dict[str, str]:
    """Build the library; returns the environment of programs whose time of day the file shifts."""
    if not shutil.which("cc"):
        pytest.skip("there is no C compiler")
    (tmp_path / "clock.c").write_text(CLOCK)
    library = tmp_path / "clock.so"
    line = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(tmp_path / "clock.c"), "-ldl"]
    subprocess.run(line, check=True, capture_output=True)
    (tmp_path / "offset").write_text("0")
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(tmp_path / "offset")}


@pytest.mark.root
def test_a_time_of_day_that_jumps_costs_nothing(hosts: Hosts, clock: dict[str, str], tmp_path: Path) -> None:
    year = ["python3", "-c", "import time; print(time.gmtime(time.time()).tm_year)"]
    with streaming(hosts, OPTIONS[1], **clock) as stream:
        numbers = stream.play(0.5)
        for seconds in (86400 * 365 * 10, -86400 * 365 * 30, -3600, 3600, 0):
            (tmp_path / "offset").write_text(str(seconds))
            numbers += stream.play(0.5)
        (tmp_path / "offset").write_text(str(86400 * 365 * 10))
        shifted = subprocess.run(year, env={**os.environ, **clock}, check=True, capture_output=True, text=True).stdout
        assert int(shifted) >= time.gmtime().tm_year + 9, "the library has no effect"
        assert lost(numbers) == 0
        assert "Traceback" not in stream.end()


class Flood:
    """Datagrams of strangers to a port: SYNs that are never followed up, of many addresses, or noise."""

    def __init__(self, per_second: int, make: Callable[[int], bytes]) -> None:
        self.sent = 0
        self._per_second, self._make = per_second, make
        self._sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(64)]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send)

    def __enter__(self) -> Flood:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._stopped.set()
        self._thread.join()
        for one in self._sockets:
            one.close()

    def _send(self) -> None:
        began = time.monotonic()
        while not self._stopped.wait(0.005):
            while self.sent < (time.monotonic() - began) * self._per_second:
                self._sockets[self.sent % len(self._sockets)].sendto(self._make(self.sent), (NEAR, 4201))
                self.sent += 1


FLOOD: Final = float(os.environ.get("FLOOD", "3"))
"""Seconds of each flood; 10 make 100,000 attempts."""
RATE: Final = 10_000
"""Datagrams a second."""


def _noise(number: int) -> bytes:
    """Make a datagram that begins like the first one of a handshake with a key, or like encrypted data."""
    return bytes([1 + 3 * (number % 2)]) + os.urandom(199)


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.parametrize("make", [_syn, _noise], ids=["half-open attempts", "noise"])
@pytest.mark.parametrize("options", OPTIONS, ids=["insecure", "passphrase"])
def test_a_flood_costs_a_stream_nothing(hosts: Hosts, options: str, make: Callable[[int], bytes]) -> None:
    with streaming(hosts, options) as stream:
        before, memory = lost(stream.play(2)), _resident(stream.sender.pid)
        with inside(hosts.far, lambda: Flood(RATE, make)) as flood:
            during = lost(stream.play(FLOOD))
            sent = flood.sent
        grown = _resident(stream.sender.pid) - memory
        after = lost(stream.play(1))
    print(make.__name__, options, sent, "sent; lost", before, during, after, f"memory {grown / 1e6:.1f} MB")
    assert sent > RATE * FLOOD / 2
    assert (before, during, after) == (0, 0, 0)
    assert grown < 20 << 20


FULL = """
mount -t tmpfs -o size=1m tmpfs "$1" || exit 77
cd "$1" && shift
head -c 1044480 /dev/zero > filler 2> /dev/null
"$@"
code=$?
rm filler
find . -type f -o -type l | sort > /dev/fd/3
exit $code
"""
"""Runs a command on a disk of a megabyte, of which a page is left; lists what is there behind it."""


def on_full_disk(folder: Path, *arguments: str) -> tuple[Finished, list[str]]:
    """Run the program on a full disk; return its end and the files that it left."""
    listing = os.memfd_create("listing")
    line = ["unshare", "--mount", "sh", "-c", f"exec 3>/proc/self/fd/{listing}; {FULL}", "sh", str(folder)]
    done = subprocess.run(
        [*line, *command(*arguments)], capture_output=True, text=True, check=False, timeout=HUNG, pass_fds=[listing]
    )
    if done.returncode == NO_DISK or "unshare failed" in done.stderr:
        pytest.skip(f"this system gives no disk of one's own: {done.stderr}")
    with os.fdopen(listing) as file:
        file.seek(0)
        return Finished(done.returncode, done.stdout, done.stderr), file.read().split()


NO_DISK: Final = 77
SCENARIO: Final = "{folder}/small.toml"


@pytest.mark.root
@pytest.mark.parametrize(
    "line",
    [
        ("run", SCENARIO, "--output", "results"),
        ("sweep", SCENARIO, "--output", "results", "--jobs", "2"),
        ("study", "run", "streaming-model", "--scale", "smoke", "--output", "results"),
        ("run", SCENARIO, "--set", "measure.series=100ms", "--plot", "page.html"),
    ],
    ids=["run", "sweep", "study", "plot"],
)
def test_a_full_disk_is_one_line_and_leaves_no_part_of_a_file(
    tmp_path: Path, small: Path, line: tuple[str, ...]
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    done, left = on_full_disk(disk, *(word.replace("{folder}", str(small.parent)) for word in line))
    complaints = [text for text in done.err.splitlines() if "simulating" not in text and "warning" not in text]
    assert done.code == 2, done
    assert len(complaints) == 1, done.err
    assert "No space left on device; free some space and repeat the command." in complaints[0]
    assert not [name for name in left if name != "./filler"], left
