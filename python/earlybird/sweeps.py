"""Many runs of one scenario: every combination of a grid's values with every seed."""

from __future__ import annotations

import itertools
import logging
import math
import os
import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird.backends import SIMULATOR
from earlybird.errors import InputError, Interrupted, ScenarioWarning, StoreError
from earlybird.lazy import LateModule
from earlybird.limits import check_number_of_runs, cost_of, warn_of_length
from earlybird.loading import Overrides, ScenarioLike, override_texts, resolve, warn_about
from earlybird.paths import RESULTS
from earlybird.pool import Job, work_through
from earlybird.run_specs import ScenarioRun
from earlybird.runs import checked_seed
from earlybird.shards import Shard
from earlybird.store import Store, planned_key

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from earlybird import cluster, notebook, pandas_tables, sweep_tables, text_view
    from earlybird import progress as progress_bars
    from earlybird._core import ResolvedScenario
    from earlybird.plots import sweep as sweep_plot
    from earlybird.run_specs import RunSpec
else:
    cluster = LateModule("earlybird.cluster")
    notebook = LateModule("earlybird.notebook")
    pandas_tables = LateModule("earlybird.pandas_tables")
    sweep_plot = LateModule("earlybird.plots.sweep")
    progress_bars = LateModule("earlybird.progress")
    sweep_tables = LateModule("earlybird.sweep_tables")
    text_view = LateModule("earlybird.text_view")
    pl = LateModule("polars")

log = logging.getLogger("earlybird")


@dataclass(frozen=True)
class PlannedRun:
    """One run of a sweep; its `parameters` have a value per key of the grid."""

    spec: RunSpec
    seed: int
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The name of its result in a store."""
        return planned_key(self.spec, self.seed)


@dataclass(frozen=True, repr=False)
class SweepResult:
    """
    The results of a sweep.

    Attributes
    ----------
    planned
        The runs, in the order of the grid.
    store
        Where their results are.
    new
        The keys of those that were made now; the others were there already.
    awaited
        How many runs of other shards have no result here yet.
    """

    planned: Sequence[PlannedRun]
    store: Store
    new: frozenset[str] = frozenset()
    awaited: int = 0

    @cached_property
    def made(self) -> int:
        """The number of planned runs that were made now, each counted once."""
        return len(self.new & {run.key for run in self.planned})

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per run: the grid's values, the seed, the summary."""
        return pl.DataFrame([self._row(run) for run in self.planned], infer_schema_length=None, strict=False)

    def _row(self, run: PlannedRun) -> dict[str, Any]:
        labels = sweep_tables.labels(run)
        summary = self.store.load(run.key).summary
        return {**labels, **{key: value for key, value in summary.items() if key not in labels}}

    def table(self, name: str) -> pl.LazyFrame:
        """
        Put one table (see `Result`) of all runs together, led by the grid's values and the seed.

        ``collect()`` reads it. A key of the grid that is a column of the table too gets ``run_`` in front.
        """
        return sweep_tables.joined_table(self.planned, self.store, name)

    def to_pandas(self, name: str = "flows") -> Any:  # noqa: ANN401, as pandas need not be installed
        """Return `table` as a `pandas.DataFrame`; raises `MissingPackageError` if pandas is not installed."""
        return pandas_tables.to_pandas(self.table(name).collect())

    def plot(
        self, measure: str | None = None, *, table: str | None = None, group: str | None = None
    ) -> notebook.Picture:
        """
        Draw one measure along the first key of the grid, a line for each combination of the others.

        It is a column of `runs` with numbers (default: the first that the sweep's table shows), or the mean of one of a
        results table, such as ``plot("throughput_bps", table="flows", group="video")``; with several seeds the means
        have 90 % intervals.
        """
        return notebook.Picture(sweep_plot.chart(self, measure, table, group))

    def __repr__(self) -> str:
        """Show itself in a shell: the grid, the seeds and the folder of the results."""
        return text_view.sweep_text(self)

    def _repr_html_(self) -> str:
        """Show itself in a notebook: a row per point of the grid."""
        return notebook.sweep_html(self)


