"""
Compare quinn over real UDP through the emulator with quinn as the simulator's external stack over the same links.

    python tools/quinn_validation.py            # prints the table; takes root, openssl and some five minutes
    python tools/quinn_validation.py --write    # writes it into docs/quinn-validation.md

The program over UDP is `crates/quic/examples/real.rs`. A run in real time with late links is repeated.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import earlybird
from earlybird.emulation import THERE, emulate, link, network
from earlybird.statistics import Estimate, student_interval
from generated import REPOSITORY
from measured import markdown, mean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PAGE = REPOSITORY / "docs" / "quinn-validation.md"
BUILD = ("cargo", "build", "--locked", "--package", "earlybird-quic", "--example", "real")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
PROGRAM = TARGET / "debug" / "examples" / "real"
PORT = 4433
SECONDS = 10
UNIT, PERIOD = 10_000, 0.04  # a film of 2 Mb/s: bytes per frame, and frame interval in seconds
SERVER_STARTUP = "sleep 0.3; exec "  # the server is started first; the client does not wait for it otherwise
LATE_US, ATTEMPTS = 2000.0, 4
"""The largest 99th percentile of the links' lateness of a valid run, and the attempts to get one."""
BULK, FILM = "transfer", "film"


@dataclass(frozen=True)
class Setting:
    """A link, and the loss in the direction of the data."""

    title: str
    rate: str
    delay: str
    queue: str
    loss: str | None

    def network(self) -> dict[str, Any]:
        """Return the link and its reverse link, which is lossless."""
        there = link(rate=self.rate, delay=self.delay, queue=self.queue, loss=self.loss)
        return network(there, link(rate=self.rate, delay=self.delay))

    @property
    def delay_s(self) -> float:
        """The one-way delay in seconds."""
        return float(self.delay.removesuffix("ms")) / 1e3


SETTINGS = (
    Setting("10 Mb/s, 40 ms, queue 60", "10Mb/s", "20ms", "60", None),
    Setting("10 Mb/s, 40 ms, queue 60, 1 % lost", "10Mb/s", "20ms", "60", "1%"),
    Setting("4 Mb/s, 100 ms, queue 20", "4Mb/s", "50ms", "20", None),
)
"""Titles have the round trip, and the queue limit in packets."""


@dataclass(frozen=True)
class Quantity:
    """A metric of an application: from the real server, and from the row of a simulated flow."""

    title: str
    application: str
    real: Callable[[dict[str, Any]], float]
    simulated: Callable[[dict[str, Any]], float]


def _delay(share: float) -> Callable[[dict[str, Any]], float]:
    return lambda report: 1e3 * (pl.Series(report["delays"]).quantile(share, "linear") or float("nan"))


QUANTITIES = (
    Quantity(
        "transfer, Mb/s",
        BULK,
        lambda report: report["bytes"] * 8e-6 / SECONDS,
        lambda flow: flow["bytes_delivered"] * 8e-6 / SECONDS,
    ),
    Quantity("frame delay, median, ms", FILM, _delay(0.5), lambda flow: flow["delay_p50_ms"]),
    Quantity("95 %, ms", FILM, _delay(0.95), lambda flow: flow["delay_p95_ms"]),
)


def simulated(setting: Setting, application: str, seed: int) -> dict[str, Any]:
    """Simulate the flow, and return its row of the table of flows."""
    sends = {"bulk": {}} if application == BULK else {"cbr": {"rate": "2Mb/s", "packet": UNIT}}
    scenario = setting.network()
    scenario |= {"duration": f"{SECONDS}s", "endpoint": {"transport": "quic"}}
    scenario["flows"][0]["application"] = sends
    return earlybird.run(scenario, seed=seed).table("flows").row(0, named=True)


