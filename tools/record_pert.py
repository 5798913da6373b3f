"""
Record what PERT reads of three connections of Linux: data of the test that compares the kernel's with the endpoint's.

    sudo .venv/bin/python tools/record_pert.py

Writes crates/kernel/tests/recorded/*.csv: `losses` over a link that loses packets, `cubic` beside a transfer over
CUBIC, `queue` over a link of its own. Takes root, `make kernel` and iperf3, and 20 s each.
"""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from earlybird.kernel import program
from generated import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = REPOSITORY / "crates" / "kernel" / "tests" / "recorded"
NAME = "pertrecorded"
LENGTH_S = 12
ROWS = 3000
HEAD = ("event", "now", "rtt", "una", "nxt", "acked", "growth")
LINKS = {
    "losses": "--rate 15M --delay 22.5ms --queue 500kB --loss 0.1%",
    "cubic": "--rate 15M --delay 22.5ms --queue 170kB",
    "queue": "--rate 5M --delay 45ms --queue 500kB",
}
"""As the study of the test bed has them, and a slower one."""

SEND = f"iperf3 -c 10.77.0.2 -t {LENGTH_S} -C {NAME}"
SERVER = "iperf3 -s"
RIVAL = f"iperf3 -c 10.77.0.2 -p 5202 -t {LENGTH_S} -C cubic & "


def main() -> None:
    """Record all."""
    kernel = str(program())
    holder = subprocess.Popen(
        [sys.executable, "-m", "earlybird", "kernel", "load", "pert", "--name", NAME], stdout=subprocess.DEVNULL
    )
    holder.wait()
    try:
        for title, link in LINKS.items():
            write(FOLDER / f"{title}.csv", recorded(kernel, link, beside=title == "cubic"))
    finally:
        subprocess.run([sys.executable, "-m", "earlybird", "kernel", "unload", "--name", NAME], check=True)


def recorded(kernel: str, link: str, *, beside: bool) -> list[dict[str, Any]]:
    """Make a transfer, and return what was told of the connection that had most ACKs."""
    with tempfile.TemporaryFile("w+") as output:
        request = json.dumps({"watch": {"name": NAME, "every_ack": True}})
        watcher = subprocess.Popen([kernel, request], stdout=output)
        time.sleep(1)
        command = (RIVAL if beside else "") + SEND
        peers = [SERVER, "iperf3 -s -p 5202"][: 1 + beside]
        emulate = [sys.executable, "-m", "earlybird", "emulate", *link.split()]
        emulate += [part for peer in peers for part in ("--server", peer)]
        subprocess.run(
            [*emulate, "--", "sh", "-c", f"sleep 1; {command}"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        watcher.send_signal(signal.SIGINT)
        watcher.wait()
        output.seek(0)
        rows = [json.loads(line) for line in output]
    connections = [row["connection"] for row in rows]
    longest = max(set(connections), key=connections.count)
    return [row for row in rows if row["connection"] == longest]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the beginning of a connection, from its first ACK on."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEAD)
        first = next(row for row in rows if "ack" in row)
        writer.writerows(line(row, first) for row in rows[rows.index(first) : ROWS])


def line(row: dict[str, Any], first: dict[str, Any]) -> tuple[object, ...]:
    """Return a row of the file: times in ns, sequence numbers from the first on."""
    now = round(1e9 * (row["time_s"] - first["time_s"])) + 1
    if "ack" not in row:
        return (row["event"], now, 0, 0, 0, 0, 0)
    ack, start = row["ack"], first["ack"]["una"]
    una, nxt = ((ack[end] - start) % 2**32 + 1 for end in ("una", "nxt"))
    return ("ack", now, round(1e6 * (row["rtt_ms"] or 0)), una, nxt, ack["acked"], ack["growth"])


if __name__ == "__main__":
    main()
