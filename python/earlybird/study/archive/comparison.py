"""Sets two results of one run side by side, number by number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from earlybird.files import MEASURED_WITH_A_CLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from earlybird.result import Result

NOT_COMPARED: Final = ("code_version", *MEASURED_WITH_A_CLOCK)
"""Of a summary: what names the code, and what is not the same twice."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A quantity of which two results of one run have different values."""

    quantity: str
    """A number of the summary (``summary.success``), a column of a table (``flows.timeouts``), or what is missing."""
    archived: object  # the archive's value where they differ most, or first if they are not numbers
    repeated: object
    place: str = ""  # which row of the table that is, counted from 1
    values: int = 1  # the number of values that differ

    @property
    def size(self) -> float:
        """The size of the difference; NaN if they are not numbers."""
        return _distance(self.archived, self.repeated)


def differences(archived: Result, repeated: Result) -> list[Difference]:
    """Compare the summaries and tables of two results; none differ if all numbers are the same to the last bit."""
    return [*_of_summaries(archived.summary, repeated.summary), *_of_tables(archived, repeated)]


def _of_summaries(archived: Mapping[str, Any], repeated: Mapping[str, Any]) -> Iterator[Difference]:
    for name in dict.fromkeys((*archived, *repeated)):
        old, new = archived.get(name), repeated.get(name)
        if name not in NOT_COMPARED and not _is_same(old, new):
            yield Difference(f"summary.{name}", old, new)


def _of_tables(archived: Result, repeated: Result) -> Iterator[Difference]:
    for name in dict.fromkeys((*archived.tables, *repeated.tables)):
        if name not in archived.tables or name not in repeated.tables:
            yield _missing(name, name in archived.tables)
        else:
            yield from _of_rows(name, archived.table(name), repeated.table(name))


def _of_rows(name: str, archived: pl.DataFrame, repeated: pl.DataFrame) -> Iterator[Difference]:
    if archived.height != repeated.height:
        yield Difference(f"{name}: rows", archived.height, repeated.height)
        return
    for column in dict.fromkeys((*archived.columns, *repeated.columns)):
        quantity = f"{name}.{column}"
        if column not in archived.columns or column not in repeated.columns:
            yield _missing(quantity, column in archived.columns)
        elif different := _of_columns(quantity, archived[column].to_list(), repeated[column].to_list()):
            yield different


def _missing(quantity: str, is_archived: bool) -> Difference:  # noqa: FBT001, one of two places
    return Difference(quantity, *(("there", "missing") if is_archived else ("missing", "there")))


def _of_columns(quantity: str, archived: Sequence[Any], repeated: Sequence[Any]) -> Difference | None:
    rows = [row for row, pair in enumerate(zip(archived, repeated, strict=True)) if not _is_same(*pair)]
    if not rows:
        return None
    worst = max(rows, key=lambda row: _rank(archived[row], repeated[row]))
    return Difference(quantity, archived[worst], repeated[worst], f"row {worst + 1}", len(rows))


def _is_same(one: object, other: object) -> bool:
    """Return whether two values are equal; what is undefined in both is."""
    return one == other or (one != one and other != other)  # only NaN is not itself


def _rank(one: object, other: object) -> float:
    distance = _distance(one, other)
    return -1.0 if math.isnan(distance) else distance


def _distance(one: object, other: object) -> float:
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other))
    return abs(one - other) if numbers else math.nan  # type: ignore[operator]
