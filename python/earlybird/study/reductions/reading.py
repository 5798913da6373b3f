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
from earlybird.study.reductions.kept import Kept
from earlybird.study.reductions.modelled import observe_model
from earlybird.study.reductions.observations import Observation, observe
from earlybird.study.reductions.played import observe_play, observe_program
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import StudyRun, plan

AT_ONCE = 500  # runs that are read at once; more are read in several processes


def observations(study: Study, scale: str, store: Store) -> tuple[list[Observation], int]:
    """Read the results of a study and reduce them; return the number of missing runs beside them."""
    runs = plan(study, scale)
    observed = _observed(runs, store, tuple(study.groups.values()), Kept.of(study, scale, store))
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


def _observed(runs: Sequence[StudyRun], store: Store, groups: Sequence[Group], kept: Kept) -> list[Observation]:
    """Return the observations of the runs that were made, those that are not kept from before in several processes."""
    made = {place: key for place, run in enumerate(runs) if store.has(key := resolved(run).key)}
    keys = {place: kept.key(runs[place], key, store.fingerprint(key)) for place, key in made.items()}
    found = {place: observed for place, key in keys.items() if (observed := kept.get(key, runs[place]))}
    new = [place for place in made if place not in found]
    tasks = [
        ([(runs[place], made[place]) for place in new[start : start + AT_ONCE]], store, groups)
        for start in range(0, len(new), AT_ONCE)
    ]
    reduced = spread(_observe_some, tasks, os.cpu_count() or 1) if len(tasks) > 1 else map(_observe_some, tasks)
    found |= zip(new, chain.from_iterable(reduced), strict=True)
    kept.add({keys[place]: found[place] for place in new})
    kept.write()
    return [found[place] for place in made]


def _observe_some(task: tuple[Sequence[tuple[StudyRun, str]], Store, Sequence[Group]]) -> list[Observation]:
    runs, store, groups = task
    return [_reduced(run, key, groups, store) for run, key in runs]


def _reduced(run: StudyRun, key: str, groups: Sequence[Group], store: Store) -> Observation:
    """Reduce a result; raise StoreError if it has not what a run gives, as one that somebody wrote."""
    result = store.load(key)
    try:
        return _observation(run, result, groups)
    except (pl.exceptions.PolarsError, LookupError, TypeError, ValueError) as error:
        place = store.folder(key)
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
