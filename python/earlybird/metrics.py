"""The register of metrics: names, types, units, titles, directions and definitions of all that a result contains."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird import result
else:
    result = LateModule("earlybird.result")

Direction: TypeAlias = Literal["", "smaller", "larger"]

FILE = "metrics.toml"
APART = ("tables", "studies", "views")  # sections with a form of their own


@dataclass(frozen=True)
class Entry:
    """A name in a result: shown to people if it has a `title`, or in narrow columns its `heading`."""

    type: str
    definition: str
    unit: str = ""
    title: str = ""
    heading: str = ""
    direction: Direction = ""
    digits: int | None = None
    accumulates: bool = False
    per_connection: bool = False


@dataclass(frozen=True)
class StudyEntry:
    """A metric of studies."""

    title: str
    definition: str
    when: tuple[str, ...]  # which runs have it, as the register's head says
    unit: str = ""  # of the stored value
    print: str | None = None  # the unit in print, if it differs
    digits: int = 1
    direction: Direction = ""
    scale: str = "linear"
    column: str = ""  # of the observed flows; with `reduce` empty for what the code computes
    reduce: str = ""


@dataclass(frozen=True)
class Section:
    """Names that belong together, in the order in which they are best read."""

    title: str
    about: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class DescribedTable:
    """A table of a result: the meaning of a row, the condition under which a run has it, and its columns in order."""

    rows: str
    when: str
    entries: Mapping[str, Entry]


@cache
def sections() -> dict[str, Section]:
    """Return the sections besides tables, by key: `summary`, `real_time`, `quantities`, `trace` and so on."""
    plain = ((key, node) for key, node in _document().items() if key not in APART)
    return {key: Section(node["title"], node["about"], _entries(node)) for key, node in plain}


@cache
def tables() -> dict[str, DescribedTable]:
    """Return the tables that a run of a scenario can have, by name."""
    nodes = _document()["tables"].items()
    return {name: DescribedTable(node["rows"], _when(name, node), _entries(node)) for name, node in nodes}


@cache
def studies() -> dict[str, StudyEntry]:
    """Return the metrics of studies, by name."""
    nodes = _document()["studies"]["entries"].items()
    return {name: _study_entry(name, node) for name, node in nodes}


def studies_section() -> tuple[str, str]:
    """Return the title of the metrics of studies, and a sentence about them."""
    node = _document()["studies"]
    return node["title"], node["about"]


@cache
def view(name: str) -> dict[str, Entry]:
    """Return the entries that a table for people shows, in order: columns of flows, or measures of the summary."""
    of_flows = name in ("flows", "limits")
    entries = tables()["flows"].entries if of_flows else sections()["summary"].entries
    return {key: entries[key] for key in _document()["views"][name]}


def accumulating() -> tuple[str, ...]:
    """Return the columns of flows that grow with the length of the run."""
    return tuple(name for name, entry in tables()["flows"].entries.items() if entry.accumulates)


def _study_entry(name: str, node: Mapping[str, Any]) -> StudyEntry:
    """Make an entry of its node; one that reduces a column of the flows shares the unit and direction of the column."""
    if "reduce" not in node:
        return StudyEntry(**{**node, "when": tuple(node["when"])})
    column = node.get("column", name)
    shared = tables()["flows"].entries[column]
    definition = f"The flows' `{column}`: {REDUCTIONS[node['reduce']]} over the observed flows."
    whole = {"unit": shared.unit, "direction": shared.direction, "definition": definition, **node}
    return StudyEntry(**{**whole, "column": column, "when": tuple(node["when"])})


REDUCTIONS = {"mean": "mean", "median": "median", "nanmedian": "median", "p90": "90th percentile", "sum": "sum"}
"""Functions that reduce a column to one number, and their names in prose."""


def _when(name: str, node: Mapping[str, Any]) -> str:
    """Return in words when a run has a table."""
    return (
        f"the scenario has `{result.MEASURE_FLAGS[name]}`"
        if name in result.MEASURE_FLAGS
        else str(node.get("when", ""))
    )


def _entries(node: Mapping[str, Any]) -> dict[str, Entry]:
    return {name: Entry(**entry) for name, entry in node["entries"].items()}


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads((files("earlybird") / FILE).read_text(encoding="utf-8"))
