"""Tables of all runs of a sweep in one; the first columns are the parameters of the runs."""

from __future__ import annotations

import json
import logging
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from earlybird.files import whole_table
from earlybird.small_results import SmallTable, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from earlybird.store import Store
    from earlybird.sweeps import PlannedRun

log = logging.getLogger("earlybird")

FILES_AT_ONCE: Final = 250
"""Files that one query reads: each has 0.1 MB of metadata in memory, and a query of its own takes 8 ms."""

SMALL: Final = 1 << 26
"""Bytes of files of one query up to which their rows are read at once; of longer tables only what is asked for."""

PATH: Final = "path of the file"  # or the key of a small result; no key of a scenario and no column has blanks


def joined_table(runs: Sequence[PlannedRun], store: Store, name: str) -> pl.LazyFrame:
    """Put one table of all runs together; a key of the grid that is a column too gets ``run_`` in front."""
    waiting = iter(runs)
    parts = (_part(some, store, name) for some in iter(lambda: [*islice(waiting, FILES_AT_ONCE)], []))
    return pl.concat(parts, how="vertical_relaxed")


def labels(run: PlannedRun) -> dict[str, Any]:
    """Return the grid's values and the seed as cells of a table: lists and tables are written as text."""
    cells = {
        key: value if isinstance(value, str | int | float | bool) else json.dumps(value)
        for key, value in run.parameters.items()
    }
    return {**cells, "seed": run.seed}


def _part(runs: Sequence[PlannedRun], store: Store, name: str) -> pl.LazyFrame:
    """Put the tables of some runs together."""
    # Several points of a grid may come to the same run.
    found = {run.key: whole_table(store.folder(run.key), name) for run in runs}
    small = {key: table for key, table in found.items() if isinstance(table, SmallTable)}
    files = {key: path for key, path in found.items() if isinstance(path, Path)}
    places = [str(files.get(run.key, run.key)) for run in runs]
    if sum(path.stat().st_size for path in files.values()) <= SMALL:
        try:
            return _led(_few_rows(small, [*files.values()]), runs, places).collect().lazy()
        except (pl.exceptions.SchemaError, pl.exceptions.ColumnNotFoundError, ValueError):
            log.debug("the tables %s differ in their columns and are read one by one", name)
    each = [store.load(key).table(name).lazy().with_columns(pl.lit(key).alias(PATH)) for key in small]
    each += [pl.scan_parquet(path, include_file_paths=PATH) for path in files.values()]
    return _led(pl.concat(each, how="vertical_relaxed"), runs, places)


def _few_rows(small: Mapping[str, SmallTable], files: Sequence[Path]) -> pl.LazyFrame:
    """Put few rows together: those of small results by key, and those of files."""
    parts = [_small_files(files)] if files else []
    if small:
        places = [key for key, table in small.items() for _ in range(table.height)]
        own = joined([*small.values()]).with_columns(pl.Series(PATH, places, dtype=pl.String))
        parts.append(own.lazy())
    return pl.concat(parts, how="vertical_relaxed")


def _small_files(paths: Sequence[Path]) -> pl.LazyFrame:
    """Open files of few rows; what helps with large ones costs more here than it saves."""
    return pl.scan_parquet([*paths], include_file_paths=PATH, use_statistics=False, parallel="none")


def _led(rows: pl.LazyFrame, runs: Sequence[PlannedRun], places: Sequence[str]) -> pl.LazyFrame:
    """Put the labels of each run in front of its rows."""
    columns = {*rows.collect_schema().names()}
    cells = [_cells(run, place, columns) for run, place in zip(runs, places, strict=True)]
    leading = pl.LazyFrame(pl.DataFrame(cells, infer_schema_length=None, strict=False))
    return leading.join(rows, on=PATH, how="inner", maintain_order="left_right").drop(PATH)


def _cells(run: PlannedRun, place: str, columns: Collection[str]) -> Mapping[str, Any]:
    return {PATH: place, **{f"run_{key}" if key in columns else key: cell for key, cell in labels(run).items()}}
