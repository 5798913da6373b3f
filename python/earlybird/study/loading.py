"""Reads a study's folder: study.toml (the runs), items.toml (what is stated), expected/*.csv (the papers' numbers)."""

import csv
import dataclasses
import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args

from earlybird.errors import InputError, because
from earlybird.study.definition import (
    Axis,
    Check,
    Delay,
    Filter,
    Grid,
    Group,
    Headline,
    Item,
    MainTable,
    Number,
    Panel,
    Part,
    Plot,
    Scalar,
    Scale,
    Study,
)
from earlybird.study.metrics import metric

T = TypeVar("T")
Table = Mapping[str, Any]

KINDS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""What the single values of a file may be, in words."""


def load(folder: Path) -> Study:
    """
    Read a study.

    Parameters
    ----------
    folder
        The study's folder.

    Returns
    -------
    Study
        All that its files say.

    Raises
    ------
    InputError
        If a file is missing, is not valid, or has a key that means nothing.
    """
    document = read_toml(folder / "study.toml")
    items = tuple(_item(table) for table in read_toml(folder / "items.toml").get("items", ()))
    _check_reasons(items)
    tables = {
        "folder": folder,
        "name": folder.name,
        "axes": named(Axis, document, "axes"),
        "parts": named(Part, document, "parts", lambda table: _with_path(table, folder)),
        "scales": named(Scale, document, "scales"),
        "groups": named(Group, document, "groups"),
        "delays": named(Delay, document, "delays"),
        "grids": tuple(grid(table) for table in document.get("grids", ())),
        "items": items,
        "numbers": {path.stem: _numbers(path) for path in sorted((folder / "expected").glob("*.csv"))},
        "main": build(MainTable, document.get("main", {}), "main"),
        "headline": build(Headline, document.get("headline", {}), "headline"),
    }
    return build(Study, {**document, **tables}, folder.name)


def read_toml(path: Path) -> Table:
    """Read a file, with one sentence about what is wrong with it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {because(error)}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from error


def named(
    kind: Callable[..., T], document: Table, section: str, prepare: Callable[[Table], Table] = dict
) -> dict[str, T]:
    """Make a dataclass of each table of a section, which gets the table's name."""
    tables = document.get(section, {})
    return {name: build(kind, {"name": name, **prepare(table)}, f"{section}.{name}") for name, table in tables.items()}


def _with_path(part: Table, folder: Path) -> Table:
    """Find a part's scenario or test bed from the study's folder."""
    if sum(kind in part for kind in ("scenario", "model", "testbed")) != 1:
        raise InputError(f"{folder}: each part needs a scenario, or a model or a test bed in its place.")
    return {**part, **{kind: folder / str(part[kind]) for kind in ("scenario", "testbed") if kind in part}}


def grid(table: Table) -> Grid:
    """Read a grid: its part and scales, and every other key an axis with its values."""
    axes = {name: tuple(_listed(values)) for name, values in table.items() if name not in ("part", "scales")}
    return build(Grid, {**{name: table[name] for name in ("part", "scales") if name in table}, "axes": axes}, "grids")


def _item(table: Table) -> Item:
    where = f"item {table.get('id')}"
    plots = tuple(build(Plot, plot, f"{where}, plot {plot.get('name')}") for plot in table.get("plots", ()))
    checks = tuple(_check(check, f"{where}, check “{check.get('statement')}”") for check in table.get("checks", ()))
    panels = tuple(_panel(panel, checks, where) for panel in table.get("panels", ()))
    return build(Item, {**table, "plots": plots, "checks": checks, "panels": panels}, where)


def _panel(table: Table, checks: Sequence[Check], where: str) -> Panel:
    panel = build(Panel, table, f"{where}, panel {table.get('name')}")
    testable = [check.statement for check in checks if check.kind in ("order", "range")]
    if panel.statement not in testable:
        near = difflib.get_close_matches(panel.statement, testable, 1) or testable
        raise InputError(f"{where}, panel {panel.name}: its statement is that of no check that can be tested; {near}?")
    return panel


def _check_reasons(items: Sequence[Item]) -> None:
    """Make sure that every reason names what shows it, and that this is there."""
    checks = [(item, check) for item in items for check in item.checks]
    known = [panel.name for item in items for panel in item.panels] + [check.statement for _, check in checks]
    for item, check in checks:
        where = f"item {item.id}, check “{check.statement}”"
        if bool(check.because) != bool(check.shown_by):
            raise InputError(f"{where}: `because` and `shown-by` belong together; one of them is missing.")
        for name in check.shown_by:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1) or known
                raise InputError(f"{where}: shown-by names {name!r}, no panel or statement of the study; {near[0]!r}?")


def _check(table: Table, where: str) -> Check:
    if "where" in table:
        table = {**table, "where": build(Filter, table["where"], where)}
    check = build(Check, table, where)
    if check.kind == "range" and check.least is None and check.most is None:
        raise InputError(f"{where}: a range needs a bound, `least` or `most`; without one there is nothing to hold.")
    return check


def build(kind: Callable[..., T], table: Table, where: str) -> T:
    """Make a dataclass of a table, with a word about keys that it does not know or lacks."""
    values = {key.replace("-", "_"): _frozen(value) for key, value in table.items()}
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in sorted(values.keys() - fields.keys()):
        near = difflib.get_close_matches(name, fields, 1) or sorted(fields)
        raise InputError(f"{where}: there is no key {name!r} here; is it {', '.join(near)}?")
    missing = [name for name, field in fields.items() if _is_required(field) and name not in values]
    if missing:
        raise InputError(f"{where}: {', '.join(missing)} must be given.")
    for name, value in values.items():
        _check_kind(value, fields[name].type, f"{where}.{name}")
    return kind(**values)


def _check_kind(value: object, annotation: object, where: str) -> None:
    """Make sure that a number is a number, and a text a text; what is made of several is not looked into."""
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    allowed = tuple(one for one in kinds if one in KINDS)
    if len(allowed) + (NoneType in kinds) != len(kinds) or (value is None and NoneType in kinds):
        return
    fitting = (*allowed, int) if float in allowed else allowed
    if not isinstance(value, fitting) or (isinstance(value, bool) and bool not in allowed):
        raise InputError(f"{where} = {value!r}: it must be {' or '.join(KINDS[one] for one in allowed)}.")


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _frozen(value: object) -> object:
    """Turn lists into tuples, down through tables."""
    if isinstance(value, Mapping):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _listed(values: object) -> Iterable[Scalar]:
    return values if isinstance(values, list) else [values]  # type: ignore[list-item]


def _numbers(path: Path) -> tuple[Number, ...]:
    """Read a table of the paper's numbers: ``metric``, ``value`` as printed, ``note``, one column per coordinate."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_number(row) for row in csv.DictReader(file))


def _number(row: Mapping[str, str]) -> Number:
    point: dict[str, Any] = {}
    for column, text in row.items():
        if column not in ("metric", "value", "note") and text:
            _place(point, column, _scalar(text))
    scale = 1 if "over" in point else metric(row["metric"]).scale
    return Number(row["metric"], point, float(row["value"]) / scale, row.get("note") or "")


def _place(point: dict[str, Any], column: str, value: Scalar) -> None:
    """Put a coordinate where it belongs; ``over.transport`` is the transport of the quantity divided by."""
    outer, dot, inner = column.partition(".")
    if dot:
        point.setdefault(outer, {})[inner] = value
    else:
        point[column] = value


def _scalar(text: str) -> Scalar:
    """Read a cell of a table: a number if it is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
