"""
Compare `earlybird transmit` with SRT's own relay over emulated links: what of a stream arrives, when, at what cost.

    python tools/against_srt.py --rtt 20 100 --loss 0 2 5 --seconds 30 --over srt earlybird-rt kernel

A stream of numbered and timed packets goes from the far to the near side; both sides are processes of this machine and
read one clock. `srt` needs the program srt-live-transmit (Debian: srt-tools); `kernel` is this
machine's TCP with its default congestion control.
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
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from earlybird.emulation import THERE, emulate, link, network

PACKET = 188
TOGETHER = 7
ENTRY, MIDDLE, EXIT = 6000, 7000, 6001
SETTLING = 2.0
"""Seconds in which the relays find each other before anything is counted."""
SILENCE = 3.0
"""Seconds without a packet after which the stream is over."""


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
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        began = time.monotonic()
        for number in range(int(rate * (seconds + SETTLING) / (8 * PACKET * TOGETHER))):
            due = began + number * 8 * PACKET * TOGETHER / rate
            time.sleep(max(0.0, due - time.monotonic()))
            is_counted = due - began >= SETTLING
            packets = (_packet(number * TOGETHER + index, is_counted) for index in range(TOGETHER))
            with suppress(ConnectionRefusedError):  # the relay is not there yet
                out.sendto(b"".join(packets), ("127.0.0.1", ENTRY))
        time.sleep(SILENCE)
        process.send_signal(signal.SIGTERM)


def _packet(number: int, is_counted: bool) -> bytes:  # noqa: FBT001
    return struct.pack(">BHBQd?", 0x47, 0x100, 0x10, number, time.monotonic(), is_counted).ljust(PACKET, b"\xff")


def receive(relay: list[str], report: Path) -> None:
    """Run the receiving relay, and write how long each packet took."""
    delays: dict[int, float] = {}
    torn = repeated = 0
    with subprocess.Popen(relay) as process, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
        entry.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        entry.bind(("127.0.0.1", EXIT))
        entry.settimeout(SETTLING + 10)
        with suppress(TimeoutError):
            while True:
                datagram, now = entry.recv(1 << 16), time.monotonic()
                torn += len(datagram) % PACKET > 0
                for start in range(0, len(datagram) - PACKET + 1, PACKET):
                    _, _, _, number, sent, is_counted = struct.unpack_from(">BHBQd?", datagram, start)
                    if is_counted:
                        repeated += number in delays
                        delays.setdefault(number, now - sent)
                        entry.settimeout(SILENCE)
        process.terminate()
    report.write_text(json.dumps({"torn": torn, "repeated": repeated, "delays": sorted(delays.values())}))


def tcp_send() -> None:
    """Relay datagrams to whoever connects, over the kernel's TCP; whole datagrams are left out when it has no room."""
    with socket.create_server(("", MIDDLE)) as door, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as entry:
        entry.bind(("127.0.0.1", ENTRY))
        viewer, _ = door.accept()
        viewer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            viewer.sendall(entry.recv(1 << 16))


def tcp_receive() -> None:
    """Relay what comes over the kernel's TCP as datagrams."""
    with (
        socket.create_connection((THERE, MIDDLE)) as stream,
        stream.makefile("rb") as packets,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out,
    ):
        while datagram := packets.read(PACKET * TOGETHER):
            out.sendto(datagram, ("127.0.0.1", EXIT))


def cell(over: str, *, rtt: int, loss: float, latency: int, seconds: float, rate: float, seed: int) -> dict[str, Any]:
    """Carry one stream over one link."""
    shape = link(rate="20M", delay=f"{rtt / 2}ms", loss=f"{loss}%", queue="200kB")
    sender, receiver = relays(over, latency)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        peer = [sys.executable, __file__, "send", json.dumps([sender, seconds, rate])]
        command = [sys.executable, __file__, "receive", json.dumps([receiver, str(report)])]
        outcome = emulate(network(shape, shape), command, peers=[peer], seed=seed)
        seen = json.loads(report.read_text())
    sent = int(rate * (seconds + SETTLING) / (8 * PACKET * TOGETHER)) - int(rate * SETTLING / (8 * PACKET * TOGETHER))
    sent *= TOGETHER
    delays = seen["delays"] or [float("nan")]
    deadline = (latency + rtt / 2) / 1e3
    there, back = outcome.summary["links"]
    return {
        "over": over,
        "rtt_ms": rtt,
        "loss": loss,
        "latency_ms": latency,
        "sent": sent,
        "lost": sent - len(seen["delays"]),
        "late": sum(delay > deadline + 0.02 for delay in delays),
        "torn": seen["torn"],
        "median_ms": 1e3 * delays[len(delays) // 2],
        "worst_ms": 1e3 * delays[-1],
        "megabytes": (there["bytes_out"] + back["bytes_out"] + _dropped_bytes(back)) / 1e6,
        "emulator_p99_us": outcome.summary["delay_added"]["p99_us"],
    }


def _dropped_bytes(way: dict[str, Any]) -> float:
    """Estimate the bytes of what the link lost, which were sent all the same."""
    return float(way["packets_dropped"] * way["bytes_out"] / max(way["packets_out"], 1))


def main() -> None:
    """Run all cells and print a line for each."""
    if sys.argv[1:2] == ["send"]:
        relay, seconds, rate = json.loads(sys.argv[2])
        return send(relay, seconds, rate)
    if sys.argv[1:2] == ["receive"]:
        relay, report = json.loads(sys.argv[2])
        return receive(relay, Path(report))
    if sys.argv[1:2] in (["tcp-send"], ["tcp-receive"]):
        return tcp_send() if sys.argv[1] == "tcp-send" else tcp_receive()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", nargs="+", default=["srt", "earlybird-rt", "mtcp", "cubic-rack", "kernel"])
    parser.add_argument("--rtt", nargs="+", type=int, default=[20, 100, 200], help="milliseconds")
    parser.add_argument("--loss", nargs="+", type=float, default=[0, 2, 5], help="per cent, each way")
    parser.add_argument("--latency", nargs="+", default=["120", "4rtt"], help="milliseconds, or 4rtt")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=float, default=4e6, help="bits per second")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    if "srt" in wanted.over and not shutil.which("srt-live-transmit"):
        parser.error("srt-live-transmit is missing: apt-get install srt-tools, or leave `srt` out of --over")
    for rtt in wanted.rtt:
        for loss in wanted.loss:
            for latency in dict.fromkeys(4 * rtt if text == "4rtt" else int(text) for text in wanted.latency):
                for over in wanted.over:
                    row = cell(
                        over,
                        rtt=rtt,
                        loss=loss,
                        latency=latency,
                        seconds=wanted.seconds,
                        rate=wanted.rate,
                        seed=wanted.seed,
                    )
                    print(json.dumps(row), flush=True)
    return None


if __name__ == "__main__":
    main()
