"""
A stream of numbered and timed packets over an emulated link: what of it arrives, when, at what cost.

It goes from the far to the near side; both sides are processes of this machine and read one clock. Lost are packets
that never left the receiving relay, late those that left it 20 ms or more after their time. `srt` needs the program
srt-live-transmit (Debian: srt-tools); `kernel` is this machine's TCP with its default congestion control.
"""

from __future__ import annotations

import json
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird.emulation import THERE, emulate, link, network
from earlybird.errors import InputError
from earlybird.quantities import parse_duration, parse_rate

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKET = 188
TOGETHER = 7
ENTRY, MIDDLE, EXIT, TRANSFER = 6000, 7000, 6001, 7001
IDLE_TIMEOUT = 3.0  # seconds without a packet after which the stream is over
TOLERANCE = 0.02  # seconds by which a packet may leave after its time: processes share a processor


def relays(over: str, latency: int) -> tuple[list[str], list[str]]:
    """Return the command lines of the sending and of the receiving relay."""
    entry, exit_ = f"udp://127.0.0.1:{ENTRY}", f"udp://127.0.0.1:{EXIT}"
    if over == "srt":
        options = f"latency={latency}"
        send = ["srt-live-transmit", "-q", entry, f"srt://:{MIDDLE}?mode=listener&{options}"]
        return send, ["srt-live-transmit", "-q", f"srt://{THERE}:{MIDDLE}?{options}", exit_]
    if over == "kernel":
        return [sys.executable, __file__, "tcp-send"], [sys.executable, __file__, "tcp-receive"]
    options = f"latency={latency}&transport={over}"
    program = [sys.executable, "-m", "earlybird", "transmit", "-q"]
    far, near = f"eb://:{MIDDLE}?insecure=1&{options}", f"eb://{THERE}:{MIDDLE}?{options}"
    return [*program, entry, far], [*program, near, exit_]


def send(relay: list[str], seconds: float, settling: float, rate: float) -> None:
    """Run the sending relay and give it a stream of constant rate, whose first `settling` seconds do not count."""
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as output:
        began = time.monotonic()
        for number in range(int(rate * (seconds + settling) / (8 * PACKET * TOGETHER))):
            due = began + number * 8 * PACKET * TOGETHER / rate
            time.sleep(max(0.0, due - time.monotonic()))
            is_counted = due - began >= settling
            packets = (_packet(number * TOGETHER + index, is_counted) for index in range(TOGETHER))
            with suppress(ConnectionRefusedError):  # the relay is not there yet
                output.sendto(b"".join(packets), ("127.0.0.1", ENTRY))
        time.sleep(IDLE_TIMEOUT)
        process.send_signal(signal.SIGTERM)


def _packet(number: int, is_counted: bool) -> bytes:  # noqa: FBT001
    return struct.pack(">BHBQd?", 0x47, 0x100, 0x10, number, time.monotonic(), is_counted).ljust(PACKET, b"\xff")


def receive(relay: list[str], settling: float, report: str) -> None:
    """Run the receiving relay, and write how long each packet took."""
    delays: dict[int, float] = {}
    torn = repeated = 0
    transfer = Transfer()
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
        entry.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        entry.bind(("127.0.0.1", EXIT))
        entry.settimeout(2 * settling + IDLE_TIMEOUT)
        with suppress(TimeoutError):
            while True:
                datagram, now = entry.recv(1 << 16), time.monotonic()
                torn += len(datagram) % PACKET > 0
                for start in range(0, len(datagram) - PACKET + 1, PACKET):
                    _, _, _, number, sent, is_counted = struct.unpack_from(">BHBQd?", datagram, start)
                    if is_counted:
                        transfer.begin()
                        repeated += number in delays
                        delays.setdefault(number, now - sent)
                        entry.settimeout(IDLE_TIMEOUT)
        process.terminate()
    found = {"torn": torn, "repeated": repeated, "transfer": transfer.rate(), "delays": sorted(delays.values())}
    Path(report).write_text(json.dumps(found))


class Transfer:
    """A transfer over the kernel's CUBIC that fills the link, if there is one."""

    def __init__(self) -> None:
        self.count = 0
        self.began: tuple[float, int] | None = None
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError), socket.create_connection((THERE, TRANSFER)) as stream:
            while count := len(stream.recv(1 << 16)):
                self.count += count

    def begin(self) -> None:
        """Count from here on, unless it does."""
        self.began = self.began or (time.monotonic(), self.count)

    def rate(self) -> float:
        """Return the bits per second since then."""
        since, count = self.began or (0.0, self.count)
        return 8 * (self.count - count) / (time.monotonic() - IDLE_TIMEOUT - since)


