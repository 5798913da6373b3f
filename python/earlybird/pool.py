"""Many runs at the same time in worker processes; finished results are on disk and stay whatever happens."""

from __future__ import annotations

from collections import Counter, deque
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from earlybird.backends import SIMULATOR
from earlybird.errors import WorkerError
from earlybird.executors import as_completed, processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from earlybird.executors import Done, Task
    from earlybird.run_specs import RunSpec
    from earlybird.store import Store

ATTEMPTS = 2  # a run whose worker dies is repeated once: memory may have been short only then

SECONDS_PER_BATCH = 0.5
"""Seconds that the runs of a batch may take: submitting one at a time takes as long as the shortest ones."""

BATCHES_PER_WORKER = 8  # at least, however short the runs are, so that no worker is idle


class Job(NamedTuple):
    """A run to make: the key of its result, what is run, the seed, and the expected seconds."""

    key: str
    spec: RunSpec
    seed: int
    seconds: float


Batch = tuple[Job, ...]  # runs that a worker gets at once


def work_through(jobs: Sequence[Job], store: Store, workers: int, done: Callable[[Job], None]) -> None:
    """Make all runs, begun in their order, and keep their results; a worker may die once with the same run."""
    waiting, losses = deque(batches(jobs, workers)), Counter[Job]()
    while waiting:
        lost = _until_a_worker_dies(waiting, store, workers, done)
        losses.update(lost)
        if hopeless := [job for job in lost if losses[job] >= ATTEMPTS]:
            raise _died_twice(hopeless, store)
        waiting.extendleft((job,) for job in lost)


def batches(jobs: Sequence[Job], workers: int, seconds_per_batch: float = SECONDS_PER_BATCH) -> Iterator[Batch]:
    """Group runs in their order into batches of limited duration in seconds."""
    most = min(seconds_per_batch, sum(job.seconds for job in jobs) / (BATCHES_PER_WORKER * workers))
    batch, seconds = list[Job](), 0.0
    for job in jobs:
        if batch and seconds + job.seconds > most:
            yield tuple(batch)
            batch, seconds = [], 0.0
        batch.append(job)
        seconds += job.seconds
    if batch:
        yield tuple(batch)


def spread(work: Callable[[Task], Done], tasks: Sequence[Task], workers: int) -> list[Done]:
    """Call a function that processes can import with each task; return the results in the tasks' order."""
    if not tasks:
        return []
    with processes(min(workers, len(tasks))) as executor:
        futures = [executor.submit(work, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise WorkerError("a worker process was killed; perhaps memory is short: try fewer --jobs.") from error


def _until_a_worker_dies(waiting: deque[Batch], store: Store, workers: int, done: Callable[[Job], None]) -> list[Job]:
    """Work until all is done or a worker has died; return the runs that were lost with it."""
    submitted: dict[Batch, None] = {}

    def taken() -> Iterator[Batch]:
        while waiting:
            submitted[waiting[0]] = None
            yield waiting.popleft()

    try:
        with processes(min(workers, len(waiting))) as executor:
            for batch, _ in as_completed(executor, partial(_work, store), taken()):
                del submitted[batch]
                for job in batch:
                    done(job)
    except BrokenProcessPool:
        return _lost(chain.from_iterable(submitted), store, done)
    return []


def _lost(submitted: Iterable[Job], store: Store, done: Callable[[Job], None]) -> list[Job]:
    """Return the runs that were lost with a worker; count those that were finished before."""
    lost = list[Job]()
    for job in submitted:
        if store.has(job.key):
            done(job)
        else:
            lost.append(job)
    return lost


def _died_twice(jobs: list[Job], store: Store) -> WorkerError:
    seeds = ", ".join(f"{job.key} (seed {job.seed})" for job in jobs)
    return WorkerError(
        f"a worker process was killed while it made one of these runs, and again when they were repeated: {seeds}. "
        f"Perhaps memory is short: try fewer --jobs. The runs finished before are kept in {store.root} and will not be "
        "made again."
    )


def _work(store: Store, batch: Batch) -> None:
    for job in batch:
        store.save(job.spec.make(job.seed), is_brief=job.spec.backend == SIMULATOR)