def real(setting: Setting, application: str, seed: int, folder: Path) -> tuple[dict[str, Any], float]:
    """Run quinn over UDP; return the server's report, and the links' lateness in µs."""
    certificate, key, report = (folder / name for name in ("certificate", "key", "report"))
    # The server counts from the arrival of the first packet, one propagation delay after it was sent.
    length = SECONDS - setting.delay_s if application == BULK else 3 * SECONDS
    units = [] if application == BULK else [UNIT]
    pace = [SECONDS + 1] if application == BULK else [SECONDS, UNIT, PERIOD]
    server = [PROGRAM, "serve", f"0.0.0.0:{PORT}", certificate, key, length, *units]
    client = [PROGRAM, "send", f"{THERE}:{PORT}", certificate, *pace]
    emulation = emulate(
        setting.network(),
        ["sh", "-c", SERVER_STARTUP + _line(client)],
        servers=[["sh", "-c", f"exec {_line(server)} > {report}"]],
        seed=seed,
    )
    if emulation.exit_code:
        message = f"the program over UDP ended with {emulation.exit_code} ({setting.title}, {application}, seed {seed})"
        raise RuntimeError(message)
    return json.loads(report.read_text()), emulation.summary["delay_added"]["p99_us"]


def _line(words: Sequence[object]) -> str:
    return " ".join(map(str, words))


def punctual(setting: Setting, application: str, seed: int, folder: Path) -> tuple[dict[str, Any], float]:
    """Repeat the run until the links were punctual; if none was, return the run with the least lateness."""
    made: list[tuple[dict[str, Any], float]] = []
    for _ in range(ATTEMPTS):
        made.append(real(setting, application, seed, folder))
        if made[-1][1] <= LATE_US:
            break
    return min(made, key=lambda run: run[1])


def certify(folder: Path) -> None:
    """Make a key and a certificate for the server, in DER."""
    key, certificate = folder / "key", folder / "certificate"
    pem = folder / "pem"
    _run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", pem)
    _run("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", pem, "-outform", "DER", "-out", key)
    names = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    about = ["-subj", "/CN=localhost", "-days", "30", *names]
    _run("openssl", "req", "-x509", "-new", "-key", pem, *about, "-outform", "DER", "-out", certificate)


def _run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)


def compare(setting: Setting, runs: int, seeds: int, folder: Path) -> tuple[list[list[Estimate]], float]:
    """Return an estimate per quantity, over UDP and simulated, and the largest lateness of the links."""
    reports = {name: [punctual(setting, name, seed + 1, folder) for seed in range(runs)] for name in (BULK, FILM)}
    flows = {name: [simulated(setting, name, seed + 1) for seed in range(seeds)] for name in (BULK, FILM)}
    estimates = [
        [
            student_interval([quantity.real(run) for run, _ in reports[quantity.application]]),
            student_interval([quantity.simulated(flow) for flow in flows[quantity.application]]),
        ]
        for quantity in QUANTITIES
    ]
    return estimates, max(late for made in reports.values() for _, late in made)


def table(runs: int, seeds: int) -> list[str]:
    """Write a row for each setting."""
    titles = [f"{quantity.title}: {backend}" for quantity in QUANTITIES for backend in ("UDP", "simulated")]
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certify(folder)
        for setting in SETTINGS:
            estimates, late = compare(setting, runs, seeds, folder)
            rows.append([setting.title, *(mean_text(each, 2) for pair in estimates for each in pair), f"{late:.0f}"])
            print(*rows[-1], sep=" | ", file=sys.stderr)
    return markdown(["link", *titles, "lateness of links, 99 %, µs"], rows)


def main() -> None:
    """Build, run, and print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="over UDP, each")
    parser.add_argument("--seeds", type=int, default=20, help="simulated, each")
    parser.add_argument("--write", action="store_true", help="into docs")
    options = parser.parse_args()
    subprocess.run(BUILD, cwd=REPOSITORY, check=True)
    lines = table(options.runs, options.seeds)
    print(*lines, sep="\n")
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition("| link |")
        tail = rest[rest.index("\n\n") :]
        PAGE.write_text(head + "\n".join(lines) + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
