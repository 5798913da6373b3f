"""
Twenty drawn questions to `earlybird plan`, and sessions in real time that try the delay it states.

    sudo python tests/python/plan_questions.py --sessions 10 --parallel 6 --output results/plan-questions.json

A question is a line, other traffic and a sender in use, drawn with a seed. The user pings a line that has jitter 200
times, and plans with what ping prints. Then the chosen sender plays sessions in real time over the true line, emulated:
over this kernel's TCP where it has the sender (a household's call over TCP too), by `earlybird transmit` or SRT's
relay, otherwise over our stack. A session holds if it needs no longer delay than the plan states; a question holds if
nine of ten sessions do. Sessions that the machine disturbed, or in which the emulator held a packet back for a tenth of
that delay, are made again, at most five times.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earlybird.emulation import emulate, network
from earlybird.errors import EarlybirdError
from earlybird.loading import resolve
from earlybird.planning.answer import delay_text
from earlybird.planning.measured import ping
from earlybird.planning.planner import PlanRequest, plan
from earlybird.planning.session import GROUP, latency, needed_delay, scenario
from earlybird.run_specs import ScenarioRun

if TYPE_CHECKING:
    from earlybird.planning.path import Measurements
    from earlybird.planning.planner import Plan

PINGS: Final = 200
LENGTH: Final = 60.0  # seconds of a session
FIRST_SEED: Final = 2001  # no session of a plan has these
ATTEMPTS: Final = 5
HOLD: Final = 0.9  # of the sessions
RELAYS_AT_A_TIME: Final = 2  # pairs of relays, each of which needs a few percent of a processor
SETTLING: Final = 10.0  # seconds in which relays find each other
MOST_ADDED: Final = 5000  # µs by which the emulator may be late with one packet in a hundred
STALL: Final = 0.1  # of the stated delay, by which it may be late with any packet: the latest frames decide
TRANSMIT: Final = "transmit"
VERDICTS: Final = {True: "", False: "  FAILS", None: "  not tried"}
RELAYED: Final = ("earlybird-rt", "srt")  # senders that `earlybird transmit` and SRT's relay are
RELAYS: Final = Path(__file__).parents[2] / "studies" / "against-srt" / "relays.py"

RTTS: Final = (10, 200)  # ms
ROOM: Final = (1.4, 5.0)  # the line's rate ÷ the film's
BITRATES: Final = ("300kb/s", "500kb/s", "1Mb/s", "2Mb/s", "3Mb/s")
LOSSES: Final = (0.0, 0.0, 0.001, 0.003, 0.01, 0.02)
JITTERS: Final = (0.0, 0.0, 0.05, 0.2)  # of the round trip
TRAFFIC: Final = ("none", "none", "upload", "household")
SENDERS: Final = ("cubic", "cubic", "bbr", "reno")


@dataclass(frozen=True)
class Question:
    """A question as a user types it."""

    bitrate: str
    rate: str
    rtt: str
    loss: str
    beside: str
    baseline: str
    jitter: float = 0.0  # seconds that are added to a round trip on average, exponentially distributed

    def measured(self, folder: Path) -> list[Measurements]:
        """Ping the line, if it has jitter."""
        if not self.jitter:
            return []
        random = np.random.default_rng(len(str(self)))
        times = 1e3 * (self.shortest + random.exponential(self.jitter, PINGS))
        replies = [
            f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time={time:.1f} ms" for n, time in enumerate(times, 1)
        ]
        counts = f"{PINGS} packets transmitted, {PINGS} received, 0% packet loss, time {PINGS - 1}000ms"
        head = "PING viewer.example (192.0.2.1) 56(84) bytes of data."
        path = folder / "ping.txt"
        path.write_text("\n".join([head, *replies, "", "--- viewer.example ping statistics ---", counts, ""]))
        return [ping.read(path)]

    @property
    def shortest(self) -> float:
        """Seconds of a round trip without jitter."""
        return float(self.rtt.removesuffix("ms")) / 1e3

    def line(self, network: dict[str, Any]) -> dict[str, Any]:
        """Return the network of a plan with the true delay and jitter in the place of those that were measured."""
        (link,) = network["links"]
        true = {**link, "delay": f"{1e3 * self.shortest / 2:g}ms"}
        true.pop("jitter", None)
        if self.jitter:
            # Within the spacing of pings (1 s) delays are correlated over some frames, as queues elsewhere are.
            true["jitter"] = {
                "distribution": {"exponential": f"{1e6 * self.jitter:.0f}us"},
                "correlation-time": "100ms",
            }
        return {**network, "links": [true]}

    def request(self, folder: Path) -> PlanRequest:
        """Return what `earlybird plan` is asked."""
        return PlanRequest(
            bitrate=self.bitrate,
            rate=self.rate,
            rtt=None if self.jitter else self.rtt,
            loss=self.loss,
            measured=self.measured(folder),
            beside=self.beside,
            baseline=self.baseline,
            duration=f"{LENGTH:g}s",
        )

    def __str__(self) -> str:
        """Write the command."""
        options = f"--rate {self.rate} --rtt {self.rtt} --loss {self.loss} --beside {self.beside}"
        jitter = f" (jitter of {1e3 * self.jitter:.3g} ms)" if self.jitter else ""
        return f"plan --bitrate {self.bitrate} {options} --baseline {self.baseline}{jitter}"


def drawn(number: int, seed: int) -> list[Question]:
    """Draw questions."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        bitrate = str(random.choice(BITRATES))
        kilobits = float(bitrate.removesuffix("kb/s")) if "kb" in bitrate else 1e3 * float(bitrate.removesuffix("Mb/s"))
        rtt = math.exp(random.uniform(*np.log(RTTS)))
        found.append(
            Question(
                bitrate=bitrate,
                rate=f"{kilobits * random.uniform(*ROOM):.0f}kb/s",
                rtt=f"{rtt:.0f}ms",
                jitter=float(random.choice(JITTERS)) * rtt / 1e3,
                loss=f"{100 * random.choice(LOSSES):g}%",
                beside=str(random.choice(TRAFFIC)),
                baseline=str(random.choice(SENDERS)),
            )
        )
    return found


