"""Relays whose other side is none, another one, stands still, or dies; disks that are full; ports that are flooded."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conftest import HUNG
from earlybird.cli.live import relay_line
from earlybird.cli.transmit import _file, _Lines
from earlybird.errors import InputError
from earlybird.state_file import states_to
from earlybird.transmission import transmit
from test_cli_input import complaint
from test_live import report
from test_transmit import free_port, relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from test_cli_input import Program

PACKET = bytes([0x47]) + bytes(187)


class Feed:
    """A source: some datagrams of a transport stream each 10 ms, numbered."""

    def __init__(self) -> None:
        self.port = free_port()
        self._out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> Feed:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self._stopped.set()
        self._thread.join()
        self._out.close()

    def _send(self) -> None:
        number = 0
        while not self._stopped.wait(0.01):
            try:
                self._out.sendto((PACKET[:4] + number.to_bytes(4, "big") + PACKET[8:]) * 7, ("127.0.0.1", self.port))
                number += 1
            except ConnectionRefusedError:
                continue  # the relay is not there yet


class Screen:
    """The destination of a stream: the datagrams that came, which must be whole."""

    def __init__(self) -> None:
        self._entry = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._entry.bind(("127.0.0.1", 0))
        self._entry.settimeout(HUNG)
        self.port = self._entry.getsockname()[1]

    def next(self, count: int = 1) -> int:
        """Wait for some datagrams; return the number of the last one."""
        for _ in range(count):
            datagram = self._entry.recv(1 << 16)
            assert len(datagram) == 7 * len(PACKET)
            assert datagram == datagram[: len(PACKET)] * 7
        return int.from_bytes(datagram[4:8], "big")

    def newer(self, number: int) -> int:
        """Wait until something newer than a datagram comes."""
        while (last := self.next()) <= number:
            pass
        return last

    def close(self) -> None:
        """Close it."""
        self._entry.close()


@pytest.fixture
def screen() -> Iterator[Screen]:
    """Make a place where a stream is shown."""
    one = Screen()
    yield one
    one.close()


@pytest.fixture
def feed() -> Iterator[Feed]:
    """Make a source."""
    with Feed() as one:
        yield one


def reports(source: str, destination: str, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Run a relay in this process until a report says so; return that."""
    found: dict[str, Any] = {}
    end = time.monotonic() + HUNG

    def watch(state: dict[str, Any] | None) -> bool:
        assert time.monotonic() < end, state
        if state and until(state):
            found.update(state)
        return not found

    transmit(source, destination, watch=watch)
    return found


@contextmanager
def unknown_peer(answer: Callable[[bytes], list[bytes]]) -> Iterator[tuple[int, list[int]]]:
    """Run a server that is no relay; yields its port, and the lengths of what came and of what it sent."""
    lengths = [0, 0]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))

        def serve() -> None:
            while (came := listener.recvfrom(1 << 16))[0]:
                lengths[0] += len(came[0])
                for datagram in answer(came[0]):
                    lengths[1] += len(datagram)
                    listener.sendto(datagram, came[1])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        yield port, lengths
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
            last.sendto(b"", ("127.0.0.1", port))
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [lambda came: [came], lambda _: [os.urandom(length) for length in (1, 20, 60, 1400)]],
    ids=["echo", "noise"],
)
@pytest.mark.parametrize("transport", ["earlybird-rt", "cubic-rack"])
def test_what_answers_and_is_no_relay_is_named(answer: Callable[[bytes], list[bytes]], transport: str) -> None:
    with unknown_peer(answer) as (port, lengths):
        address = f"eb://127.0.0.1:{port}?transport={transport}&conntimeo=500"
        state = reports(address, "file:/dev/null", lambda state: bool(state["refusal"]))
    assert "not an earlybird relay" in state["refusal"]
    assert state["peers"] == state["units"] == 0
    assert relay_line(state).endswith("Not connected: the peer is not an earlybird relay.")
    assert lengths[0] < 10_000  # nobody is shouted at


def test_who_does_not_answer_is_not_there() -> None:
    with unknown_peer(lambda _: []) as (port, _):
        address = f"eb://127.0.0.1:{port}?conntimeo=500"
        state = reports(address, "file:/dev/null", lambda state: state["time_s"] > 2)
    assert (state["peers"], state["refusal"]) == (0, "no answer: nothing listens, or it has a passphrase")


