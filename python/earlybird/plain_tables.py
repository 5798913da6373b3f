"""Tables of results as lists, for what needs no data frame: loading polars takes longer than a short run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from earlybird.result import Columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from earlybird.result import Result

Row = dict[str, Any]


def plain_columns(result: Result, name: str) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a table; raises `InputError` if the run did not measure it."""
    result.require(name)
    source = result.sources[name]
    if isinstance(source, Columns):
        return {key: column if isinstance(column, list) else column.tolist() for key, column in source.columns.items()}
    columns: Mapping[str, Sequence[Any]] = result.table(name).to_dict(as_series=False)
    return columns


def plain_rows(result: Result, name: str) -> Iterator[Row]:
    """Yield the rows of a table; raises `InputError` if the run did not measure it."""
    columns = plain_columns(result, name)
    return (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def grouped(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Group rows by the values of columns, in the order of their first rows."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def finite_mean(values: Iterable[Any]) -> float | None:
    """Return the mean of the numbers among values, but for NaN; None if there is none."""
    numbers = [value for value in values if isinstance(value, int | float) and value == value]
    return sum(numbers) / len(numbers) if numbers else None
