"""How long the runs of studies take on this machine, told in a moment from the packets that they carry."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from earlybird.description import resolve
from earlybird.limits import cost_of
from earlybird.paths import repository_file
from earlybird.quantities import seconds
from earlybird.runs import DEFAULT_SEED, simulate
from earlybird.study.cost import Cost
from earlybird.study.execution import resolved
from earlybird.study.plan import StudyRun, distinct

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from earlybird.store import Store
    from earlybird.study.definition import Study

YARDSTICK: Final = {"pairs": 8, "duration": "30s", "measure.warm-up": "1s"}
"""The dumbbell, short enough to be run while somebody waits."""

SECONDS_PER_RESULT: Final = 0.02
"""What writing a result takes, measured on one processor of 2024."""

SECONDS_PER_MODEL: Final = 1.0
"""What a Markov chain takes, in the middle."""


def forecast(studies: Sequence[Study], scale: str, *, made: Store, jobs: int | None = None) -> list[Cost]:
    """
    Tell what runs cost without making them, within a factor of two or three.

    Parameters
    ----------
    studies
        The studies.
    scale
        A scale that all of them have.
    made
        Results that are there, whose runs cost nothing. Only where there are any are the runs looked for, which takes
        some seconds for large studies.
    jobs
        Number of worker processes (default: one per processor).

    Returns
    -------
    list of Cost
        One per study.

    Raises
    ------
    ScenarioError
        If one of the scenarios is not valid.
    """
    pace = _pace()
    return [_forecast(study, scale, made, pace, jobs or os.cpu_count() or 1) for study in studies]


def _forecast(study: Study, scale: str, made: Store, pace: float, jobs: int) -> Cost:
    runs = _missing(distinct(study, scale), made)
    kinds = Counter(_kind(run) for run in runs)
    examples = {_kind(run): run for run in runs}
    simulated, processor = 0.0, 0.0
    for kind, count in kinds.items():
        length, cost = _one(examples[kind], pace)
        simulated, processor = simulated + count * length, processor + count * cost
    return Cost(study.name, scale, len(runs), simulated, processor, jobs)


def _missing(runs: Sequence[StudyRun], made: Store) -> list[StudyRun]:
    """Leave out what is made; no key has to be computed where nothing is."""
    if not made.root.is_dir() or not any(made.root.iterdir()):
        return list(runs)
    return [run for run in runs if not made.has(resolved(run).key)]


def _kind(run: StudyRun) -> Hashable:
    """Sort runs that cost about the same: one part with the same things set."""
    return run.part.name, tuple(run.settings)


def _one(run: StudyRun, pace: float) -> tuple[float, float]:
    """Return the seconds that a run simulates and those that it takes."""
    if run.part.model:
        return 0.0, SECONDS_PER_MODEL
    scenario = resolved(run).scenario
    return _length(scenario), pace * cost_of(scenario).seconds + SECONDS_PER_RESULT


def _length(scenario: str) -> float:
    return seconds(json.loads(scenario)["duration"]) or 0.0


def _pace() -> float:
    """Return what a run takes on this machine ÷ what is expected of a slow one."""
    scenario = resolve(repository_file("scenarios", "dumbbell.toml"), YARDSTICK)
    simulate(
        resolve(scenario, {"duration": "2s"}), DEFAULT_SEED
    )  # the first run in a process pays for more than itself
    started = time.process_time()
    simulate(scenario, DEFAULT_SEED)
    return (time.process_time() - started) / cost_of(scenario).seconds
