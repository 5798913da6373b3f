"""The content of an archive: runs, results and verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec
import polars as pl

from earlybird.errors import InputError, StoreError
from earlybird.files import SCENARIO, SUMMARY, parsed_table
from earlybird.result import Result
from earlybird.study.archive.container import Container
from earlybird.study.archive.packing import REPORT, RESULTS, RUNS

if TYPE_CHECKING:
    from collections.abc import Sequence

ENDING = ".parquet"


class Listed(TypedDict):
    """A run as it is listed."""

    study: str
    part: str
    axes: dict[str, bool | int | float | str]
    seed: int
    key: str


@dataclass(frozen=True)
class Archive:
    """An archive of studies, open for reading."""

    container: Container  # its file; every member is compared with its checksum when it is read

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the manifest, and thus of the whole archive."""
        return self.container.fingerprint

    @property
    def about(self) -> dict[str, Any]:
        """Its provenance: studies, scale, version, commit, code versions."""
        return dict(self.container.about)

    @property
    def studies(self) -> Sequence[str]:
        """The names of its studies."""
        return tuple(self.container.about["studies"])

    @property
    def scale(self) -> str:
        """Their scale."""
        return str(self.container.about["scale"])

    @cached_property
    def listed(self) -> Sequence[dict[str, Any]]:
        """Every run as it is listed: study, part, axes, seed, and the key of its result; several may share one."""
        try:
            return [dict(run) for run in msgspec.convert(self._parsed(RUNS), list[Listed])]
        except msgspec.ValidationError as error:
            raise self._unreadable(RUNS) from error

    @cached_property
    def by_key(self) -> dict[str, list[dict[str, Any]]]:
        """The runs as they are listed, by the key of their result."""
        found: dict[str, list[dict[str, Any]]] = {}
        for run in self.listed:
            found.setdefault(run["key"], []).append(run)
        return found

    @cached_property
    def runs(self) -> pl.DataFrame:
        """One row per run: study, part, seed, the key of its result, and the value of each axis."""
        rows = [
            {**{name: run[name] for name in ("study", "part", "seed", "key")}, **run["axes"]} for run in self.listed
        ]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """One row per statement and variant of all studies, as `earlybird study report` has them."""
        tables = [self._verdicts(study).insert_column(0, pl.lit(study).alias("study")) for study in self.studies]
        return pl.concat(tables)

    def verdicts_of(self, study: str) -> list[dict[str, str]]:
        """Return the verdicts on one study, in words, a row each."""
        return self._verdicts(study).to_dicts()

    def result(self, key: str) -> Result:
        """Return the result of a run by its key in `runs`; its tables are read when asked for."""
        names = self._names(key)
        scenario, summary = (self._document(f"{RESULTS}/{key}/{name}") for name in (SCENARIO, SUMMARY))
        if not isinstance(summary.get("seed"), int):
            raise self._unreadable(f"{RESULTS}/{key}/{SUMMARY}")
        tables = [name.removesuffix(ENDING) for name in names if name.endswith(ENDING)]
        return Result(scenario, summary["seed"], summary, {name: partial(self._table, key, name) for name in tables})

    def files(self, key: str) -> dict[str, bytes]:
        """Return the content of every file of a run's result; errors are those of `result`."""
        return {name: self._member(f"{RESULTS}/{key}/{name}") for name in self._names(key)}

    @property
    def definitions(self) -> Sequence[str]:
        """The members that define the studies: all that are not results, reports or about the archive."""
        own = (RESULTS, REPORT)
        return [name for name in self.container.members if "/" in name and name.partition("/")[0] not in own]

    def table(self, name: str) -> pl.DataFrame:
        """
        Put one table (see `Result`) of all runs together that have it, led by what `runs` says of each.

        A column there that the table has too gets ``run_`` in front.
        """
        keys = [key for key in self.runs["key"].unique(maintain_order=True) if self._has(key, name)]
        if not keys:
            raise InputError(f"no run of {self.container.path} has a table {name!r}.")
        tables = [self._table(key, name).with_columns(pl.lit(key).alias("run_key")) for key in keys]
        rows = pl.concat(tables, how="diagonal_relaxed")
        runs = self.runs.rename({"key": "run_key"})
        clashing = {column: f"run_{column}" for column in runs.columns if column in rows.columns[:-1]}
        return runs.rename(clashing).join(rows, on="run_key", maintain_order="left_right")

    @cached_property
    def _results(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for folder, key, name in (each.split("/") for each in self.container.members if each.count("/") == 2):
            if folder == RESULTS:
                found.setdefault(key, []).append(name)
        return found

    def _names(self, key: str) -> list[str]:
        if key not in self._results:
            raise InputError(f"{self.container.path} has no result {key!r}; `runs` lists their keys.")
        return self._results[key]

    def _has(self, key: str, name: str) -> bool:
        return f"{RESULTS}/{key}/{name}{ENDING}" in self.container.members

    def _table(self, key: str, name: str) -> pl.DataFrame:
        member = f"{RESULTS}/{key}/{name}{ENDING}"
        try:
            return parsed_table(self._member(member))
        except ValueError as error:
            raise self._unreadable(member) from error

    def _verdicts(self, study: str) -> pl.DataFrame:
        member = f"{REPORT}/{study}/verdicts.csv"
        try:
            return pl.read_csv(self._member(member), infer_schema=False).fill_null("")
        except pl.exceptions.PolarsError as error:
            raise self._unreadable(member) from error

    def _member(self, name: str) -> bytes:
        if name not in self.container.members:
            raise StoreError(f"the archive {self.container.path} lacks {name}, which belongs to it.")
        return self.container.read(name)

    def _parsed(self, name: str) -> object:
        try:
            return json.loads(self._member(name))
        except (ValueError, RecursionError) as error:
            raise self._unreadable(name) from error

    def _document(self, name: str) -> dict[str, Any]:
        document = self._parsed(name)
        if not isinstance(document, dict):
            raise self._unreadable(name)
        return document

    def _unreadable(self, name: str) -> StoreError:
        return StoreError(f"the archive {self.container.path} says in its {name} what no archive of a study says.")


def open_archive(path: str | Path) -> Archive:
    """
    Open an archive that `export_studies` wrote: polars tables of its runs, results and verdicts.

    Raises `StoreError` if it is damaged, something else, or of a form that this version does not know.
    """
    return Archive(Container.open(Path(path)))
