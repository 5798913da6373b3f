"""Makes the runs of a study."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import filterfalse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.backends import SIMULATOR
from earlybird.errors import ScenarioWarning
from earlybird.lazy import LateModule
from earlybird.loading import override_texts, resolve
from earlybird.paths import RESULTS
from earlybird.programs import described
from earlybird.result import Result
from earlybird.run_specs import ModelRun, ProgramRun, ScenarioRun
from earlybird.shards import Shard
from earlybird.store import Store
from earlybird.study.language.definition import Study
from earlybird.study.language.library import choose_studies, find_study
from earlybird.study.runs.plan import StudyRun, plan
from earlybird.sweeps import PlannedRun, awaited, complete, share
from earlybird.tables import build
from earlybird.testbed.batch import is_play, play_all
from earlybird.testbed.definition import load

if TYPE_CHECKING:
    from earlybird import models_by_name
else:
    models_by_name = LateModule("earlybird.models_by_name")  # with it a plan's sessions are loaded

ATTEMPTS: Final = 6  # at a run in real time that the machine disturbs


@dataclass(frozen=True, slots=True)
class StudyOutcome:
    """The outcome of running studies."""

    studies: tuple[Study, ...]
    scale: str
    store: Path
    runs: int
    """Number of runs of the studies at this scale, or of the shard; one that several of them ask for counts once."""
    made: int  # the number of runs that were made now
    awaited: int  # the number of runs of other shards that have no result here yet


@dataclass(frozen=True, slots=True)
class RunCount:
    """The number of runs of a study at a scale, planned and made."""

    done: int
    every: int


def run_study(
    name: str,
    scale: str = "smoke",
    *,
    jobs: int | None = None,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = True,
    shard: Shard | str | None = None,
    dask: str | None = None,
    item: str | None = None,
) -> StudyOutcome:
    """Make those runs of one study that have no result yet; parameters and errors are those of `run_studies`."""
    return run_studies(
        [name], scale, jobs=jobs, parallel=parallel, output=output, progress=progress, shard=shard, dask=dask, item=item
    )


def run_studies(
    names: Sequence[str],
    scale: str = "smoke",
    *,
    jobs: int | None = None,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = True,
    shard: Shard | str | None = None,
    dask: str | None = None,
    item: str | None = None,
) -> StudyOutcome:
    """
    Make those runs of studies that have no result yet.

    Parameters
    ----------
    names
        The studies; ``all`` for every one that has the scale.
    scale
        ``smoke``, ``medium`` or ``full``.
    jobs
        Number of worker processes that simulate (default: one per processor).
    parallel
        Number of runs in real time, plays among them, that are made side by side.
    output
        Results folder.
    progress
        Show a progress bar on the terminal.
    shard, dask
        As for `earlybird.sweep`.
    item
        A figure or table of the only study, such as ``"T-F7"``: only its runs are made.

    Returns
    -------
    StudyOutcome
        How many runs there are, and how many were made now.

    Raises
    ------
    InputError
        If there is no such study, scale or item.
    ScenarioError
        If one of its scenarios is not valid; nothing is run then.
    StoreError, WorkerError, Interrupted
        As `earlybird.sweep`.
    """
    studies = choose_studies(names, scale, item)
    return make_runs(
        studies, scale, jobs=jobs, parallel=parallel, output=output, progress=progress, shard=shard, dask=dask
    )


def make_runs(
    studies: Sequence[Study],
    scale: str,
    *,
    jobs: int | None = None,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = False,
    shard: Shard | str | None = None,
    dask: str | None = None,
) -> StudyOutcome:
    """Make the runs of studies that were read already; otherwise as `run_studies`."""
    part = Shard.of(shard)
    every = [run for study in studies for run in planned_runs(study, scale)]
    own = share(every, part)
    plays, planned = (list(filter(is_play, own)), list(filterfalse(is_play, own)))
    for spec in {run.spec for run in planned}:
        if isinstance(spec, ScenarioRun) and spec.backend != SIMULATOR:
            spec.scenario.check_backend()
    new = complete(planned, jobs=jobs, parallel=parallel, output=output, progress=progress, dask=dask).new
    new |= _repeat_disturbed(planned, parallel, output, progress=progress)
    new |= _play(plays, parallel, output, progress=progress)
    store = Store(Path(output))
    made, missing = sum(map(store.has, new)), awaited(every, own, store)
    return StudyOutcome(tuple(studies), scale, store.root, len({run.key for run in own}), made, missing)


def _repeat_disturbed(
    planned: Sequence[PlannedRun], parallel: int, output: str | Path, *, progress: bool
) -> frozenset[str]:
    """Make runs in real time again that the machine disturbed; return the keys of these, and warn of what is left."""
    store, new = Store(Path(output)), frozenset[str]()
    real = {run.key: run for run in planned if run.spec.backend != SIMULATOR}
    for _ in range(ATTEMPTS - 1):
        disturbed = _discard_disturbed(real, store)
        if not disturbed:
            return new
        new |= complete(disturbed, parallel=parallel, output=output, progress=progress, what="repeating").new
    if left := _discard_disturbed(real, store):
        warnings.warn(
            f"{len(left)} of {len(real)} runs in real time were disturbed {ATTEMPTS} times, and have no result."
            f" hint: fewer side by side than --parallel {parallel}, or nothing else on this machine.",
            ScenarioWarning,
            stacklevel=4,
        )
    return new


def _discard_disturbed(real: Mapping[str, PlannedRun], store: Store) -> list[PlannedRun]:
    """Delete the results of runs that the machine disturbed; return the runs."""
    disturbed = {key: run for key, run in real.items() if store.has(key) and store.load(key).summary["disturbed"]}
    for key in disturbed:
        store.discard(key)
    return list(disturbed.values())


def _play(plays: Sequence[PlannedRun], parallel: int, output: str | Path, *, progress: bool) -> frozenset[str]:
    """Make the plays of test beds, and warn of problems with them; return the keys of those that were made."""
    if not plays:
        return frozenset()
    batch = play_all(plays, parallel=parallel, output=output, progress=progress)
    for problem in batch.problems:
        warnings.warn(problem, ScenarioWarning, stacklevel=4)
    return batch.plays.new


def progress_of(name: str, *, output: str | Path = RESULTS) -> dict[str, RunCount]:
    """Return how many runs of a study each scale has, and how many of them were made."""
    study, store = find_study(name), Store(Path(output))
    return {scale: _count(study, scale, store) for scale in study.scales}


def _count(study: Study, scale: str, store: Store) -> RunCount:
    keys = {run.key for run in planned_runs(study, scale)}
    return RunCount(sum(map(store.has, keys)), len(keys))


def made_share(study: Study, scale: str, store: Store) -> float:
    """Return the share of a study's runs at a scale that have a result."""
    count = _count(study, scale, store)
    return count.done / count.every if count.every else 0.0


