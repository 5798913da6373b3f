"""Comparison of computed columns with those of a run."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import polars as pl

from . import flows, links, media, player, samples
from .summary import summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from .links import Value
    from .runs import Run

Rows: TypeAlias = "Mapping[tuple[str, ...], Mapping[str, Value]]"
"""Columns by the values of a table's key."""

KEYS = {
    "links": ("link",),
    "link_groups": ("link", "group"),
    "drops": ("link", "flow", "cause"),
    "flows": ("flow",),
    "lateness": ("flow", "startup_delay_s"),
    "deliveries": ("flow", "unit"),
    "timeouts": ("flow", "number"),
    "stalls": ("flow", "number"),
    "transmissions": ("flow", "packet"),
    "queue_positions": ("group", "packets_waiting"),
    "series": ("time_s", "subject", "quantity"),
}


class Deviation(NamedTuple):
    """A value as the run gives it and as it was computed."""

    table: str
    column: str
    key: tuple[str, ...]
    reported: Value
    computed: Value

    @property
    def is_allowed(self) -> bool:
        """Whether it is within the bounds of its column."""
        return self.size <= float(described()[self.table][self.column].get("allowed", 0))

    @property
    def size(self) -> float:
        """The difference; infinite where one of the values is none, or the texts differ."""
        if isinstance(self.reported, float | int) and isinstance(self.computed, float | int):
            if described()[self.table][self.column].get("bound"):
                return max(self.computed - self.reported, 0.0)
            if math.isnan(self.reported) and math.isnan(self.computed):
                return 0.0
            return 0.0 if self.reported == self.computed else abs(self.reported - self.computed)
        return 0.0 if self.reported == self.computed else math.inf


@cache
def described() -> dict[str, dict[str, dict[str, Any]]]:
    """Return by table and column how it is computed, or why it is not."""
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


COMPUTED: dict[str, Callable[[Run], Rows]] = {
    "links": links.links,
    "link_groups": links.link_groups,
    "drops": links.drops,
    "flows": flows.flows,
    "lateness": media.lateness,
    "deliveries": media.deliveries,
    "timeouts": samples.timeouts,
    "transmissions": samples.transmissions,
    "queue_positions": samples.queue_positions,
    "series": samples.series,
    "stalls": player.stalls,
}


def deviations(run: Run) -> Iterator[Deviation]:
    """Yield every computed value beside that of the run."""
    for table, compute in COMPUTED.items():
        if table in run.tables:
            yield from rows(table, reported(table, run.tables[table]), compute(run))
    [computed] = summary(run).values()
    for measure, value in computed.items():
        if value is not None:
            yield Deviation("summary", measure, (), run.summary.get(measure), value)


def reported(table: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with the columns of its key."""
    if table in ("timeouts", "stalls"):
        return frame.with_columns(pl.int_range(pl.len()).over("flow").alias("number"))
    if table == "series":
        return frame.with_columns(pl.col("time_s").map_elements(lambda at: f"{at:.3f}", return_dtype=pl.String))
    return frame


def rows(table: str, reported: pl.DataFrame, computed: Rows) -> Iterator[Deviation]:
    """Yield the values of a table."""
    by_key = {tuple(str(row[name]) for name in KEYS[table]): row for row in reported.iter_rows(named=True)}
    for key, columns in computed.items():
        if key not in by_key:
            yield Deviation(table, KEYS[table][0], key, None, key[0])
            continue
        for column, value in columns.items():
            if value is not None:
                yield Deviation(table, column, key, by_key[key][column], value)
