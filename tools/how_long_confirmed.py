"""
Try the table of docs/how-long-to-wait.md on lines that it does not have: simulated, over our stack, over the kernel.

    python tools/how_long_confirmed.py --backends sim                       # moments
    python tools/how_long_confirmed.py --backends live kernel --parallel 4   # what is missing of five runs each
    python tools/how_long_confirmed.py --attempts 0                       # shows what is there

For each of ten lines the table is read as the page says: loss, round trip, share of the line and bursts up to the next
that it has. A session is in time if it does with the delay that follows. After Ctrl-C the same command goes on; runs in
real time that the machine disturbed are thrown away and repeated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.loading import resolve
from earlybird.planning.candidates import candidate
from earlybird.planning.selection import quantile_of_sessions
from earlybird.planning.session import needed_delay
from earlybird.planning.study_adapter import SessionCase
from earlybird.run_specs import ScenarioRun
from earlybird.sweeps import PlannedRun
from how_long import TABLE, waits
from measured import LINUX, markdown, options, results_of, unloaded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from earlybird.result import Result
    from how_long import Wait, Waits

LINES: Final = (
    {"loss": 0.002, "rtt": "40ms", "ratio": 0.4},
    {"loss": 0.002, "rtt": "100ms", "ratio": 0.2},
    {"loss": 0.005, "rtt": "15ms", "ratio": 0.5},
    {"loss": 0.005, "rtt": "50ms", "ratio": 0.7},
    {"loss": 0.005, "rtt": "120ms", "ratio": 0.4},
    {"loss": 0.02, "rtt": "15ms", "ratio": 0.2},
    {"loss": 0.02, "rtt": "40ms", "ratio": 0.4},
    {"loss": 0.02, "rtt": "100ms", "ratio": 0.4},
    {"loss": 0.005, "rtt": "40ms", "ratio": 0.4, "burst": 2.5},
    {"loss": 0.02, "rtt": "80ms", "ratio": 0.4, "burst": 2.5},
)
"""Between the lines of the table, none of them in it."""
SENDERS: Final = ("cubic", "bbr3-rack", "pert-rack", "earlybird-rt")
FIRST_SEED: Final = 1001  # no session of the table has these


@dataclass(frozen=True)
class Trial:
    """Sessions of a sender over a line in a backend."""

    case: SessionCase
    delay: float  # the delay of the table in seconds
    backend: str

    @property
    def _given(self) -> float | None:
        """The deadline of a sender that abandons late units."""
        return self.delay if candidate(self.case.sender).has_deadline else None

    def plan(self, runs: int) -> list[PlannedRun]:
        """List its runs."""
        document = {**self.case.scenario(self._given), "backend": self.backend}
        spec = ScenarioRun(resolve(document))
        return [PlannedRun(spec, FIRST_SEED + number, {}) for number in range(runs)]

    def delays_needed(self, results: Iterable[Result]) -> list[float]:
        """Return the delay that each session needed."""
        tables = [result.table("deliveries") for result in results]
        return [self._need(frames["written_s"].to_numpy(), frames["delivered_s"].to_numpy()) for frames in tables]

    def _need(self, written: NDArray[np.float64], delivered: NDArray[np.float64]) -> float:
        begin = written[0]
        return needed_delay(
            written - begin, delivered - begin, self.case.stream.run_length, self.case.late, self._given
        )


def upwards(known: Waits, case: SessionCase) -> Wait | None:
    """Find the row to read for a line: of those that are nowhere smaller, the nearest."""

    def is_above(wait: Wait) -> bool:
        other = wait.case
        same = (other.sender, other.bitrate, other.late) == (case.sender, case.bitrate, case.late)
        return same and all(mine <= theirs for mine, theirs in zip(_size(case), _size(other), strict=True))

    return min(filter(is_above, known.values()), key=lambda wait: _size(wait.case), default=None)


def _size(case: SessionCase) -> tuple[float, ...]:
    return case.burst, case.loss, case.round_trip, case.ratio


def trials(known: Waits, backends: Sequence[str]) -> list[Trial]:
    """List what is tried: where the table has a delay, and the backend has the sender."""
    missing = unloaded() if "kernel" in backends else []
    found = []
    for line in LINES:
        for sender in SENDERS:
            case = SessionCase(sender, **line)  # type: ignore[arg-type]
            if (wait := upwards(known, case)) is None or not wait.is_possible:
                continue
            delay = wait.rounded * case.round_trip + case.largest_frame_s
            found += [Trial(case, delay, backend) for backend in backends if _has(backend, sender, missing)]
    return found


def _has(backend: str, sender: str, missing: Sequence[str]) -> bool:
    kernels = {**LINUX, "cubic": "cubic"}
    return backend != "kernel" or (sender in kernels and sender not in missing)


def row(trial: Trial, delays_needed: Sequence[float]) -> list[str]:
    """Return the cells of a trial."""
    case, in_time = trial.case, sum(delay_needed <= trial.delay for delay_needed in delays_needed)
    line = (
        f"{100 * case.loss:g} %{f' in bursts of {case.burst:g}' if case.burst > 1 else ''}, {case.rtt}, {case.ratio:g}"
    )
    nine = float(quantile_of_sessions(np.array(delays_needed))) if delays_needed else math.nan
    text = f"{nine:.2f} s" if math.isfinite(nine) else "–"
    return [line, case.sender, trial.backend, f"{trial.delay:.2f} s", text, f"{in_time} of {len(delays_needed)}"]


def main() -> None:
    """Make what runs are missing, and print a table."""
    parser = options(__doc__, "how-long-confirmed", seeds=20)
    parser.add_argument("--backends", nargs="+", default=["sim", "live", "kernel"], choices=["sim", "live", "kernel"])
    wanted = parser.parse_args()
    known = waits(pl.read_csv(TABLE))
    results = results_of(trials(known, wanted.backends), wanted)
    delays_needed = {trial: trial.delays_needed(each) for trial, each in results.items()}
    heads = ["line (lost, round trip, film ÷ line)", "sender", "backend", "table", "nine of ten need", "in time"]
    print(*markdown(heads, (row(trial, found) for trial, found in delays_needed.items())), sep="\n")
    for backend in wanted.backends:
        found = [(trial, delays_needed[trial]) for trial in delays_needed if trial.backend == backend]
        count = sum(delay_needed <= trial.delay for trial, each in found for delay_needed in each)
        print(f"{backend}: {count} of {sum(len(each) for _, each in found)} sessions in time.")


if __name__ == "__main__":
    main()
