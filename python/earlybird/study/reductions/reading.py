"""Reads the runs of a study back."""

import os
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from earlybird.errors import InputError, StoreError
from earlybird.outputs import Outputs
from earlybird.pool import spread
from earlybird.result import Result
from earlybird.run_specs import ScenarioRun
from earlybird.runs import execute
from earlybird.store import Store
from earlybird.study.language.definition import Group, Study
from earlybird.study.reductions.modelled import observe_model
from earlybird.study.reductions.observations import Observation, observe
from earlybird.study.reductions.played import observe_play, observe_program
from earlybird.study.runs.execution import resolved, results
from earlybird.study.runs.plan import StudyRun, plan

AT_ONCE = 500  # runs that are read at once; more are read in several processes


def observations(study: Study, scale: str, store: Store) -> tuple[list[Observation], int]:
    """Read the results of a study and reduce them; return the number of missing runs beside them."""
    runs = plan(study, scale)
    observed = _observed(runs, store, tuple(study.groups.values()))
    if not observed:
        command = f"earlybird study run {study.name} --scale {scale}"
        raise InputError(
            f"{store.root} has no results of the study {study.name!r} at scale {scale!r}; `{command}` makes them."
        )
    return observed, len(runs) - len(observed)


def packets(run: StudyRun) -> pl.DataFrame:
    """Trace the packets of a run's first observed flow by making the run again: those that trace are small."""
    with tempfile.TemporaryDirectory() as folder:
        path, spec = Path(folder, "trace.csv"), resolved(run).spec
        assert isinstance(spec, ScenarioRun), "only scenarios have packets"
        execute(spec.scenario, run.seed, Outputs(trace=path, trace_flows=[f"{run.part.flows}0"]))
        return pl.read_csv(path, infer_schema_length=None)


def _observed(runs: Sequence[StudyRun], store: Store, groups: Sequence[Group]) -> list[Observation]:
    """Read and reduce the runs that were made; many of them in several processes."""
    tasks = [(runs[start : start + AT_ONCE], store, groups) for start in range(0, len(runs), AT_ONCE)]
    if len(tasks) == 1:
        return _observe_some(tasks[0])
    return list(chain.from_iterable(spread(_observe_some, tasks, os.cpu_count() or 1)))


def _observe_some(task: tuple[Sequence[StudyRun], Store, Sequence[Group]]) -> list[Observation]:
    runs, store, groups = task
    return [_reduced(run, result, groups, store) for run in runs if (result := results(run, store))]


def _reduced(run: StudyRun, result: Result, groups: Sequence[Group], store: Store) -> Observation:
    """Reduce a result; raise StoreError if it has not what a run gives, as one that somebody wrote."""
    try:
        return _observation(run, result, groups)
    except (pl.exceptions.PolarsError, LookupError, TypeError, ValueError) as error:
        place = store.folder(resolved(run).key)
        raise StoreError(
            f"the result {place} is damaged: it has not what its run gives ({type(error).__name__}). "
            "Delete it, and the command that made it makes it again."
        ) from error


def _observation(run: StudyRun, result: Result, groups: Sequence[Group]) -> Observation:
    if run.part.model:
        return observe_model(run, result)
    if run.part.is_played:
        return observe_play(run, result)
    if run.part.is_program:
        return observe_program(run, result)
    return observe(run, result, packets(run) if run.part.trace else None, groups)
