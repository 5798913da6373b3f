"""Estimates of the duration of studies on this machine, from the packets of their runs."""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from earlybird.limits import cost_of
from earlybird.loading import DEFAULT_SEED, resolve
from earlybird.paths import shipped_file
from earlybird.runs import execute
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import StudyRun, distinct

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from earlybird.store import Store
    from earlybird.study.language.definition import Study

YARDSTICK: Final = {"pairs": 8, "duration": "30s", "measure.warm-up": "1s"}
"""The dumbbell, short enough for interactive use."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of runs."""

    study: str
    scale: str
    runs: int
    simulated_s: float  # estimated sum of what the runs simulate
    processor_s: float  # estimated processor time, that of writing the results included
    jobs: int

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


def estimate(studies: Sequence[Study], scale: str, *, made: Store | None = None, jobs: int | None = None) -> list[Cost]:
    """Estimate the cost of studies at a scale, within a factor of two or three; runs in `made` cost nothing."""
    pace = _pace()
    return [_cost(study, scale, made, pace, jobs or os.cpu_count() or 1) for study in studies]


def together(name: str, costs: Sequence[Cost]) -> Cost:
    """Add the costs of studies at the same scale; a run that several of them ask for counts for each."""
    runs, simulated, seconds = (
        sum(getattr(cost, field) for cost in costs) for field in ("runs", "simulated_s", "processor_s")
    )
    return Cost(name, costs[0].scale, runs, simulated, seconds, costs[0].jobs)


def _cost(study: Study, scale: str, made: Store | None, pace: float, jobs: int) -> Cost:
    runs = _missing(distinct(study, scale), made)
    kinds = Counter(_kind(run) for run in runs)
    examples = {_kind(run): run for run in runs}
    simulated, processor = 0.0, 0.0
    for kind, count in kinds.items():
        length, cost = _one(examples[kind], pace)
        simulated, processor = simulated + count * length, processor + count * cost
    return Cost(study.name, scale, len(runs), simulated, processor, jobs)


def _missing(runs: Sequence[StudyRun], made: Store | None) -> list[StudyRun]:
    """Leave out runs that are made; compute no key if nothing is."""
    if made is None or not made.root.is_dir() or not any(made.root.iterdir()):
        return list(runs)
    return [run for run in runs if not made.has(resolved(run).key)]


def _kind(run: StudyRun) -> Hashable:
    """Sort runs that cost about the same: one part with the same things set."""
    return run.part.name, tuple(run.settings)


def _one(run: StudyRun, pace: float) -> tuple[float, float]:
    """Return the seconds that a run simulates and those that it takes."""
    spec = resolved(run).spec
    return spec.length_s, spec.expected_seconds(pace)


def _pace() -> float:
    """Return the time of a run on this machine ÷ that expected on a slow one."""
    scenario = resolve(shipped_file("scenarios", "dumbbell.toml"), YARDSTICK)
    execute(resolve(scenario, {"duration": "2s"}), DEFAULT_SEED)  # the first run in a process pays for more than itself
    started = time.process_time()
    execute(scenario, DEFAULT_SEED)
    return (time.process_time() - started) / cost_of(scenario).seconds
