"""
The form of small results: one file of JSON with the scenario, the summary and all tables.

A table of Parquet costs a millisecond and 300 bytes for each column, more than simulating a short run. Numbers are
written with all their digits, NaN as null, infinite ones as text, so that reading gives the same to the last bit.
"""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from earlybird.lazy import LateModule
from earlybird.result import Columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import polars as pl

    from earlybird.result import Result
else:
    np = LateModule("numpy")
    pl = LateModule("polars")

MOST_VALUES: Final = 4096
"""Values of all tables up to which a result is small: JSON takes fewer bytes than Parquet, and less time."""

TEXT: Final = "str"
NUMBERS: Final = {"f": "float64", "i": "int64", "b": "bool"}
"""Types of the other columns, by the kinds that numpy has."""


class SmallTable(NamedTuple):
    """A table as it is written."""

    columns: Mapping[str, Sequence[Any]]
    types: Mapping[str, str]

    @property
    def height(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values()), ()))

    def frame(self) -> pl.DataFrame:
        """Return it as a data frame; raises ValueError if it is no table."""
        try:
            return Columns({name: self._values(name) for name in self.columns})()
        except (KeyError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
            raise ValueError(f"it has a table that is none ({error})") from error

    def _values(self, name: str) -> Any:  # noqa: ANN401, as of any column
        kind, values = self.types[name], self.columns[name]
        if kind not in (TEXT, *NUMBERS.values()):
            raise ValueError(f"it has a column of type {kind!r}")
        if kind == TEXT:
            if not all(isinstance(value, str) for value in values):
                raise ValueError(f"it has other values than text in {name!r}")
            return values
        # Python reads the sign of "-nan", numpy drops it.
        return np.array([float(value) if isinstance(value, str) else value for value in values], dtype=kind)


def is_small(result: Result) -> bool:
    """Return whether a result is a small one of a simulation that was made in this process."""
    own = [source.columns for source in result.sources.values() if isinstance(source, Columns)]
    values = sum(len(column) for columns in own for column in columns.values())
    return len(own) == len(result.sources) and values <= MOST_VALUES


def written(scenario: Mapping[str, Any], summary: Mapping[str, Any], result: Result) -> bytes:
    """Return the content of the file of a small result."""
    tables = {name: _written_table(source.columns) for name, source in sorted(result.sources.items())}  # type: ignore[attr-defined]
    document = {
        "scenario": scenario,
        "summary": summary,
        "tables": {name: table.columns for name, table in tables.items()},
        "types": {name: table.types for name, table in tables.items()},
    }
    return (json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n").encode()


def table_of(document: Mapping[str, Any], name: str) -> SmallTable:
    """Return a table of a file; raises ValueError if it is no table."""
    try:
        columns, types = document["tables"][name], document["types"][name]
        if columns.keys() == types.keys() and len({*map(len, columns.values())}) <= 1:
            return SmallTable(columns, types)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"its table {name!r} is none") from error
    raise ValueError(f"the columns of its table {name!r} are not those of one table")


def joined(tables: Sequence[SmallTable]) -> pl.DataFrame:
    """Put tables with the same columns below each other, in one go; raises ValueError if they differ in these."""
    first = tables[0]
    if any(table.types != first.types for table in tables):
        raise ValueError("the tables differ in their columns")
    columns = {name: [*chain.from_iterable(table.columns[name] for table in tables)] for name in first.columns}
    return SmallTable(columns, first.types).frame()


def _written_table(columns: Mapping[str, Any]) -> SmallTable:
    return SmallTable(
        {name: values if isinstance(values, list) else _written_numbers(values) for name, values in columns.items()},
        {name: TEXT if isinstance(values, list) else NUMBERS[values.dtype.kind] for name, values in columns.items()},
    )


def _written_numbers(values: np.ndarray[Any, Any]) -> list[Any]:
    plain: list[Any] = values.tolist()
    if values.dtype.kind != "f" or math.isfinite(sum(plain)):  # a sum is finite only if all are
        return plain
    return [value if math.isfinite(value) else _without_number(value) for value in plain]


def _without_number(value: float) -> str | None:
    """Return how a value is written for which JSON has no number; NaN from 0 ÷ 0 has a sign on some processors."""
    if not math.isnan(value):
        return str(value)
    return None if math.copysign(1, value) > 0 else "-nan"
