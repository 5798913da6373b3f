"""A folder of results, each in a sub-folder named by what made it: scenario, seed and code."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.backends import BACKEND_KEY, SIMULATOR
from earlybird.errors import StoreError, because
from earlybird.files import (
    fingerprint,
    is_left_over,
    read_result,
    temporary_place,
    verify_result,
    write_files,
    write_result,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from earlybird.result import Result
    from earlybird.run_specs import RunSpec

NOT_IN_KEY = ("sweep", "title")  # parts of a scenario that do not change what a run gives


def run_key(scenario: dict[str, Any], seed: int) -> str:
    """Return the key of a run: a hash of what decides its outcome, as 20 hexadecimal digits."""
    return _key(_decisive(scenario), seed)


def planned_key(spec: RunSpec, seed: int) -> str:
    """Name a run that is to be made; quick where runs share the description."""
    return _key(_decisive_of(spec), seed)


def _key(decisive: tuple[str, str], seed: int) -> str:
    scenario, code = decisive
    return hashlib.sha256(f"[{scenario},{seed},{json.dumps(code)}]".encode()).hexdigest()[:20]


def _decisive(scenario: dict[str, Any]) -> tuple[str, str]:
    """Return what decides the outcome of a run: parts of the scenario, and the version of the code."""
    decisive = {key: value for key, value in scenario.items() if key not in NOT_IN_KEY}
    code = _core.code_version(scenario.get(BACKEND_KEY, SIMULATOR))
    return json.dumps(decisive, sort_keys=True, separators=(",", ":")), code


@lru_cache(maxsize=8192)
def _decisive_of(spec: RunSpec) -> tuple[str, str]:
    return _decisive(spec.document())


@dataclass(frozen=True)
class Store:
    """A folder of results."""

    root: Path
    is_keyed: bool = True
    """Whether each result has to be the one that its folder's name says, made by this code."""

    def open(self) -> Store:
        """Make the folder if need be, and clear away what killed processes left."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            probe = temporary_place(self.root / "probe")
            probe.mkdir()
            probe.rmdir()
        except OSError as error:
            raise StoreError(f"cannot write to the results folder {self.root}: {because(error)}.") from error
        self.clear_leftovers()
        return self

    def folder(self, key: str) -> Path:
        """Return where the result of a run is, or would be."""
        return self.root / key

    def has(self, key: str) -> bool:
        """Return whether the run was made (its files may still be damaged)."""
        return self.folder(key).is_dir()

    def save(self, result: Result, *, is_brief: bool = False) -> Path:
        """Keep a result under its key, with `is_brief` a small one in one file; return its folder."""
        return write_result(result, self.folder(run_key(result.scenario, result.seed)), is_brief=is_brief)

    def keep(self, key: str, files: Mapping[str, bytes]) -> Path:
        """Keep the files of a result that another machine made; return its folder."""
        return write_files(files, self.folder(key))

    def load(self, key: str) -> Result:
        """Read a result; raise StoreError if it is damaged, or that of another run."""
        result = read_result(self.folder(key))
        if self.is_keyed and run_key(result.scenario, result.seed) != key:
            raise StoreError(
                f"the result {self.folder(key)} is that of another run than its name says. "
                "The command that makes it replaces it."
            )
        return result

    def verify(self, key: str) -> None:
        """Raise StoreError if a file of the result is damaged, or it is that of another run."""
        verify_result(self.folder(key))
        self.load(key)

    def fingerprint(self, key: str) -> str:
        """Return a hash of a result; raise StoreError if a file of it is damaged."""
        return fingerprint(self.folder(key))

    def discard(self, key: str) -> None:
        """Delete a result."""
        try:
            shutil.rmtree(self.folder(key))
        except OSError as error:
            raise StoreError(f"cannot delete {self.folder(key)}: {because(error)}.") from error

    def clear_leftovers(self) -> None:
        """Delete the temporary folders of this machine's processes that are gone."""
        for path in filter(is_left_over, self.root.glob(".*.*")):
            shutil.rmtree(path, ignore_errors=True)