def sweep(
    scenario: ScenarioLike,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    overrides: Overrides = (),
    jobs: int | None = None,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = False,
    shard: Shard | str | None = None,
    dask: str | None = None,
) -> SweepResult:
    """
    Simulate every combination of a grid's values with every seed, in several processes.

    Results are kept as they come; runs whose result is there already are not made again, so an interrupted sweep goes
    on where it stopped.

    Parameters
    ----------
    scenario
        As for `earlybird.run`.
    grid
        Values per parameter name or dotted key (default: the scenario's ``[sweep.grid]``).
    seeds
        Number of seeds, counted from 1, or the seeds (default: the scenario's ``[sweep] seeds``, else 1).
    overrides
        Values that hold for all runs; they replace the grid's for the same key.
    jobs
        Number of worker processes that simulate (default: one per processor). Results do not depend on it.
    parallel
        Number of runs in real time that are made side by side. Each tells whether it was disturbed, so more of them are
        worth a try where they are light.
    output
        Results folder (default: ``results``).
    progress
        Show a progress bar on the terminal, or a line every ten seconds where there is none.
    shard
        Make only this part of the runs, such as ``"2/4"`` (default: all). All parts give the same bytes as one sweep,
        in one folder or in several that are copied into one.
    dask
        Address of a Dask scheduler whose workers simulate, such as ``"tcp://10.0.0.1:8786"`` (default: processes of
        this machine do). Results are kept here. Takes the extra ``dask``, and the same earlybird everywhere.

    Returns
    -------
    SweepResult
        One row per run, and the tables of all runs.

    Raises
    ------
    ScenarioError
        If one of the scenarios is not valid, or there is not enough memory for one of its runs; nothing is run then.
    InputError
        If there are more than a million runs, a seed is none, there is no such shard, or no Dask scheduler answers.
    StoreError
        If the results folder cannot be written.
    WorkerError
        If a worker process dies twice with the same run, or Dask's workers are of no use.
    Interrupted
        On Ctrl-C; what is finished is kept.

    Warns
    -----
    ScenarioWarning
        If a scenario can be run but is probably not meant, declares what none of the runs uses, a run takes more than
        ten minutes, or seeds change nothing and are left out.
    """
    part, fixed = Shard.of(shard), override_texts(overrides)
    planned = plan(scenario, grid=grid, seeds=seeds, overrides=fixed)
    scenarios = tuple(dict.fromkeys(scenarios_of(planned)))
    for resolved in scenarios:
        resolved.check_backend()
        warn_of_length(cost_of(resolved), resolved.duration)
    warn_about(*scenarios, typed={*dict(fixed), *(key for run in planned[:1] for key in run.parameters)})
    different, tried = without_duplicates(planned, jobs=jobs, output=output, progress=progress, dask=dask)
    own = share(different, part)
    result = complete(own, jobs=jobs, parallel=parallel, output=output, progress=progress, dask=dask)
    return replace(result, new=result.new | tried, awaited=awaited(different, own, result.store))


def scenarios_of(planned: Iterable[PlannedRun]) -> Iterator[ResolvedScenario]:
    """Yield the scenario of each run that has one."""
    return (run.spec.scenario for run in planned if isinstance(run.spec, ScenarioRun))


def share(planned: Sequence[PlannedRun], shard: Shard | None) -> Sequence[PlannedRun]:
    """Choose every n-th of the planned runs for a shard, whatever is made already; None takes all."""
    if shard is None:
        return planned
    keys = {job.key for job in shard.among(_in_order({run.key: run for run in planned}.values()))}
    return [run for run in planned if run.key in keys]


def awaited(planned: Sequence[PlannedRun], own: Sequence[PlannedRun], store: Store) -> int:
    """Count the runs that other shards have still to make, as far as their results come to this store."""
    others = {run.key for run in planned} - {run.key for run in own}
    return sum(not store.has(key) for key in others)


def without_duplicates(
    planned: Sequence[PlannedRun],
    *,
    jobs: int | None = None,
    output: str | Path = RESULTS,
    progress: bool = False,
    dask: str | None = None,
) -> tuple[list[PlannedRun], frozenset[str]]:
    """
    Leave out the seeds of scenarios in which nothing is random, so that no interval is made of one run.

    Where a scenario leaves nothing to chance but the phases of its senders' clocks, two seeds are run; if they give the
    same to the last bit, the first stays alone. Returns the keys of those that were made to find out, too.
    """
    by_scenario: dict[ResolvedScenario, list[PlannedRun]] = {}
    for run, scenario in zip(planned, scenarios_of(planned), strict=True):
        by_scenario.setdefault(scenario, []).append(run)
    doubtful = [runs for scenario, runs in by_scenario.items() if len(runs) > 1 and not scenario.random_parts()]
    if not doubtful:
        return list(planned), frozenset()
    tried = complete(
        [run for runs in doubtful for run in runs[:2]], jobs=jobs, output=output, progress=progress, dask=dask
    )
    repeated = [runs for runs in doubtful if _are_alike(tried.store, *runs[:2])]
    if repeated:
        _warn_of_duplicates(repeated)
    left_out = {id(run) for runs in repeated for run in runs[1:]}
    return [run for run in planned if id(run) not in left_out], tried.new


def _are_alike(store: Store, one: PlannedRun, other: PlannedRun) -> bool:
    """Return whether two runs gave the same tables."""
    first, second = store.load(one.key), store.load(other.key)
    return all(first.table(name).equals(second.table(name)) for name in first.tables)