def document(question: Question, found: Plan, backend: str) -> dict[str, Any]:
    """Write a session over the true line for a backend."""
    candidate = found.choice.candidate
    delay = found.sender_delay if candidate.has_deadline else None
    session = scenario(found.path, found.stream, candidate, delay)
    flows = session["flows"] if backend == "simulated" else [_over_tcp(flow) for flow in session["flows"]]
    return {**session, "network": question.line(session["network"]), "flows": flows, "backend": backend}


def _over_tcp(flow: dict[str, Any]) -> dict[str, Any]:
    """Return a flow over UDP, which backends in real time have not, over TCP: a call of constant rate."""
    if flow.get("transport") != "udp":
        return flow
    own = {key: value for key, value in flow.items() if key != "transport"}
    return {**own, "endpoint": {"profile": "linux", "transport": "cubic"}}


def backend_of(question: Question, found: Plan) -> str:
    """Return the kernel, if it has the chosen sender and its settings; the relay, or our stack otherwise."""
    if found.choice.candidate.transport in RELAYED:
        return TRANSMIT
    try:
        resolve(document(question, found, "kernel"))
    except EarlybirdError:
        return "live"
    return "kernel"


def session(question: Question, found: Plan, backend: str, seed: int) -> float | None:
    """Play a session; return the delay it needed, or None if it was disturbed each time."""
    play = transmitted if backend == TRANSMIT else played
    tried = (play(question, found, backend, seed) for _ in range(ATTEMPTS))
    return next((delay for delay in tried if delay is not None), None)


def played(question: Question, found: Plan, backend: str, seed: int) -> float | None:
    """Play a session in a backend."""
    result = ScenarioRun(resolve(document(question, found, backend))).make(seed)
    added = result.table("added_delay")["added_delay_us"].to_numpy().max()
    if result.summary["disturbed"] or added > STALL * 1e6 * found.longest_delay:
        return None
    frames = result.table("deliveries")
    frames = frames.filter(frames["flow"] == f"{GROUP}0")
    written, delivered = frames["written_s"].to_numpy(), frames["delivered_s"].to_numpy()
    given = found.longest_delay if found.choice.candidate.has_deadline else None
    return needed_delay(written - written[0], delivered - written[0], found.stream.run_length, found.late, given)


