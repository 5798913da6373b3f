"""The short forms in which a statement is written, and the check that they stand for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from earlybird.errors import InputError
from earlybird.study.language.items import LEVELS, Cause, Check, Filter
from earlybird.study.language.points import DIFFERENCE, Point
from earlybird.tables import Table, build

FORMS: Final = ("rises", "falls", "least", "most", "between", "within", "equals", "table", "values")
"""Kinds of statements, of which a check has one."""
OF_TABLES: Final = ("metric", "at", "cells")  # keys that the numbers of a table have themselves


@dataclass(frozen=True, slots=True)
class Statement:
    """
    A check as the file has it, ``[items.checks.ID]``: a sentence, one thing that is to hold, and where it is tested.

    The sentence is that of one key of three, which is its level; `rises` to `table` are what may be to hold. The other
    keys are as in `Check`.
    """

    id: str
    must: str = ""  # the sentence, which can be understood alone, of what follows from the algorithm alone …
    claim: str = ""  # … or what a paper states that depends on what it leaves open …
    report: str = ""  # … or what only sets numbers side by side
    paper: str = ""
    metric: str = ""
    at: Point = field(default_factory=dict)  # coordinates of all of its quantities
    cells: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    each: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    where: Table = field(default_factory=dict)
    """Leaves out cells: those in which a quantity (`metric` if it is another one, `at`) is not `above` a value."""
    rises: Any = None  # the metric rises along the values of one axis, or from each point of a list to the next
    falls: Any = None  # the same with falling
    least: float | None = None
    most: float | None = None
    between: tuple[float, float] | None = None  # smallest and largest value that is allowed
    within: Table = field(default_factory=dict)
    """A difference (`minus`) is at most `least` or a `share` of what is subtracted, whichever is more."""
    equals: float | None = None
    table: str = ""  # the paper's numbers in this table below expected/ stand beside ours
    values: bool = False  # nothing is to hold: of a report, the quantity itself, cell by cell
    ratio_at_most: float = 1.0  # of an order: the smaller of two neighbours is at most this share of the larger
    margin: float = 0.0  # of an order: by so much two neighbours may be the other way round
    because: str = ""
    shown_by: tuple[str, ...] = ()
    cause: Table = field(default_factory=dict)
    """The condition of every failing cell: a quantity (`metric`, `at`) of at `least` or at `most` a value."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A difference that is too small to matter."""

    least: float  # in stored units
    share: float  # of what is subtracted


def check_of(name: str, table: Table, where: str) -> Check:
    """Make a check of its table with the keys of its item, all short forms written out."""
    statement = build(Statement, {"id": name, **table}, where)
    (level,) = _one(LEVELS, table, where)
    (form,) = _one(FORMS, table, where)
    _check_form(form, table, where)
    same = ("id", "metric", "paper", "at", "cells", "each", "margin", "table", "because", "shown_by")
    kept = {key: getattr(statement, key) for key in same}
    about = {"level": level, "statement": table[level], "form": form, "factor": statement.ratio_at_most}
    return Check(
        **about, **kept, **_held(statement, where), where=_filter(statement, where), cause=_cause(statement, where)
    )


def _one(keys: Sequence[str], table: Table, where: str) -> list[str]:
    given = [key for key in keys if key in table]
    if len(given) != 1:
        raise InputError(f"{where}: it has {' and '.join(given) or 'none'} of {', '.join(keys)}; give one of them.")
    return given


def _check_form(form: str, table: Table, where: str) -> None:
    """Raise `InputError` if a form lacks a required key, or has a key that it does not allow."""
    for key in ("ratio-at-most", "margin"):
        if key in table and form not in ("rises", "falls"):
            raise InputError(f"{where}.{key} = {table[key]!r}: it belongs to `rises` or `falls`, not to `{form}`.")
    if form == "within" and DIFFERENCE not in table.get("at", {}):
        raise InputError(f"{where}.within = {table[form]!r}: it is for a difference; `at` has no `minus`.")
    if form == "values" and not (table["values"] is True and "report" in table):
        raise InputError(f"{where}.values = {table['values']!r}: it must be true, and is for a report alone.")
    for key in OF_TABLES:
        if key in table and form == "table":
            raise InputError(f"{where}.{key} = {table[key]!r}: the table has it.")
    if form != "table" and "metric" not in table:
        raise InputError(f"{where}: metric must be given, here or by the item.")


def _held(statement: Statement, where: str) -> dict[str, Any]:
    if statement.table:
        return {"kind": "numbers"}
    if statement.rises is not None:
        return {"kind": "order", "points": _points(statement.rises, f"{where}.rises")}
    if statement.falls is not None:
        return {"kind": "order", "points": _points(statement.falls, f"{where}.falls")[::-1]}
    if statement.within:
        tolerance = build(Tolerance, statement.within, f"{where}.within")
        return {"kind": "range", "least": -tolerance.least, "most": tolerance.least, "share": tolerance.share}
    least, most = (
        (statement.equals, statement.equals)
        if statement.equals is not None
        else statement.between or (statement.least, statement.most)
    )
    return {"kind": "range", "least": least, "most": most}


def _points(value: object, where: str) -> tuple[Point, ...]:
    """List the points of an order: those of a list, or the values of one axis."""
    if isinstance(value, Mapping) and len(value) == 1:
        ((name, values),) = value.items()
        points: tuple[Any, ...] = tuple({name: each} for each in values) if isinstance(values, tuple) else ()
    else:
        points = value if isinstance(value, tuple) else ()
    if len(points) < 2 or not all(isinstance(point, Mapping) for point in points):
        raise InputError(f"{where} = {value!r}: it must be {{ AXIS = [two values or more] }} or a list of points.")
    return points


def _filter(statement: Statement, where: str) -> Filter | None:
    return build(Filter, {"metric": statement.metric, **statement.where}, f"{where}.where") if statement.where else None


def _cause(statement: Statement, where: str) -> Cause | None:
    if not statement.cause:
        return None
    if not statement.cause.keys() & {"least", "most"}:
        raise InputError(f"{where}.cause: it needs a bound, `least` or `most`.")
    return build(Cause, {"metric": statement.metric, **statement.cause}, f"{where}.cause")