@contextmanager
def running(source: str, destination: str) -> Iterator[list[dict[str, Any]]]:
    """Run a relay beside; yields its reports."""
    states: list[dict[str, Any]] = []
    is_wanted = True

    def watch(state: dict[str, Any] | None) -> bool:
        if state:
            states.append(state)
        return is_wanted

    thread = threading.Thread(target=lambda: transmit(source, destination, watch=watch))
    thread.start()
    yield states
    is_wanted = False
    thread.join(HUNG)


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [("streamid=one", "streamid=two", "streamid"), ("", "transport=cubic-rack", "the same `transport`")],
)
def test_why_a_relay_is_refused_is_reported_on_both_sides(feed: Feed, ours: str, theirs: str, words: str) -> None:
    port = free_port()
    with running(f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener&{ours}") as listener:
        state = reports(f"eb://127.0.0.1:{port}?{theirs}", "file:/dev/null", lambda state: bool(state["refusal"]))
        while not listener or not listener[-1]["refusal"]:
            time.sleep(0.1)
    assert words in state["refusal"]
    assert words in listener[-1]["refusal"]
    assert state["units"] == 0


@pytest.mark.parametrize("victim", ["sender", "receiver"])
@pytest.mark.parametrize("waits", ["sender", "receiver"])
def test_either_side_reconnects_after_the_other_was_killed(feed: Feed, screen: Screen, victim: str, waits: str) -> None:
    port = free_port()
    options = {side: "?mode=listener" if side == waits else "?peeridletimeo=1000" for side in ("sender", "receiver")}
    sender = ("-q", f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}{options['sender']}")
    receiver = ("-q", f"eb://127.0.0.1:{port}{options['receiver']}", f"udp://127.0.0.1:{screen.port}")
    first, other = (sender, receiver) if victim == "sender" else (receiver, sender)
    with relay(*other) as survivor:
        with relay(*first) as dying:
            last = screen.next(50)
            dying.kill()
            dying.wait()
        with relay(*first):
            screen.newer(last)
            screen.next(50)
        assert survivor.poll() is None


@pytest.mark.parametrize("victim", ["sender", "receiver"])
@pytest.mark.parametrize("transport", ["earlybird-rt", "cubic-rack"])
def test_a_relay_that_stood_still_goes_on(feed: Feed, screen: Screen, victim: str, transport: str) -> None:
    """To a relay it looks as if its clock had jumped by as much."""
    port = free_port()
    sender = ("-q", f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener&transport={transport}")
    receiver = ("-q", f"eb://127.0.0.1:{port}?transport={transport}", f"udp://127.0.0.1:{screen.port}")
    with relay(*sender) as first, relay(*receiver) as second:
        screen.next(50)
        still = first if victim == "sender" else second
        still.send_signal(signal.SIGSTOP)
        time.sleep(6)
        still.send_signal(signal.SIGCONT)
        now = time.monotonic()
        numbers = [screen.next(100) for _ in range(5)]
        # 500 datagrams are five seconds, of which some may have waited.
        assert time.monotonic() - now < 10
        assert numbers == sorted(numbers)


def test_a_source_that_stops_and_a_viewer_that_goes_end_nothing(screen: Screen) -> None:
    port = free_port()
    address = f"udp://127.0.0.1:{screen.port}"
    with Feed() as feed, running(f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener"):
        with running(f"eb://127.0.0.1:{port}?peeridletimeo=1000", address) as states:
            last = screen.next(50)
            feed._stopped.set()
            feed._thread.join()
            screen.close()
            time.sleep(3)
            second = Screen()
            with Feed() as other, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
                entry.bind(("127.0.0.1", screen.port))
                entry.settimeout(HUNG)
                other.port = feed.port
                assert len(entry.recv(1 << 16)) == 7 * len(PACKET)
            second.close()
        assert last > 0
        assert states[-1]["peers"] == 1


def test_a_full_disk_ends_a_recording_after_a_whole_unit(feed: Feed, tmp_path: Path) -> None:
    port = free_port()
    with (
        running(f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener"),
        pytest.raises(OSError, match="No space left"),
    ):
        transmit(f"eb://127.0.0.1:{port}", "file:/dev/full")
    assert not [*tmp_path.iterdir()]


def test_a_stream_goes_on_when_the_disk_of_its_statistics_is_full(capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as files:
        write = _file(files, Path("/dev/full"))
        for second in range(3):
            write(report(second))
    assert capsys.readouterr().err == (
        "earlybird: /dev/full: No space left on device. The file ends there; the stream continues.\n"
    )


def test_half_a_state_does_not_stay_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "states.jsonl"
    with states_to(path) as write:
        write({"time_s": 1})
        whole = path.read_bytes()
        file = write._file

        class Full:
            """Takes three bytes more."""

            def __init__(self) -> None:
                self.left = 3

            def write(self, data: bytes) -> int:
                count = min(self.left, len(data))
                if not count:
                    raise OSError(28, "No space left on device")
                self.left -= count
                return file.write(data[:count]) or 0

            def __getattr__(self, name: str) -> object:
                return getattr(file, name)

        monkeypatch.setattr(write, "_file", Full())
        write({"time_s": 2})
        assert write.error == "No space left on device"
        assert path.read_bytes() == whole


def test_statistics_replaced_what_something_else_wrote(earlybird: Program, tmp_path: Path) -> None:
    diary = tmp_path / "diary.jsonl"
    diary.write_text("Dear diary")
    message = complaint(
        earlybird("transmit", "--statistics", diary, f"udp://:{free_port()}", f"eb://:{free_port()}?insecure=1")
    )
    assert "not one that earlybird wrote" in message
    assert diary.read_text() == "Dear diary"


@pytest.mark.parametrize(
    ("source", "words"),
    [("upd://:5000", r"did you mean `udp`"), ("file:/tmp", "is a directory"), ("http://:8080", "only serves")],
)
def test_a_source_that_is_none_is_reported_at_once(source: str, words: str) -> None:
    with pytest.raises((InputError, OSError), match=words):
        transmit(source, f"eb://:{free_port()}?insecure=1")


def test_a_flood_costs_neither_memory_nor_answers(feed: Feed, screen: Screen) -> None:
    """Datagrams of strangers: noise, and segments that open connections and never go on."""
    port = free_port()
    sender = ("-q", f"udp://127.0.0.1:{feed.port}", f"eb://127.0.0.1:{port}?mode=listener")
    receiver = ("-q", f"eb://127.0.0.1:{port}", f"udp://127.0.0.1:{screen.port}")
    with (
        relay(*sender) as victim,
        relay(*receiver),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker,
    ):
        screen.next(50)
        before = _resident(victim.pid)
        attacker.bind(("127.0.0.1", 0))
        attacker.setblocking(False)  # noqa: FBT003
        sent = came = 0
        for number in range(60_000):
            datagram = _syn(number) if number % 2 else os.urandom(1200)
            try:
                sent += attacker.sendto(datagram, ("127.0.0.1", port))
                came += len(attacker.recv(1 << 16))
            except BlockingIOError:
                continue
        last = screen.next()
        screen.newer(last + 50)
        assert came <= sent
        assert _resident(victim.pid) - before < 20 << 20


def _syn(number: int) -> bytes:
    """Make a SYN of TCP over UDP, from another port each time; over UDP nobody looks at the checksum."""
    ports = (1024 + number % 60_000).to_bytes(2, "big") + (4201).to_bytes(2, "big")
    return ports + number.to_bytes(4, "big") + bytes(4) + b"\x50\x02\xff\xff" + bytes(4)


def _resident(process: int) -> int:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_where_a_relay_stands_is_reported_at_the_beginning_and_when_it_changes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    states: list[dict[str, Any]] = [{"peers": 0}, {"peers": 0}, {}, {}, {"peers": 0, "refusal": "of this"}]
    with _Lines() as write_line:
        for second, changes in enumerate(states, 1):
            write_line(report(second, **changes))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["1 s", "3 s", "5 s", "It has ended"]
    assert "4,000 units, 5.0 MB, lost 10" in lines[-1]
