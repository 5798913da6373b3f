"""Functions that run at the same time: one interface for processes, threads and a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Protocol, TypeVar

from earlybird import plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Task = TypeVar("Task")
Done = TypeVar("Done")


class Executor(Protocol):
    """Calls functions elsewhere, as `concurrent.futures.Executor` does."""

    @property
    def slots(self) -> int:
        """The number of tasks that are submitted at a time: more would only wait."""

    def submit(self, function: Callable[[Task], Done], task: Task, /) -> Future[Done]:
        """Call the function with the task."""

    def cancel(self) -> None:
        """Cancel pending tasks, and stop those that are running as soon as possible."""


def as_completed(
    executor: Executor, function: Callable[[Task], Done], tasks: Iterable[Task]
) -> Iterator[tuple[Task, Done]]:
    """
    Call a function with each task, taken when there is a slot for it; yield tasks and results as they end.

    All others are cancelled if one raises or the caller ends early.
    """
    waiting, running = iter(tasks), dict[Future[Done], Task]()
    try:
        while True:
            # Asked each time: the workers of a cluster come and go.
            for task in islice(waiting, max(0, executor.slots - len(running))):
                running[executor.submit(function, task)] = task
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    except BaseException:
        executor.cancel()
        raise


class ThreadExecutor:
    """Threads, for functions that release Python's lock, as simulations do."""

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._pool, self._is_cancelled = ThreadPoolExecutor(workers), threading.Event()

    def submit(self, function: Callable[[Task], Done], task: Task, /) -> Future[Done]:
        """Call the function in a thread."""
        return self._pool.submit(function, task)

    def watch(self, _: float) -> None:
        """End the simulation that calls this if its executor was cancelled: no thread can be stopped from outside."""
        if self._is_cancelled.is_set():
            raise KeyboardInterrupt

    def cancel(self) -> None:
        """Cancel pending tasks, and those that call `watch`."""
        self._is_cancelled.set()
        self._pool.shutdown(cancel_futures=True)


class ProcessExecutor:
    """Processes; what a worker computes is lost if it dies, and BrokenProcessPool is raised."""

    def __init__(self, workers: int) -> None:
        self.slots = workers
        self._others = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=_prepare_worker, initargs=(plugin.loaded(),)
        )

    def submit(self, function: Callable[[Task], Done], task: Task, /) -> Future[Done]:
        """Call the function in a process, which may have to be started."""
        with _quiet_start():
            return self._pool.submit(function, task)

    def cancel(self) -> None:
        """Terminate the processes."""
        for process in set(multiprocessing.active_children()) - self._others:
            process.terminate()
        self.close()

    def close(self) -> None:
        """Wait for the processes to end."""
        self._pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def processes(workers: int) -> Iterator[ProcessExecutor]:
    """Provide processes, which end with the block."""
    executor = ProcessExecutor(workers)
    try:
        yield executor
    except BaseException:
        executor.cancel()
        raise
    finally:
        executor.close()


@contextmanager
def threads(workers: int | None) -> Iterator[ThreadExecutor]:
    """Provide threads (None: one per processor), whose tasks end with the block."""
    executor = ThreadExecutor(workers or len(os.sched_getaffinity(0)))
    try:
        yield executor
    finally:
        executor.cancel()


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Start processes with Ctrl-C blocked, and without importing this program's main module."""
    main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def limit_table_threads() -> None:
    """Write tables with one thread per worker: the work is spread over processes already."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")


def _prepare_worker(plugins: Sequence[str]) -> None:
    limit_table_threads()
    plugin.load_all(plugins)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this worker when the process that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent:
        parent.join()
        os._exit(1)
