"""Many runs at once, each in a worker process; what is finished is on disk and stays, whatever happens to the rest."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter, deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from earlybird.errors import WorkerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from earlybird.run_specs import RunSpec
    from earlybird.store import Store

Task = TypeVar("Task")
Done = TypeVar("Done")

ATTEMPTS = 2
"""A run whose worker dies is repeated once: memory may have been short only then."""

SECONDS_AT_ONCE = 0.5
"""Seconds that the runs of a batch may take: handing over one at a time takes as long as the shortest ones."""

BATCHES_PER_WORKER = 8
"""At least, however short the runs are, so that all workers have something to do."""


class Job(NamedTuple):
    """A run to make: the key of its result, what is run, the seed, and the expected seconds."""

    key: str
    spec: RunSpec
    seed: int
    seconds: float


Batch = tuple[Job, ...]
"""Runs that a worker is handed at once."""


def work_through(jobs: Sequence[Job], store: Store, workers: int, done: Callable[[Job], None]) -> None:
    """
    Make all runs and keep their results.

    Parameters
    ----------
    jobs
        The runs, in the order in which they are begun.
    store
        Where the results go.
    workers
        Number of processes.
    done
        Called with each run that is made.

    Raises
    ------
    WorkerError
        If a worker dies (killed by the system for lack of memory, say) twice with the same run.
    StoreError
        If a result cannot be written.
    """
    waiting, losses = deque(batches(jobs, workers)), Counter[Job]()
    while waiting:
        lost = _until_a_worker_dies(waiting, store, workers, done)
        losses.update(lost)
        if hopeless := [job for job in lost if losses[job] >= ATTEMPTS]:
            raise _died_twice(hopeless, store)
        waiting.extendleft((job,) for job in lost)


def batches(jobs: Sequence[Job], workers: int, parallel: float = SECONDS_AT_ONCE) -> Iterator[Batch]:
    """Put runs together that are over in a moment, or in so many seconds, in their order."""
    most = min(parallel, sum(job.seconds for job in jobs) / (BATCHES_PER_WORKER * workers))
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
    """
    Call a function for each task in worker processes.

    Parameters
    ----------
    work
        The function, which processes can import.
    tasks
        What it is called with.
    workers
        Number of processes.

    Returns
    -------
    list
        What it returned, in the order of the tasks.

    Raises
    ------
    WorkerError
        If a worker dies.
    """
    if not tasks:
        return []
    with _pool(min(workers, len(tasks))) as pool:
        with _quiet_start():
            futures = [pool.submit(work, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            raise WorkerError("a worker process was killed; perhaps memory is short: try fewer --jobs.") from error


def _until_a_worker_dies(waiting: deque[Batch], store: Store, workers: int, done: Callable[[Job], None]) -> list[Job]:
    """Work until all is done or a worker has died; return the runs that were lost with it."""
    under_way: dict[Future[None], Batch] = {}
    with _pool(min(workers, len(waiting))) as pool:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < workers:
                    future = _submit(pool, waiting[0], store)
                    under_way[future] = waiting.popleft()
                for finished in wait(under_way, return_when=FIRST_COMPLETED).done:
                    finished.result()
                    for job in under_way.pop(finished):
                        done(job)
        except BrokenProcessPool:
            return _lost(chain.from_iterable(under_way.values()), store, done)
    return []


def _lost(under_way: Iterable[Job], store: Store, done: Callable[[Job], None]) -> list[Job]:
    """Tell the runs that were lost with a worker from those that were finished before."""
    lost = list[Job]()
    for job in under_way:
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


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Provide worker processes, and stop them at once if the work ends early."""
    others = set(multiprocessing.active_children())
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare_worker)
    try:
        yield pool
    except BaseException:
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, batch: Batch, store: Store) -> Future[None]:
    """Hand runs to a worker, which may start a new process."""
    with _quiet_start():
        return pool.submit(_work, batch, store)


@contextmanager
def _quiet_start() -> Iterator[None]:
    """
    Let processes start without Ctrl-C and without this program's main module.

    A blocked signal stays blocked in the new process: only this one answers Ctrl-C. Without a main module the new
    process does not import it, so a script needs no ``if __name__ == "__main__"`` around its sweep.
    """
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def leave_threads_alone() -> None:
    """Let a worker's tables be written by one thread: the work is spread over processes already."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def _prepare_worker() -> None:
    leave_threads_alone()
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """End this worker when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _work(batch: Batch, store: Store) -> None:
    for job in batch:
        store.save(job.spec.make(job.seed))
