"""The criteria: what RFC 9743 asks for, the scenario, the quantity, and its cases."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003, as tables are checked against the annotations
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from earlybird.errors import InputError
from earlybird.tables import build, named, one_of, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of a result, and how it becomes one number."""

    table: Literal["summary", "flows", "links"]
    column: str
    group: str | None = None  # group of flows (default: all)
    take: Literal["mean", "sum", "max", "p95", "least-of-mean"] = "mean"
    scale: float = 1.0  # factor from the column's unit to that of the figure


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of an assessment; the comments of ``criteria.toml`` explain its keys."""

    name: str
    section: str
    words: str
    title: str
    scenario: str
    quantity: Quantity
    unit: str
    better: Literal["smaller", "larger"]
    least: float
    axis: str
    cases: tuple[Mapping[str, Any], ...]
    figure: Literal["mean", "geometric"] = "mean"
    control: tuple[str, ...] = ("control",)

    @property
    def path(self) -> Path:
        """The file of its scenario."""
        return FOLDER / "scenarios" / f"{self.scenario}.toml"

    @property
    def places(self) -> list[float | str]:
        """Places of its cases in its picture."""
        return [case["at"] for case in self.cases]


@dataclass(frozen=True, slots=True)
class Excluded:
    """A part of RFC 9743 that is not measured."""

    name: str
    section: str
    title: str
    reason: str


@cache
def criteria() -> Mapping[str, Criterion]:
    """Return all criteria by name, in the order of the RFC."""
    found = named(Criterion, read_toml(FOLDER / "criteria.toml"), "criteria", "criteria.toml", _with_quantity)
    return dict(sorted(found.items(), key=lambda each: [int(part) for part in each[1].section.split(".")]))


@cache
def excluded() -> tuple[Excluded, ...]:
    """Return what is not measured."""
    return tuple(named(Excluded, read_toml(FOLDER / "criteria.toml"), "excluded", "criteria.toml").values())


def chosen(names: Iterable[str]) -> list[Criterion]:
    """Return criteria by their names, or all of a section by its number: ``5.1`` has 5.1.1 to 5.1.5; none are all."""
    known, wanted = criteria(), list(dict.fromkeys(names))
    sections = {one.section for one in known.values()}
    for name in wanted:
        if not any(_is_within(section, name) for section in sections):
            if missing := [one for one in excluded() if _is_within(one.section, name)]:
                raise InputError(f"criterion = {name}: {missing[0].title} cannot be measured. {missing[0].reason}")
            one_of(name, known, "criterion", "criterion, nor section of RFC 9743")
    found = [one for one in known.values() if one.name in wanted or any(_is_within(one.section, s) for s in wanted)]
    return found if wanted else list(known.values())


def _is_within(section: str, part: str) -> bool:
    return f"{section}.".startswith(f"{part}.")


def _with_quantity(table: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**table, "quantity": build(Quantity, table["quantity"], "criteria.toml: quantity")}
