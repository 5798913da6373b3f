"""How long the runs of studies take on this machine, told from a few of them."""

import os
import tempfile
import time
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from earlybird.pool import Job, spread
from earlybird.progress import progress_bar
from earlybird.runs import make
from earlybird.store import Store
from earlybird.study.definition import Study
from earlybird.study.execution import planned_runs
from earlybird.study.plan import plan
from earlybird.sweeps import PlannedRun

SAMPLES = 2
"""Runs of each kind that are made."""
QUICK = 0.1
"""Seconds of a run that is made twice, as the first in a process pays for more than itself."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What runs cost."""

    study: str
    scale: str
    runs: int
    simulated_s: float
    """Estimated sum of what the runs simulate."""
    processor_s: float
    """Estimated processor time, that of writing the results included."""
    jobs: int
    """Number of worker processes."""

    @property
    def wall_s(self) -> float:
        """Estimated seconds from start to end, where each worker has a processor."""
        return self.processor_s / self.jobs

    @property
    def speed(self) -> float:
        """Simulated seconds per second."""
        return self.simulated_s / self.wall_s if self.wall_s else 0.0

    def row(self) -> dict[str, str | int | float]:
        """Return it as a row of a table of data."""
        return {
            "study": self.study,
            "scale": self.scale,
            "runs": self.runs,
            "simulated_s": round(self.simulated_s),
            "simulated_seconds_per_second": round(self.speed, 1),
            "jobs": self.jobs,
            "wall_s": round(self.wall_s, 1),
        }


@dataclass(frozen=True, slots=True)
class Kind:
    """Runs of a study that cost about the same: those of one part in which the same things are set."""

    study: str
    runs: Sequence[PlannedRun]

    @property
    def sample(self) -> list[PlannedRun]:
        """A few of them, spread evenly over the grid."""
        count = min(SAMPLES, len(self.runs))
        return [self.runs[(2 * place + 1) * len(self.runs) // (2 * count)] for place in range(count)]


def estimate(
    studies: Sequence[Study], scale: str, *, made: Store | None = None, jobs: int | None = None, progress: bool = False
) -> list[Cost]:
    """
    Make a few runs of every kind, throw their results away, and tell from them what all cost.

    Parameters
    ----------
    studies
        The studies.
    scale
        A scale that all of them have.
    made
        Results that are there, whose runs cost nothing; without it every run counts.
    jobs
        Number of worker processes (default: one per processor). The few runs are made in as many, so that they hinder
        each other as all of them would.
    progress
        Show a progress bar on the terminal.

    Returns
    -------
    list of Cost
        One per study.

    Raises
    ------
    ScenarioError
        If one of the scenarios is not valid.
    """
    workers = jobs or os.cpu_count() or 1
    kinds = [kind for study in studies for kind in _kinds(study, scale, made)]
    sample = [Job(run.key, run.scenario, run.seed) for kind in kinds for run in kind.sample]
    with progress_bar(len(sample), visible=progress, what="measuring") as advance:
        measured = iter(spread(_measure, sample, workers, advance))
    priced = [(kind, [next(measured) for _ in kind.sample]) for kind in kinds]
    return [_cost(study, scale, [each for each in priced if each[0].study == study.name], workers) for study in studies]


def together(name: str, costs: Sequence[Cost]) -> Cost:
    """Add the costs of studies at the same scale; a run that several of them ask for counts for each."""
    runs, simulated, seconds = (
        sum(getattr(cost, field) for cost in costs) for field in ("runs", "simulated_s", "processor_s")
    )
    return Cost(name, costs[0].scale, runs, simulated, seconds, costs[0].jobs)


def _kinds(study: Study, scale: str, made: Store | None) -> Iterator[Kind]:
    """Sort the runs that are missing by kind, each once."""
    kinds: dict[Hashable, dict[str, PlannedRun]] = {}
    for asked, run in zip(plan(study, scale), planned_runs(study, scale), strict=True):
        if made is None or not made.has(run.key):
            kinds.setdefault((asked.part.scenario, *asked.settings), {}).setdefault(run.key, run)
    seen = set[str]()
    for runs in kinds.values():
        new = [run for key, run in runs.items() if key not in seen]
        seen |= runs.keys()
        if new:
            yield Kind(study.name, new)


def _measure(job: Job) -> tuple[float, float]:
    """Make a run; return the seconds that it simulated and those that it took."""
    simulated, seconds = _once(job)
    return (simulated, seconds) if seconds > QUICK else _once(job)


def _once(job: Job) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        result = make(job.scenario, job.seed)
        Store(Path(folder)).save(result)
        return result.summary.get("duration_s", 0.0), time.process_time() - started


def _cost(study: Study, scale: str, priced: Sequence[tuple[Kind, list[tuple[float, float]]]], jobs: int) -> Cost:
    runs = sum(len(kind.runs) for kind, _ in priced)
    simulated, seconds = (
        sum(len(kind.runs) * fmean(run[place] for run in sample) for kind, sample in priced) for place in (0, 1)
    )
    return Cost(study.name, scale, runs, simulated, seconds, jobs)