def planned_runs(study: Study, scale: str) -> Iterator[PlannedRun]:
    """Turn all runs of a study into ones that a sweep can make; the seeds of a cell share their scenario."""
    runs, cells = plan(study, scale), dict[int, PlannedRun]()
    for run in runs:
        cell = cells.get(id(run.settings)) or cells.setdefault(id(run.settings), resolved(run))
        yield PlannedRun(cell.spec, run.seed, cell.parameters)


def resolved(run: StudyRun) -> PlannedRun:
    """Turn a run of a study into one that a sweep can make, with its complete scenario."""
    if run.part.model:
        return PlannedRun(_model_run(run), run.seed, dict(run.axes))
    if run.part.is_played:
        return PlannedRun(load(run.part.testbed, run.settings)[0].spec, run.seed, dict(run.axes))
    if run.part.is_program:
        return PlannedRun(ProgramRun.of(described(run.part.program, run.settings)), run.seed, dict(run.axes))
    overrides = tuple(override_texts(run.settings))
    return PlannedRun(_resolved(run.part.scenario, overrides), run.seed, dict(run.axes))


def _model_run(run: StudyRun) -> ModelRun:
    where = f"parts.{run.part.name}"
    return ModelRun(build(models_by_name.model_named(run.part.model, where), run.settings, where))


@cache
def _resolved(scenario: Path, overrides: tuple[tuple[str, str], ...]) -> ScenarioRun:
    return ScenarioRun(resolve(scenario, overrides))


def results(run: StudyRun, store: Store) -> Result | None:
    """Return the result of a run if it was made."""
    key = resolved(run).key
    return store.load(key) if store.has(key) else None
