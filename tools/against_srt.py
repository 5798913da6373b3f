"""
Compare `earlybird transmit` with SRT's own relay over emulated links: what of a stream arrives, when, at what cost.

    python tools/against_srt.py --rtt 20 100 --loss 0 2 5 --seconds 30 --over srt earlybird-rt kernel
    python tools/against_srt.py --rtt 60 --loss 0 --link 6M --beside --over srt earlybird-rt

A stream of numbered and timed packets goes from the far to the near side; both sides are processes of this machine and
read one clock. Lost are packets that never left the receiving relay, late those that left it 20 ms or more after their
time. `srt` needs the program srt-live-transmit (Debian: srt-tools); `kernel` is this machine's TCP with its default
congestion control. With --beside a transfer over the kernel's CUBIC fills the same link.
"""

from __future__ import annotations

import argparse
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

from earlybird.emulation import THERE, emulate, link, network

PACKET = 188
TOGETHER = 7
ENTRY, MIDDLE, EXIT, TRANSFER = 6000, 7000, 6001, 7001
SETTLING = 30.0
"""Seconds in which the relays find each other before anything is counted; many that begin at once take their time."""
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
    return [*program, entry, f"eb://:{MIDDLE}?{options}"], [*program, f"eb://{THERE}:{MIDDLE}?{options}", exit_]


def send(relay: list[str], seconds: float, rate: float) -> None:
    """Run the sending relay and give it a stream of constant rate."""
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as output:
        began = time.monotonic()
        for number in range(int(rate * (seconds + SETTLING) / (8 * PACKET * TOGETHER))):
            due = began + number * 8 * PACKET * TOGETHER / rate
            time.sleep(max(0.0, due - time.monotonic()))
            is_counted = due - began >= SETTLING
            packets = (_packet(number * TOGETHER + index, is_counted) for index in range(TOGETHER))
            with suppress(ConnectionRefusedError):  # the relay is not there yet
                output.sendto(b"".join(packets), ("127.0.0.1", ENTRY))
        time.sleep(IDLE_TIMEOUT)
        process.send_signal(signal.SIGTERM)


def _packet(number: int, is_counted: bool) -> bytes:  # noqa: FBT001
    return struct.pack(">BHBQd?", 0x47, 0x100, 0x10, number, time.monotonic(), is_counted).ljust(PACKET, b"\xff")


def receive(relay: list[str], report: Path) -> None:
    """Run the receiving relay, and write how long each packet took."""
    delays: dict[int, float] = {}
    torn = repeated = 0
    transfer = Transfer()
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
        entry.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        entry.bind(("127.0.0.1", EXIT))
        entry.settimeout(2 * SETTLING)
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
    report.write_text(json.dumps(found))


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


def cell(over: str, *, rtt: int, loss: float, latency: int, burst: float, wanted: argparse.Namespace) -> dict[str, Any]:
    """Carry one stream over one link."""
    shape = link(rate=wanted.link, delay=f"{rtt / 2}ms", queue="200kB") | losses(loss / 100, burst)
    sender, receiver = relays(over, latency)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        peers = [[sys.executable, __file__, "send", json.dumps([sender, wanted.seconds, wanted.rate])]]
        peers += [[sys.executable, __file__, "transfer"]] if wanted.beside else []
        command = [sys.executable, __file__, "receive", json.dumps([receiver, str(report)])]
        outcome = emulate(network(shape, shape), command, servers=peers, seed=wanted.seed)
        seen = json.loads(report.read_text())
    numbers = range(int(wanted.rate * (wanted.seconds + SETTLING) / (8 * PACKET * TOGETHER)))
    sent = TOGETHER * sum(number * 8 * PACKET * TOGETHER / wanted.rate >= SETTLING for number in numbers)
    delays = seen["delays"] or [float("nan")]
    deadline = (latency + rtt / 2) / 1e3
    there, back = outcome.summary["links"]
    return {
        "over": over,
        "rtt_ms": rtt,
        "loss": loss,
        "burst": burst,
        "latency_ms": latency,
        "sent": sent,
        "lost": sent - len(seen["delays"]),
        "late": sum(delay > deadline + TOLERANCE for delay in delays),
        "torn": seen["torn"],
        "repeated": seen["repeated"],
        "median_ms": 1e3 * delays[len(delays) // 2],
        "worst_ms": 1e3 * delays[-1],
        "megabytes": (there["bytes_out"] + back["bytes_out"] + _dropped_bytes(there) + _dropped_bytes(back)) / 1e6,
        "packets": there["packets_out"] + back["packets_out"] + there["packets_dropped"] + back["packets_dropped"],
        "transfer_mbps": seen["transfer"] / 1e6,
        "emulator_p99_us": outcome.summary["delay_added"]["p99_us"],
    }


def losses(share: float, burst: float) -> dict[str, Any]:
    """Describe losses of a share of the packets, each by itself or in bursts of this mean length."""
    if share == 0:
        return {}
    if burst <= 1:
        return {"loss": [{"bernoulli": {"probability": share}}]}
    return {"loss": [{"gilbert": {"ratio": share, "mean-burst": burst}}]}


def _dropped_bytes(direction: dict[str, Any]) -> float:
    """Estimate the bytes of what the link lost, which were sent all the same."""
    return float(direction["packets_dropped"] * direction["bytes_out"] / max(direction["packets_out"], 1))


def main() -> None:
    """Run all cells and print a line for each."""
    if sys.argv[1:2] == ["send"]:
        relay, seconds, rate = json.loads(sys.argv[2])
        return send(relay, seconds, rate)
    if sys.argv[1:2] == ["receive"]:
        relay, report = json.loads(sys.argv[2])
        return receive(relay, Path(report))
    if sys.argv[1:2] in (["tcp-send"], ["tcp-receive"], ["transfer"]):
        return {"tcp-send": tcp_send, "tcp-receive": tcp_receive, "transfer": transfer}[sys.argv[1]]()
    wanted = arguments()
    with ThreadPoolExecutor(wanted.parallel) as pool:
        cells = [
            pool.submit(cell, over, rtt=rtt, loss=loss, latency=latency, burst=burst, wanted=wanted)
            for rtt, loss, burst in product(wanted.rtt, wanted.loss, wanted.burst)
            for latency in dict.fromkeys(4 * rtt if text == "4rtt" else int(text) for text in wanted.latency)
            for over in wanted.over
        ]
        for row in cells:
            print(json.dumps(row.result()), flush=True)
    return None


def arguments() -> argparse.Namespace:
    """Read what is to be compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", nargs="+", default=["srt", "earlybird-rt", "mtcp", "cubic-rack", "kernel"])
    parser.add_argument("--rtt", nargs="+", type=int, default=[20, 100, 200], help="milliseconds")
    parser.add_argument("--loss", nargs="+", type=float, default=[0, 2, 5], help="per cent, each way")
    parser.add_argument("--burst", nargs="+", type=float, default=[1], help="mean packets lost in a row")
    parser.add_argument("--latency", nargs="+", default=["120", "4rtt"], help="milliseconds, or 4rtt")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=4e6, help="bits per second")
    parser.add_argument("--link", default="20M", help="rate of the link, with a queue of 200 kB")
    parser.add_argument("--beside", action="store_true", help="fill the link with a transfer over the kernel's CUBIC")
    parser.add_argument("--parallel", type=int, default=1, help="cells that run at the same time")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    if "srt" in wanted.over and not shutil.which("srt-live-transmit"):
        parser.error("srt-live-transmit is missing: apt-get install srt-tools, or leave `srt` out of --over")
    return wanted


if __name__ == "__main__":
    main()
