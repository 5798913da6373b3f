"""
Many runs at once on the workers of a Dask cluster.

Workers need no folder in common: what they make comes back as the files of results, and is kept here. A run whose
worker dies is made again by another one, which Dask sees to.
"""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from earlybird import _core
from earlybird.errors import EarlybirdError, InputError, WorkerError
from earlybird.executors import as_completed, limit_table_threads
from earlybird.files import files_of
from earlybird.lazy import LateModule
from earlybird.pool import batches
from earlybird.store import run_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    import distributed
    import polars
    from distributed import Client
    from distributed.comm import addressing, core

    from earlybird.executors import Done, Task
    from earlybird.pool import Batch, Job
    from earlybird.store import Store
else:
    polars = LateModule("polars")
    # Perhaps missing: the extra `dask`.
    distributed = LateModule("distributed")
    addressing = LateModule("distributed.comm.addressing")
    core = LateModule("distributed.comm.core")

SECONDS_TO_CONNECT: Final = 5
"""Seconds after which a scheduler that does not answer is given up: one that is there answers within a round trip."""

SECONDS_PER_BATCH: Final = 5.0
"""Seconds that the runs of a batch may take: what a worker that dies loses, and long beside handing it over (Dask's
scheduler takes about a millisecond per task, https://distributed.dask.org/en/stable/efficiency.html)."""

OVER_TCP: Final = ("tcp", "tls", "ws", "wss")
"""Dask's protocols to which a socket can be opened to check that a scheduler listens."""

BATCHES_PER_THREAD: Final = 2
"""Batches per thread of a worker: one that is made, and one that waits there, so that no worker waits for us."""

ENVIRONMENT: Final = (
    "hint: scheduler and workers need the same earlybird and polars as this program has; one image is safe."
)

Made = list[tuple[str, dict[str, bytes]]]  # results of a batch: the key of each, and its files


def check_scheduler(address: str) -> None:
    """Make sure that Dask is there and a scheduler answers: its own client would try for seconds."""
    try:
        place = addressing.get_address_host_port(address)
        if addressing.parse_address(address)[0] in OVER_TCP:
            socket.create_connection(place, timeout=SECONDS_TO_CONNECT).close()
    except ImportError as error:
        raise InputError(
            f"dask = {address}: Dask is not installed here. hint: pip install 'earlybird[dask]' brings it."
        ) from error
    except (OSError, ValueError, OverflowError) as error:
        raise _no_scheduler(address, error) from error


def work_through_on(address: str, jobs: Sequence[Job], store: Store, done: Callable[[Job], None]) -> None:
    """Make all runs on a cluster, begun in their order, and keep their results here."""
    by_key = {job.key: job for job in jobs}
    with _connected(address) as client, _explained(address, store):
        make_these = partial(make_batch, versions=_versions())
        waiting = batches(jobs, _threads(client), SECONDS_PER_BATCH)
        for _, made in as_completed(DaskExecutor(client), make_these, waiting):
            for key, files in made:
                store.keep(key, files)
                done(by_key[key])


def make_batch(batch: Batch, versions: dict[str, str]) -> Made:
    """Make runs on a worker; `versions` are what it has to have, so that its bytes are those of any other."""
    limit_table_threads()
    if (own := _versions()) != versions:
        raise WorkerError(
            f"a worker of the cluster has {_listed(own)}; this program has {_listed(versions)}. Results of different "
            f"versions are not mixed. {ENVIRONMENT}"
        )
    results = [job.spec.make(job.seed) for job in batch]
    return [(run_key(result.scenario, result.seed), files_of(result, is_brief=True)) for result in results]


def _versions() -> dict[str, str]:
    """Return what decides every byte of a result."""
    return {"earlybird": _core.code_version(), "polars": polars.__version__}


def _listed(versions: dict[str, str]) -> str:
    return " and ".join(f"{name} {version}" for name, version in versions.items())


class DaskExecutor:
    """The workers of a Dask cluster."""

    def __init__(self, client: Client) -> None:
        self._client = client
        # Two runs are never the same task: results of different seeds must not be taken for one another.
        self._executor = client.get_executor(pure=False)

    @property
    def slots(self) -> int:
        """Batches that are made, and as many that wait at their worker."""
        return BATCHES_PER_THREAD * _threads(self._client)

    def submit(self, function: Callable[[Task], Done], task: Task, /) -> Future[Done]:
        """Call the function on a worker."""
        future: Future[Done] = self._executor.submit(function, task)
        return future

    def cancel(self) -> None:
        """Forget all tasks."""
        self._executor.shutdown(wait=False)


def _threads(client: Client) -> int:
    """Count the runs that the cluster makes at a time; a cluster without workers may get some yet."""
    return sum(client.nthreads().values()) or 1


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler; when this ends, what was handed out and is not made is forgotten there."""
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_CONNECT, set_as_default=False, name="earlybird")
    except (OSError, ValueError) as error:
        raise _no_scheduler(address, error) from error
    with client:
        yield client


def _no_scheduler(address: str, error: Exception) -> InputError:
    why = " ".join(str(error).split()) or type(error).__name__
    return InputError(
        f"dask = {address}: no scheduler answers there ({why}). hint: the address that `dask scheduler` prints, such "
        "as tcp://10.0.0.1:8786."
    )


@contextmanager
def _explained(address: str, store: Store) -> Iterator[None]:
    """Raise our errors for those of Dask."""
    kept = f"The runs finished before are kept in {store.root} and will not be made again."
    try:
        yield
    except distributed.KilledWorker as error:
        raise WorkerError(
            f"the workers that had one batch of runs died one after the other ({error.last_worker.address} was the "
            f"last). Perhaps their memory is short. {kept}"
        ) from error
    except (asyncio.CancelledError, CancelledError, core.CommClosedError, TimeoutError) as error:
        raise EarlybirdError(f"the scheduler at {address} is gone. {kept}") from error
    except ImportError as error:
        raise WorkerError(f"the cluster at {address} cannot load earlybird ({error}). {ENVIRONMENT}") from error