def transmitted(question: Question, found: Plan, _: str, seed: int) -> float | None:
    """Carry packets by `earlybird transmit`, or by SRT's relay; return the stated delay if hardly one was late."""
    relays = SourceFileLoader("relays", str(RELAYS)).load_module()
    milliseconds = latency(found.path, found.sender_delay)
    sender, receiver = relays.relays(found.choice.candidate.transport, milliseconds)
    rate = found.stream.clip.mean_rate
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        peers = [[sys.executable, str(RELAYS), "send", json.dumps([sender, LENGTH, SETTLING, rate])]]
        peers += [[sys.executable, str(RELAYS), "transfer"]] if question.beside != "none" else []
        command = [sys.executable, str(RELAYS), "receive", json.dumps([receiver, SETTLING, str(report)])]
        (link,) = question.line(found.path.network())["links"]
        there = {key: value for key, value in link.items() if key not in ("from", "to", "reverse")}
        outcome = emulate(network(link["reverse"], there), command, servers=peers, seed=seed)
        delays = json.loads(report.read_text())["delays"]
    if outcome.summary["delay_added"]["p99_us"] > MOST_ADDED:
        return None
    unit = 8 * relays.PACKET * relays.TOGETHER
    counted = range(int(rate * (LENGTH + SETTLING) / unit))
    sent = relays.TOGETHER * sum(number * unit / rate >= SETTLING for number in counted)
    in_time = sum(delay <= found.longest_delay + relays.TOLERANCE for delay in delays)
    return found.longest_delay if sent - in_time <= max(found.late * sent, 1) else math.inf


def printed(delay: float) -> float:
    """Return a delay as the answer states it, rounded up."""
    text = delay_text(delay)
    return float(text.removesuffix(" s")) if text.endswith(" s") else math.inf


def main() -> None:
    """Ask, play, and print a line of each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--skip", type=int, default=0, help="questions at the start that are not tried")
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--parallel", type=int, default=6, help="sessions in real time at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    wanted = parser.parse_args()
    questions = drawn(wanted.questions, wanted.seed)[wanted.skip :]
    with tempfile.TemporaryDirectory() as folder:
        plans = [plan(question.request(Path(folder))) for question in questions]
    backends = [backend_of(*each) for each in zip(questions, plans, strict=True)]
    holding, tried, rows = 0, 0, []
    with ProcessPoolExecutor(wanted.parallel) as pool, ProcessPoolExecutor(RELAYS_AT_A_TIME) as relaying:
        waiting = [
            [
                (relaying if backend == TRANSMIT else pool).submit(
                    session, question, found, backend, FIRST_SEED + number
                )
                for number in range(wanted.sessions if math.isfinite(found.delay) else 0)
            ]
            for question, found, backend in zip(questions, plans, backends, strict=True)
        ]
        for question, found, backend, futures in zip(questions, plans, backends, waiting, strict=True):
            needed = [delay for future in futures if (delay := future.result()) is not None]
            stated = printed(found.longest_delay)
            held = sum(delay <= stated for delay in needed)
            # Without sessions nothing was tried: no sender carries the film, or all sessions were disturbed.
            holds = held >= HOLD * len(needed) if needed else None
            holding += holds is True
            tried += holds is not None
            rows.append(
                {
                    "question": str(question),
                    "sender": found.choice.candidate.name,
                    "backend": backend,
                    "stated_s": stated,
                    "needed_s": needed,
                    "holds": holds,
                    "answer": found.answer,
                }
            )
            worst = f"{max(needed):.3f}" if needed else "–"
            print(
                f"{question}: {found.choice.candidate.name} ({backend}), {stated:.3f} s stated; "
                f"{held} of {len(needed)} in time, the longest {worst} s{VERDICTS[holds]}",
                flush=True,
            )
    print(f"{holding} of {tried} questions that were tried hold, of {len(questions)} asked.")
    if wanted.output:
        wanted.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
