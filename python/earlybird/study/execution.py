"""Makes the runs of a study and reads them back."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from earlybird.description import override_texts, resolve
from earlybird.errors import InputError
from earlybird.paths import RESULTS
from earlybird.result import Result
from earlybird.runs import simulate
from earlybird.store import Store
from earlybird.study.definition import Study
from earlybird.study.library import check_scale, find_study
from earlybird.study.observations import Observation, observe
from earlybird.study.plan import StudyRun, plan
from earlybird.study.quantities import Measurements
from earlybird.sweeps import PlannedRun, complete


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """What running a study came to."""

    study: Study
    scale: str
    store: Path
    runs: int
    """Number of runs of the study at this scale."""
    made: int
    """How many of them were made now."""


def run_study(
    name: str, scale: str = "smoke", *, jobs: int | None = None, out: str | Path = RESULTS, progress: bool = True
) -> StudyOutcome:
    """
    Make those runs of a study that have no result yet.

    Parameters
    ----------
    name
        The study.
    scale
        ``smoke``, ``medium`` or ``full``.
    jobs
        Number of worker processes (default: one per processor).
    out
        Results folder.
    progress
        Show a progress bar on the terminal.

    Returns
    -------
    StudyOutcome
        How many runs there are, and how many were made now.

    Raises
    ------
    InputError
        If there is no such study or scale.
    ScenarioError
        If one of its scenarios is not valid; nothing is run then.
    StoreError, WorkerError, Interrupted
        As `earlybird.sweep`.
    """
    study = find_study(name)
    check_scale(study, scale)
    return make_runs(study, scale, jobs=jobs, out=out, progress=progress)


def make_runs(
    study: Study, scale: str, *, jobs: int | None = None, out: str | Path = RESULTS, progress: bool = False
) -> StudyOutcome:
    """Make the runs of a study that was read already; otherwise as `run_study`."""
    planned = [resolved(run) for run in plan(study, scale)]
    result = complete(planned, jobs=jobs, out=out, progress=progress)
    return StudyOutcome(study, scale, Path(out), len({run.key for run in planned}), result.made)


def measurements(study: Study, scale: str, store: Store) -> tuple[Measurements, int]:
    """
    Read the results of a study.

    Parameters
    ----------
    study
        The study.
    scale
        One of its scales.
    store
        Where the results are.

    Returns
    -------
    tuple
        The measurements, and the number of runs that are missing.

    Raises
    ------
    InputError
        If there are no results at all.
    StoreError
        If one is damaged.
    """
    runs = plan(study, scale)
    observations = list(_observed(runs, store))
    if not observations:
        command = f"earlybird study run {study.name} --scale {scale}"
        raise InputError(
            f"{store.root} has no results of the study {study.name!r} at scale {scale!r}; `{command}` makes them."
        )
    return Measurements(study, observations), len(runs) - len(observations)


def resolved(run: StudyRun) -> PlannedRun:
    """
    Turn a run of a study into one that a sweep can make.

    Parameters
    ----------
    run
        A run of the study.

    Returns
    -------
    PlannedRun
        With its complete scenario.
    """
    overrides = tuple(override_texts(run.settings))
    return PlannedRun(_resolved(run.part.scenario, overrides), run.seed, dict(run.axes))


@cache
def _resolved(scenario: Path, overrides: tuple[tuple[str, str], ...]) -> str:
    return resolve(scenario, overrides)


def results(run: StudyRun, store: Store) -> Result | None:
    """Return the result of a run if it was made."""
    key = resolved(run).key
    return store.load(key) if store.has(key) else None


def packets(run: StudyRun) -> pl.DataFrame:
    """
    Trace the packets of a run's first observed flow by making the run again: those that trace are small.

    Parameters
    ----------
    run
        The run.

    Returns
    -------
    polars.DataFrame
        One row per event.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.csv")
        simulate(resolved(run).scenario, run.seed, trace=path, trace_flows=[f"{run.part.flows}0"])
        return pl.read_csv(path, infer_schema_length=None)


def _observed(runs: Sequence[StudyRun], store: Store) -> Iterator[Observation]:
    for run in runs:
        if result := results(run, store):
            yield observe(run, result, packets(run) if run.part.trace else None)