def _warn_of_duplicates(repeated: Sequence[Sequence[PlannedRun]]) -> None:
    runs = repeated[0]
    flow, _ = next(scenarios_of(runs)).flow_groups[0]
    warnings.warn(
        f"sweep.seeds: nothing in {len(repeated)} of the scenarios is random, and seeds {runs[0].seed} and "
        f"{runs[1].seed} gave the same run to the last bit: it is made once, and has no interval. Flows that start "
        "together stay in step, and their lockstep decides what each gets. hint: let them start at random times, "
        f'such as --set \'flows.{flow}.start.uniform=["0s", "1s"]\'.',
        ScenarioWarning,
        stacklevel=3,
    )


def plan(
    scenario: ScenarioLike,
    *,
    grid: Mapping[str, Sequence[Any]] | None = None,
    seeds: int | Sequence[int] | None = None,
    overrides: Overrides = (),
) -> list[PlannedRun]:
    """List the runs that `sweep` makes of its arguments, every scenario checked."""
    fixed = override_texts(overrides)
    declared = resolve(scenario, fixed)
    grid = declared.sweep_grid if grid is None else grid
    free = {key: values for key, values in grid.items() if key not in dict(fixed)}
    seeds = declared.sweep_seeds if seeds is None else seeds
    check_number_of_runs(math.prod(map(len, free.values())), seeds if isinstance(seeds, int) else len(seeds))
    seeds = _seed_list(seeds)
    return [
        PlannedRun(spec, seed, point)
        for point in _points(free)
        for spec in [ScenarioRun(resolve(scenario, fixed + override_texts(point)) if point else declared)]
        for seed in seeds
    ]


def complete(
    planned: Sequence[PlannedRun],
    *,
    jobs: int | None = None,
    parallel: int = 1,
    output: str | Path = RESULTS,
    progress: bool = False,
    what: str = "simulating",
    dask: str | None = None,
) -> SweepResult:
    """Make those of the planned runs that have no result yet; plans of several scenarios may be joined with ``+``."""
    if jobs and dask:
        raise InputError(f"jobs = {jobs}: Dask's cluster has its own workers. hint: leave out --jobs or --dask.")
    store = Store(Path(output)).open()
    every, missing = len({run.key for run in planned}), missing_jobs(planned, store)
    if dask is not None and missing:
        cluster.check_scheduler(dask)
    work = sum(job.seconds for job in missing)
    with progress_bars.progress_bar(every, every - len(missing), work=work, visible=progress, what=what) as advance:
        make(missing, store, jobs, lambda job: advance(work=job.seconds), parallel=parallel, dask=dask)
    return SweepResult(planned, store, frozenset(job.key for job in missing))


def missing_jobs(planned: Sequence[PlannedRun], store: Store) -> list[Job]:
    """
    List the planned runs, each once, that have no whole result yet, in the order in which to make them.

    Those of a seed come before those of the next, so that what an interrupted sweep has can be compared, and what is
    done tells the time left; the longest come first, so that no worker ends alone with one.
    """
    return _in_order([run for key, run in {run.key: run for run in planned}.items() if not _is_there(store, key)])


def _in_order(runs: Collection[PlannedRun]) -> list[Job]:
    """Sort runs, without duplicates, into the order of `missing_jobs`."""
    seconds = {spec: spec.expected_seconds() for spec in {run.spec for run in runs}}
    jobs = [Job(run.key, run.spec, run.seed, seconds[run.spec]) for run in runs]
    return sorted(jobs, key=lambda job: (job.seed, -job.seconds))


def make(
    missing: Sequence[Job],
    store: Store,
    jobs: int | None,
    done: Callable[[Job], None],
    *,
    parallel: int = 1,
    dask: str | None = None,
) -> None:
    """Make runs: first what is simulated, here or by a Dask scheduler's workers, then what is in real time, here."""
    simulated = [job for job in missing if job.spec.backend == SIMULATOR]
    real = [job for job in missing if job.spec.backend != SIMULATOR]
    try:
        if dask is None:
            work_through(simulated, store, jobs or os.cpu_count() or 1, done)
        elif simulated:
            cluster.work_through_on(dask, simulated, store, done)
        work_through(real, store, parallel, done)
    except KeyboardInterrupt as error:
        finished = sum(store.has(job.key) for job in missing)
        raise Interrupted(
            f"interrupted: {finished} of {len(missing)} runs were finished and are kept in {store.root}. "
            "The same command goes on from there."
        ) from error
    finally:
        store.clear_leftovers()


def _is_there(store: Store, key: str) -> bool:
    """Return whether a run has a whole result; report and delete a damaged one."""
    if not store.has(key):
        return False
    try:
        store.verify(key)
    except StoreError as error:
        log.warning("%s It is deleted and its run repeated now.", error)
        store.discard(key)
        return False
    return True


def _points(grid: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the grid's values, the last key running fastest."""
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _seed_list(seeds: int | Sequence[int]) -> list[int]:
    numbers = range(1, seeds + 1) if isinstance(seeds, int) else seeds
    return [checked_seed(seed) for seed in numbers]
