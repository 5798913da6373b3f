"""
Coverage of the uncertainty of a plan: measurements of known lines, and what the plan makes of each.

    python tests/python/plan_coverage.py --measurements 10    # of each of twenty lines

Half of the measurements are a hundred pings, half are iperf3 over UDP (2000 datagrams, a tenth of the line's rate).
Each packet is lost by the line's loss process, drawn here with NumPy. A plan covers its line if it recommends the
sender that the plan for the true losses recommends, or one that this plan leaves open, or says that it cannot be told.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earlybird.planning.measured import iperf3, ping
from earlybird.planning.planner import Plan, PlanRequest, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from earlybird.planning.path import Measurements
    from earlybird.planning.samples import LossSample

DURATION: Final = "60s"  # of a session: a fifth of the usual, so that two hundred plans take minutes
PINGS: Final = 100
DATAGRAMS: Final = 2000
NONE: Final = "none"  # no sender carries the film


@dataclass(frozen=True)
class Line:
    """A line and a film over it; losses come in runs of `burst` packets on average."""

    bitrate: str
    rate: str
    rtt: str
    loss: float
    burst: float = 1.0

    def request(self, *measured: Measurements) -> PlanRequest:
        """Return the question, with the true losses or with those of measurements."""
        known: dict[str, Any] = {} if measured else {"loss": self.loss, "burst": self.burst}
        return PlanRequest(
            bitrate=self.bitrate,
            rate=self.rate,
            rtt=self.rtt,
            measured=measured,
            duration=DURATION,
            beside="none",
            **known,
        )

    def losses(self, number: int, random: np.random.Generator) -> NDArray[np.bool_]:
        """Draw which of so many packets are lost: Gilbert's two states, or independently."""
        if self.loss == 0:
            return np.zeros(number, dtype=bool)
        ends = 1 / self.burst
        begins = ends * self.loss / (1 - self.loss) if self.burst > 1 else self.loss
        lost = np.zeros(number, dtype=bool)
        state = random.random() < self.loss
        for place in range(number):
            stays = (random.random() >= ends) if self.burst > 1 else (random.random() < self.loss)
            state = stays if state else random.random() < begins
            lost[place] = state
        return lost


LINES: Final = (
    Line("1Mb/s", "4Mb/s", "30ms", 0.005),
    Line("1Mb/s", "20Mb/s", "80ms", 0.02),
    Line("2Mb/s", "10Mb/s", "60ms", 0.0),
    Line("2Mb/s", "10Mb/s", "60ms", 0.001),
    Line("2Mb/s", "10Mb/s", "60ms", 0.003),
    Line("2Mb/s", "10Mb/s", "60ms", 0.01),
    Line("2Mb/s", "10Mb/s", "60ms", 0.01, 4),
    Line("2Mb/s", "6Mb/s", "20ms", 0.03),
    Line("2Mb/s", "20Mb/s", "150ms", 0.0005),
    Line("2Mb/s", "20Mb/s", "150ms", 0.005),
    Line("4Mb/s", "20Mb/s", "20ms", 0.0),
    Line("4Mb/s", "20Mb/s", "60ms", 0.01),
    Line("4Mb/s", "8Mb/s", "40ms", 0.002),
    Line("4Mb/s", "20Mb/s", "100ms", 0.02, 3),
    Line("500kb/s", "2Mb/s", "40ms", 0.001),
    Line("500kb/s", "10Mb/s", "120ms", 0.01),
    Line("300kb/s", "1Mb/s", "60ms", 0.01),
    Line("300kb/s", "5Mb/s", "200ms", 0.05),
    Line("3Mb/s", "10Mb/s", "100ms", 0.05),
    Line("1Mb/s", "10Mb/s", "300ms", 0.001),
)


