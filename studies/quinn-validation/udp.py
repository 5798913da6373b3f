"""
quinn over real UDP through the emulator: a transfer, or a film of 2 Mb/s.

The program is `crates/quic/examples/real.rs`, which is built first. Takes root, openssl and cargo.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from earlybird.emulation import THERE, emulate, network
from earlybird.errors import EarlybirdError
from earlybird.loading import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY = Path(__file__).resolve().parents[2]
SCENARIO = Path(__file__).with_name("link.toml")
BUILD = ("cargo", "build", "--locked", "--package", "earlybird-quic", "--example", "real")
PORT = 4433
UNIT, PERIOD = 10_000, 0.04  # a film of 2 Mb/s: bytes per frame, and frame interval in seconds
SERVER_STARTUP = "sleep 0.3; exec "  # the server is started first; the client does not wait for it otherwise


def measure(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Carry one stream over the link of the scenario."""
    changes = {key: settings[key] for key in ("link", "duration")}
    scenario = resolve(SCENARIO, changes).to_dict()
    (link,), seconds = scenario["network"]["links"], float(settings["duration"].removesuffix("s"))
    there = {key: value for key, value in link.items() if key not in ("from", "to", "reverse")}
    is_transfer = settings["application"] == "transfer"
    with tempfile.TemporaryDirectory() as name:
        report, added_delay = _carried(
            network(there, link["reverse"]), Path(name), seconds, seed, is_transfer=is_transfer
        )
    delays = pl.Series(report["delays"], dtype=pl.Float64)
    return {
        "throughput_bps": report["bytes"] * 8 / seconds,
        "delay_p50_ms": 1e3 * (delays.quantile(0.5, "linear") or float("nan")),
        "delay_p95_ms": 1e3 * (delays.quantile(0.95, "linear") or float("nan")),
        "emulator_added_delay_p99_s": added_delay,
    }


def _carried(
    emulated: dict[str, Any], folder: Path, seconds: float, seed: int, *, is_transfer: bool
) -> tuple[dict[str, Any], float]:
    """Run the program at both ends; return the server's report, and how late the links were in seconds."""
    certificate, key, report = (folder / name for name in ("certificate", "key", "report"))
    _certify(certificate, key)
    # The server counts from the arrival of the first packet, one propagation delay after it was sent.
    delay_s = float(emulated["network"]["links"][0]["delay"].removesuffix("ms")) / 1e3
    length = [seconds - delay_s] if is_transfer else [3 * seconds, UNIT]
    pace = [seconds + 1] if is_transfer else [seconds, UNIT, PERIOD]
    server = [_program(), "serve", f"0.0.0.0:{PORT}", certificate, key, *length]
    client = [_program(), "send", f"{THERE}:{PORT}", certificate, *pace]
    emulation = emulate(
        emulated,
        ["sh", "-c", SERVER_STARTUP + _line(client)],
        servers=[["sh", "-c", f"exec {_line(server)} > {report}"]],
        seed=seed,
    )
    if emulation.exit_code:
        raise EarlybirdError(f"{_line(client)} ended with {emulation.exit_code}.")
    return json.loads(report.read_text()), emulation.summary["delay_added"]["p99_us"] / 1e6


def _line(words: Sequence[object]) -> str:
    return " ".join(map(str, words))


@cache
def _program() -> Path:
    """Build the program, and return its path."""
    subprocess.run(BUILD, cwd=REPOSITORY, check=True, capture_output=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"), "debug", "examples", "real")


def _certify(certificate: Path, key: Path) -> None:
    """Make a key and a certificate for the server, in DER."""
    pem = key.with_suffix(".pem")
    _run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", pem)
    _run("openssl", "pkcs8", "-topk8", "-nocrypt", "-in", pem, "-outform", "DER", "-out", key)
    names = ["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    about = ["-subj", "/CN=localhost", "-days", "30", *names]
    _run("openssl", "req", "-x509", "-new", "-key", pem, *about, "-outform", "DER", "-out", certificate)


def _run(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, capture_output=True)
