"""
Compare one flow with delayed ACKs with ns-2.35 (`ns`), event by event, in forty settings for each of five TCPs.

Without arguments it prints a table of all traces, and tries to show of each one that differs that it is a tie: two
things happen at the same moment – the delayed ACK's timer and the next segment –, or a number is a whole one, and the
rounding of ns-2's clock decides. Nothing but that rounding changes if the whole run begins later by some of the clock's
ticks: if ns-2, begun later, does as the simulator does, to the end, it is a tie. With ``--keep`` it writes the traces
of the settings that the tests compare with into ``tests/golden/delayed-acks``.
"""

import csv
import gzip
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import earlybird
from earlybird.outputs import Outputs
from generated import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden" / "delayed-acks"
SCENARIO = REPOSITORY / "scenarios" / "fall-floyd-1996.toml"
AGENTS = {"sack": "Sack1", "tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "vegas": "Vegas"}
OPTIONS = {
    "stock": (),
    "fall96": ("singledup=0", "minrto=1", "precision=0", "rtxinit=6.0", "updvar=0", "nrchanges1=0", "deflate=0"),
}
"""ns-2.35's defaults, and the settings with which it validates the figures of 1996: variants of the scenario."""
COUNT, SEED = 40, 2
KEPT = (8, 9, 30, 35)
"""Settings whose traces the tests compare with: in each a segment comes again whose ACK ns-2's sink holds back."""
KEPT_SECONDS = 5
START = 1.0  # start of a flow, in seconds
STARTS: list[float] = [*(round(1 + tick / 100, 2) for tick in range(1, 51)), *range(2, 41)]
"""Other starts, by whole ticks of ns-2's retransmission clock."""
EXPLAINED = {
    (28, "vegas", 265): "segment 68 took exactly twice the shortest round trip: 2 - 3/2 + 1/2 segments are 1",
}
"""By setting, transport and row: ties that ns-2 decides so with every other start, or that a second one hides."""

Row = list[str]


@dataclass(frozen=True)
class Setting:
    """A path, its losses, and the receiver's delay."""

    window: int
    delack_ms: int
    rate_kbps: int
    delay_ms: int
    queue: int
    drops: tuple[int, ...]
    options: str


def settings() -> list[Setting]:
    """Draw the forty settings; they are the same every time."""
    draw = random.Random(SEED)
    drawn = []
    for _ in range(COUNT):
        drops = tuple(sorted(draw.sample(range(6, 70), draw.choice([0, 1, 1, 2, 2, 3, 4, 5, 6]))))
        window, delack = draw.choice([6, 10, 14, 20, 28, 40]), draw.choice([50, 100, 200])
        rate, delay = draw.choice([300, 800, 1500, 3000]), draw.choice([12, 40, 100, 155])
        queue, options = draw.choice([5, 8, 15, 25]), draw.choice(["stock", "fall96"])
        drawn.append(Setting(window, delack, rate, delay, queue, drops, options))
    return drawn


def ours(transport: str, setting: Setting, file: Path, seconds: int = 10) -> list[Row]:
    """Run the simulator; give the rows of its trace."""
    overrides = {
        "transport": transport,
        "options": setting.options,
        "drops": list(setting.drops),
        "duration": f"{seconds}s",
        "endpoint.window": setting.window,
        "endpoint.delayed-ack": f"{setting.delack_ms}ms",
        "network.links.1.rate": f"{setting.rate_kbps}kb/s",
        "network.links.1.delay": f"{setting.delay_ms}ms",
        "network.links.1.queue.packets": setting.queue,
    }
    earlybird.run(SCENARIO, overrides=overrides, outputs=Outputs(trace=file))
    with file.open(newline="") as lines:
        return list(csv.reader(lines))[1:]


def theirs(transport: str, setting: Setting, folder: Path, seconds: int = 10, start: float = START) -> list[Row]:
    """Run ns-2; give the rows of its trace in our format, with times as if the flow had begun at `START`."""
    base = folder / "ns2"
    values = {
        "tcp": AGENTS[transport],
        "drops": " ".join(map(str, setting.drops)),
        "out": str(base),
        "start": start,
        "dur": seconds + start - START,
        "wnd": setting.window,
        "delack": setting.delack_ms / 1000,
        "rate": f"{setting.rate_kbps}Kb",
        "delay": f"{setting.delay_ms}ms",
        "queue": setting.queue,
    }
    words = [f"{key}={value}" for key, value in values.items()]
    subprocess.run(["ns", str(GOLDEN / "trace.tcl"), *words, *OPTIONS[setting.options]], check=True)
    rows = rows_of(base.with_suffix(".tr"))
    return rows if start == START else [[f"{float(row[0]) - start + START:.6f}", *row[1:]] for row in rows]


def rows_of(trace: Path) -> list[Row]:
    """Read ns-2's trace of queues and variables."""
    state: dict[str, str] = {}
    top, rows = -1, []
    for line in trace.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if words[0] not in "+-rd":
            state[words[5]] = words[6]
            if float(words[0]) > 0:
                rows.append([f"{float(words[0]):.5f}", words[5].rstrip("_"), "", *values_of(state)])
        elif name := event_of(words, top):
            rows.append([words[1], name, words[10], *values_of(state)])
            top = max(top, int(words[10])) if name == "snd" else top
    return rows


def values_of(state: dict[str, str]) -> list[str]:
    """Return the sender's values in the order of the columns."""
    return [state.get(name, "") for name in ("cwnd_", "ssthresh_", "backoff_", "nrexmit_")]


def event_of(words: list[str], top: int) -> str | None:
    """Return the event of a line of a queue's trace, if it is one of those that are compared."""
    match words[0], words[2], words[3]:
        case "+", "0", "1":
            return "rtx" if int(words[10]) <= top else "snd"
        case "d", _, _:
            return "drp"
        case "r", "1", "2":
            return "dlv"
        case "r", "1", "0":
            return "ack"
    return None


def first_difference(ours: list[Row], theirs: list[Row]) -> int | None:
    """Return the number of the first row that differs, times to the last digit that ns-2 prints."""
    for number, (our, their) in enumerate(zip(ours, theirs, strict=False)):
        tolerance = 1.01e-5 if their[2] == "" else 1.01e-6
        if our[1:] != their[1:] or abs(float(our[0]) - float(their[0])) > tolerance:
            return number
    return None if len(ours) == len(theirs) else min(len(ours), len(theirs))


def tie_of(transport: str, setting: Setting, mine: list[Row], folder: Path) -> float | None:
    """Return a start with which ns-2 and the simulator agree."""
    for start in STARTS:
        if first_difference(mine, theirs(transport, setting, folder, start=start)) is None:
            return start
    return None


def verdict(transport: str, number: int, folder: Path) -> str:
    """Return the verdict on the two traces of a setting."""
    setting = settings()[number]
    mine, other = ours(transport, setting, folder / "trace.csv"), theirs(transport, setting, folder)
    at = first_difference(mine, other)
    if at is None:
        return "exact"
    start = tie_of(transport, setting, mine, folder)
    reason = EXPLAINED.get((number, transport, at)) if start is None else f"exact if ns-2 begins at {start:g} s"
    row = f"row {at} of {len(other)}, {mine[at]} beside {other[at]}"
    return f"no tie found: {row}" if reason is None else f"a tie: {reason} ({row})"


def compare(folder: Path) -> None:
    """Print how every trace compares, and how many of each kind there are."""
    verdicts: dict[tuple[int, str], str] = {}
    print("setting ", *(f"{transport:8}" for transport in AGENTS))
    for number in range(COUNT):
        line = {transport: verdict(transport, number, folder) for transport in AGENTS}
        verdicts |= {(number, transport): outcome for transport, outcome in line.items()}
        print(f"{number:7} ", *(f"{outcome.split(':')[0]:8}" for outcome in line.values()), flush=True)
    differing = {key: outcome for key, outcome in verdicts.items() if outcome != "exact"}
    for (number, transport), outcome in differing.items():
        print(f"setting {number}, {transport}: {outcome}")
    ties = sum(outcome.startswith("a tie") for outcome in differing.values())
    print(f"{len(verdicts) - len(differing)} of {len(verdicts)} traces are exact, {ties} are ties,", end=" ")
    print(f"{len(differing) - ties} differ for another reason")


def keep(folder: Path) -> None:
    """Write what the tests compare with."""
    for number in KEPT:
        for transport in AGENTS:
            with gzip.open(GOLDEN / f"{transport}-{number}.csv.gz", "wt", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["time", "event", "seq", "cwnd", "ssthresh", "backoff", "timeouts"])
                writer.writerows(theirs(transport, settings()[number], folder, KEPT_SECONDS))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        (keep if "--keep" in sys.argv else compare)(Path(name))
