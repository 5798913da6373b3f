"""What results hold, in words: every measure of a summary, every column of a table, every event of a trace."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird import result
else:
    result = LateModule("earlybird.result")


@dataclass(frozen=True)
class Entry:
    """
    One name in a result.

    Attributes
    ----------
    kind
        ``real``, ``whole``, ``text``, ``flag``, or ``word`` for what stands in a column of texts.
    unit
        Of its value; empty without one.
    meaning
        A sentence or two.
    """

    kind: str
    unit: str
    meaning: str


@dataclass(frozen=True)
class Section:
    """
    Names that stand together.

    Attributes
    ----------
    title
        What they are of.
    about
        A sentence.
    entries
        By name, in the order in which they are best read.
    """

    title: str
    about: str
    entries: Mapping[str, Entry]


@dataclass(frozen=True)
class DescribedTable:
    """
    A table of a result.

    Attributes
    ----------
    rows
        What has a row: "per flow".
    when
        When a run has the table; empty if it always has.
    entries
        Its columns, in order.
    """

    rows: str
    when: str
    entries: Mapping[str, Entry]


@cache
def sections() -> dict[str, Section]:
    """Return what is described besides tables, by key: `summary`, `real_time`, `quantities`, `trace` and so on."""
    plain = ((key, node) for key, node in _document().items() if key != "tables")
    return {key: Section(node["title"], node["about"], _entries(node)) for key, node in plain}


@cache
def tables() -> dict[str, DescribedTable]:
    """Return the tables that a run of a scenario can have, by name."""
    nodes = _document()["tables"].items()
    return {name: DescribedTable(node["rows"], _when(name, node), _entries(node)) for name, node in nodes}


def _when(name: str, node: Mapping[str, Any]) -> str:
    """Say when a run has a table."""
    return (
        f"the scenario has `{result.MEASURE_FLAGS[name]}`"
        if name in result.MEASURE_FLAGS
        else str(node.get("when", ""))
    )


def _entries(node: Mapping[str, Any]) -> dict[str, Entry]:
    return {name: Entry(*parts) for name, parts in node["entries"].items()}


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads((files("earlybird") / "dictionary.toml").read_text(encoding="utf-8"))