def transfer() -> None:
    """Send to whoever connects as much as the kernel's CUBIC carries."""
    with socket.create_server(("", TRANSFER)) as listener:
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        viewer, _ = listener.accept()
        while True:
            viewer.sendall(bytes(1 << 16))


def tcp_send() -> None:
    """Relay datagrams to whoever connects, over the kernel's TCP; whole datagrams are left out when it has no room."""
    with socket.create_server(("", MIDDLE)) as listener, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
        entry.bind(("127.0.0.1", ENTRY))
        viewer, _ = listener.accept()
        viewer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            viewer.sendall(entry.recv(1 << 16))


def tcp_receive() -> None:
    """Relay what comes over the kernel's TCP as datagrams."""
    with (
        socket.create_connection((THERE, MIDDLE)) as stream,
        stream.makefile("rb") as packets,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as output,
    ):
        while datagram := packets.read(PACKET * TOGETHER):
            output.sendto(datagram, ("127.0.0.1", EXIT))


def measure(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Carry one stream over one link."""
    over, rtt, rate = settings["over"], _milliseconds(settings["rtt"]), parse_rate(settings["rate"])
    if over == "srt" and not shutil.which("srt-live-transmit"):
        raise InputError("srt-live-transmit is missing: apt-get install srt-tools.")
    latency = 4 * rtt if settings["latency"] == "4rtt" else _milliseconds(settings["latency"])
    seconds, settling = (_milliseconds(settings[key]) / 1e3 for key in ("duration", "settling"))
    shape = link(rate=settings["link"], delay=f"{rtt / 2}ms", queue="200kB")
    shape |= losses(float(settings["loss"]), float(settings["burst"]))
    sender, receiver = relays(over, latency)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        peers = [[sys.executable, __file__, "send", json.dumps([sender, seconds, settling, rate])]]
        peers += [[sys.executable, __file__, "transfer"]] if settings["beside"] else []
        command = [sys.executable, __file__, "receive", json.dumps([receiver, settling, str(report)])]
        back = varied(settings["jitter"], settings["hold"], shape)
        outcome = emulate(network(shape, back), command, servers=peers, seed=seed)
        seen = json.loads(report.read_text())
    numbers = range(int(rate * (seconds + settling) / (8 * PACKET * TOGETHER)))
    sent = TOGETHER * sum(number * 8 * PACKET * TOGETHER / rate >= settling for number in numbers)
    delays = seen["delays"] or [float("nan")]
    deadline = (latency + rtt / 2) / 1e3
    directions = outcome.summary["links"]
    return {
        "lost_share": 1 - len(seen["delays"]) / sent,
        "relay_late_share": sum(delay > deadline + TOLERANCE for delay in delays) / sent,
        "relay_torn_datagrams": seen["torn"],
        "relay_repeated_packets": seen["repeated"],
        "relay_delay_median_s": delays[len(delays) // 2],
        "relay_delay_max_s": delays[-1],
        "link_bytes": sum(each["bytes_out"] + _dropped_bytes(each) for each in directions),
        "link_packets": sum(each["packets_out"] + each["packets_dropped"] for each in directions),
        "rival_throughput_bps": seen["transfer"] if settings["beside"] else float("nan"),
        "emulator_added_delay_p99_s": outcome.summary["delay_added"]["p99_us"] / 1e6,
    }


def _milliseconds(text: str) -> int:
    return round(1e3 * (parse_duration(text) or 0.0))


def losses(share: float, burst: float) -> dict[str, Any]:
    """Describe losses of a share of the packets, each by itself or in bursts of this mean length."""
    if share == 0:
        return {}
    if burst <= 1:
        return {"loss": [{"bernoulli": {"probability": share}}]}
    return {"loss": [{"gilbert": {"ratio": share, "mean-burst": burst}}]}


def varied(jitter: str, hold: str, shape: dict[str, Any]) -> dict[str, Any]:
    """Describe the same direction of a link with a delay that varies, as jittered.toml does."""
    described = Path(__file__).with_name("jittered.toml").read_text().replace("$hold", hold)
    change: dict[str, Any] = tomllib.loads(described)["variants"]["jitter"][jitter]["network"]["links"]["0"]
    return change | shape


def _dropped_bytes(direction: dict[str, Any]) -> float:
    """Estimate the bytes of what the link lost, which were sent all the same."""
    return float(direction["packets_dropped"] * direction["bytes_out"] / max(direction["packets_out"], 1))


def main() -> None:
    """Be one of the processes of a run."""
    role, *given = sys.argv[1:]
    options = json.loads(given[0]) if given else []
    roles = {"send": send, "receive": receive, "tcp-send": tcp_send, "tcp-receive": tcp_receive, "transfer": transfer}
    roles[role](*options)  # type: ignore[operator]


if __name__ == "__main__":
    main()
