"""Relays on a machine whose time of day jumps, and relays that speak another version."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from conftest import HUNG
from test_bad_peers import Feed, Screen
from test_transmit import free_port, relay

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JUMPING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

/* Each time that somebody asks, the time of day is an hour later than it is, or an hour earlier. */
static time_t jump(void) {
    static int asked;
    return __sync_fetch_and_add(&asked, 1) % 2 ? 3600 : -3600;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*really)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = really(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += jump();
    return result;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec exact;
    int result = clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return result;
}

time_t time(time_t *at) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (at) *at = exact.tv_sec;
    return exact.tv_sec;
}
"""


@pytest.fixture
def _jumping(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time of day jump for every program that is started."""
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("a clock that jumps takes a C compiler")
    source, library = tmp_path / "jumping.c", tmp_path / "jumping.so"
    source.write_text(JUMPING)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    ask = "import time; print(abs(time.time() - time.time()) > 7000, abs(time.monotonic() - time.monotonic()) < 1)"
    reported = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert reported == "True True\n"


@pytest.mark.usefixtures("_jumping")
@pytest.mark.parametrize("transport", ["earlybird-rt", "cubic-rack"])
def test_a_time_of_day_that_jumps_does_not_stop_or_hurry_a_stream(transport: str) -> None:
    port, screen = free_port(), Screen()
    with (
        Feed() as feed,
        relay("-q", f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener&transport={transport}"),
        relay("--json", f"eb://127.0.0.1:{port}?transport={transport}", f"udp://127.0.0.1:{screen.port}") as receiver,
    ):
        first = screen.next(10)
        last = screen.next(300)
        receiver.send_signal(signal.SIGTERM)
        out, err = receiver.communicate(timeout=HUNG)
    screen.close()
    # A datagram each 10 ms, of which a busy machine may lose some; none was an hour early or late.
    assert 300 <= last - first < 330
    assert receiver.returncode == 0, err
    assert '"reconnects": 0' in out.splitlines()[-1]


@contextmanager
def _another_version(listener: int) -> Iterator[int]:
    """Stand between a caller and a relay that waits, and have the caller's greeting name another version."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as facing,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as beyond,
    ):
        facing.bind(("127.0.0.1", 0))
        beyond.bind(("127.0.0.1", 0))
        caller: list[tuple[str, int]] = []
        port = facing.getsockname()[1]

        def there() -> None:
            while (came := facing.recvfrom(1 << 16))[0]:
                caller[:] = [came[1]]
                beyond.sendto(came[0].replace(b"EBRD\x01", b"EBRD\x02"), ("127.0.0.1", listener))

        def back() -> None:
            while answer := beyond.recv(1 << 16):
                facing.sendto(answer, caller[0])

        threads = [threading.Thread(target=direction, daemon=True) for direction in (there, back)]
        for thread in threads:
            thread.start()
        yield port
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", port))
            last.sendto(b"", beyond.getsockname())
        for thread in threads:
            thread.join()


def test_a_relay_of_another_version_is_reported_in_one_line_on_both_sides() -> None:
    port = free_port()
    words = "Not connected: the other side uses another protocol version: use the same earlybird"
    with (
        _another_version(port) as between,
        relay(f"udp://127.0.0.1:{free_port()}", f"eb://127.0.0.1:{port}?mode=listener") as listener,
        relay(f"eb://127.0.0.1:{between}", "file:/dev/null") as caller,
    ):
        for one in (caller, listener):
            assert one.stderr is not None
            line = ""
            while words not in line:
                line = one.stderr.readline()
                assert line, "it has ended"
            # It goes on trying, as the other one may be replaced, and ends as every stream that is ended.
            assert one.poll() is None
            one.send_signal(signal.SIGTERM)
            _, rest = one.communicate(timeout=HUNG)
            assert one.returncode == 0
            assert not re.search("Traceback|panicked", rest)