def pinged(line: Line, path: Path, random: np.random.Generator) -> Measurements:
    """Write what iputils' ping prints over the line, and read it."""
    lost = line.losses(PINGS, random)
    time = float(line.rtt.removesuffix("ms"))
    replies = [
        f"64 bytes from 192.0.2.1: icmp_seq={number} ttl=57 time={time + number % 3 / 10:.1f} ms"
        for number, gone in enumerate(lost, 1)
        if not gone
    ]
    counts = f"{PINGS} packets transmitted, {len(replies)} received, {100 * lost.mean():g}% packet loss, time 19830ms"
    head = "PING viewer.example (192.0.2.1) 56(84) bytes of data."
    path.write_text("\n".join([head, *replies, "", "--- viewer.example ping statistics ---", counts, ""]))
    return ping.read(path)


def sent_by_iperf3(line: Line, path: Path, random: np.random.Generator) -> Measurements:
    """Write what `iperf3 -u -b … -J` prints over the line, and read it."""
    lost = int(line.losses(DATAGRAMS, random).sum())
    size, target = 1448, 1e5 * float(line.rate.removesuffix("Mb/s"))
    seconds = 8 * size * DATAGRAMS / target
    share = 100 * lost / DATAGRAMS
    total = {
        "start": 0,
        "end": seconds,
        "seconds": seconds,
        "bytes": size * DATAGRAMS,
        "bits_per_second": target,
        "jitter_ms": 0.1,
        "lost_packets": lost,
        "packets": DATAGRAMS,
        "lost_percent": share,
        "sender": True,
    }
    start = {
        "version": "iperf 3.16",
        "target_bitrate": round(target),
        "test_start": {
            "protocol": "UDP",
            "num_streams": 1,
            "duration": round(seconds),
            "target_bitrate": round(target),
        },
    }
    received = {**total, "sender": False, "bits_per_second": target * (1 - share / 100)}
    path.write_text(
        json.dumps(
            {"start": start, "intervals": [], "end": {"sum": total, "sum_sent": total, "sum_received": received}}
        )
    )
    return iperf3.read(path)


def accepted(true: Plan) -> set[str]:
    """Return the senders that the plan for the true losses recommends or leaves open."""
    if not math.isfinite(true.delay):
        return {NONE}
    return {true.choice.candidate.name, *(result.candidate.name for result in true.open_candidates)}


def covers(found: Plan, right: set[str]) -> bool:
    """Return whether a plan recommends one of the right senders, or says that it cannot be told."""
    if not found.is_settled or not found.is_clear:
        return True
    return (found.choice.candidate.name if math.isfinite(found.delay) else NONE) in right


@dataclass(frozen=True)
class Outcome:
    """Plans from the measurements of one line."""

    line: Line
    right: set[str]
    covered: int
    settled: int  # plans that name one sender and call that clear
    wrong: tuple[str, ...]


def tried(line: Line, measurements: int, seed: int) -> Outcome:
    """Measure a line so many times, and plan with each measurement."""
    random = np.random.default_rng(seed)
    right = accepted(plan(line.request()))
    # Equal counts are equal questions.
    plans: dict[LossSample | None, Plan] = {}
    covered, settled, wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(measurements):
            measure: Callable[[Line, Path, np.random.Generator], Measurements]
            measure = (pinged, sent_by_iperf3)[number % 2]
            measured = measure(line, Path(folder) / "measured", random)
            if measured.loss_sample not in plans:
                plans[measured.loss_sample] = plan(line.request(measured))
            found = plans[measured.loss_sample]
            covered += covers(found, right)
            settled += found.is_settled and found.is_clear
            if not covers(found, right):
                wrong.append(found.answer)
    return Outcome(line, right, covered, settled, tuple(wrong))


def main() -> None:
    """Print a line of each outcome, and the share of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measurements", type=int, default=10, help="of each line")
    number = parser.parse_args().measurements
    outcomes = []
    for seed, line in enumerate(LINES):
        outcomes.append(tried(line, number, seed))
        one = outcomes[-1]
        print(f"{line}: {'/'.join(sorted(one.right))}; covered {one.covered}, one answer {one.settled}", flush=True)
        for answer in one.wrong:
            print(f"    {answer}")
    print(f"covered: {sum(one.covered for one in outcomes)} of {number * len(LINES)}")
    print(f"one answer: {sum(one.settled for one in outcomes)} of {number * len(LINES)}")


if __name__ == "__main__":
    main()
