"""Repeats runs of an archive, and compares the results."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from earlybird import _core
from earlybird.backends import BACKEND_KEY, SIMULATOR
from earlybird.errors import InputError, ScenarioError
from earlybird.files import CHECKSUMS, complete_files
from earlybird.run_specs import from_document
from earlybird.store import Store
from earlybird.study.archive.comparison import Difference, differences
from earlybird.sweeps import PlannedRun, complete

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird.study.archive.reading import Archive


@dataclass(frozen=True, slots=True)
class Sample:
    """Which runs are repeated."""

    count: int
    every: int  # the number of runs that could be: those in real time are never the same twice
    seed: int


@dataclass(frozen=True, slots=True)
class Rerun:
    """A run that was made again."""

    key: str  # of its result in the archive
    runs: Sequence[dict[str, Any]]  # which runs of the studies it is: study, part, axes, seed
    same_code: bool
    """Whether the same code made both, and the same polars wrote them: then the files have to be the same bytes."""
    same_bytes: bool
    differences: Sequence[Difference]

    @property
    def is_equal(self) -> bool:
        """Whether the archive has what this program gives."""
        return not self.differences


def repeatable(archive: Archive) -> list[str]:
    """List the keys of the runs that give the same whenever they are made, sorted: all but those in real time."""
    return sorted(key for key in archive.by_key if planned_rerun(archive, key).spec.backend == SIMULATOR)


def drawn(keys: Sequence[str], count: int | None, share: float | None, seed: int) -> list[str]:
    """Draw `count` keys, a `share` rounded up, or all, sorted: those whose SHA-256 behind the seed is first."""
    if share is not None:
        count = math.ceil(share * len(keys))
    shuffled = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}:{key}".encode()).digest())
    return sorted(shuffled[:count])


def repeat(archive: Archive, keys: Sequence[str], *, jobs: int | None, output: Path, progress: bool) -> list[Rerun]:
    """Make runs again, those that have not been yet, and compare them with the archive."""
    planned = [planned_rerun(archive, key) for key in keys]
    complete(planned, jobs=jobs, output=output, progress=progress, what="repeating")
    return [_compared(archive, key, run, Store(output)) for key, run in zip(keys, planned, strict=True)]


def planned_rerun(archive: Archive, key: str) -> PlannedRun:
    """Return a run of the archive as one that this program can make, if its scenarios still hold."""
    result = archive.result(key)
    try:
        return PlannedRun(from_document(result.scenario), result.seed)
    except (InputError, ScenarioError) as error:
        made_by = archive.about["earlybird"]
        raise InputError(f"this earlybird cannot make the run {key} of earlybird {made_by} again: {error}") from error


def _backend(archive: Archive, key: str) -> str:
    return str(archive.result(key).scenario.get(BACKEND_KEY, SIMULATOR))


def _compared(archive: Archive, key: str, run: PlannedRun, store: Store) -> Rerun:
    runs, same_code = archive.by_key[key], _is_same_code(archive, key)
    archived_revision, revision = archive.result(key).scenario.get("revision"), run.spec.document().get("revision")
    if archived_revision != revision:
        found = [Difference("revision of the model", archived_revision, revision)]
        return Rerun(key, runs, same_code, same_bytes=False, differences=found)
    made = complete_files(store.folder(run.key))
    contents = {name: file if isinstance(file, bytes) else file.read_bytes() for name, file in made.items()}
    same_bytes = archive.files(key) == contents
    found = [] if same_bytes else differences(archive.result(key), store.load(run.key))
    if same_code and not same_bytes and not found:
        found = [Difference(f"bytes of the files ({CHECKSUMS})", "others", "others")]
    return Rerun(key, runs, same_code, same_bytes, found)


def _is_same_code(archive: Archive, key: str) -> bool:
    result = archive.result(key)
    now = _core.code_version(_backend(archive, key))
    return bool(result.summary.get("code_version") == now and archive.about["polars"] == pl.__version__)
