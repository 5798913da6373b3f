"""Reads a study's folder: study.toml (the runs), items.toml (what is stated), expected/*.csv (the papers' numbers)."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from earlybird.errors import InputError
from earlybird.study.language.checking import FILE, check_study
from earlybird.study.language.definition import Axis, Delay, Grid, Group, Headline, MainTable, Part, Scale, Study
from earlybird.study.language.items import Item, Number
from earlybird.study.language.items_loading import FILE as ITEMS
from earlybird.study.language.items_loading import items_of
from earlybird.study.language.metrics import METRICS, metric
from earlybird.study.language.points import Scalar
from earlybird.tables import Table, build, files_of, listed, named, one_of, read_toml

Texts: TypeAlias = Mapping[str, Mapping[str, Scalar]]
"""By axis, the values that are run by what they look like in a table: a queue called “80” is no number."""

PATHS = ("scenario", "testbed", "program")  # keys of a part that name a file


def load(folder: Path) -> Study:
    """Read a study from its folder."""
    document, items = read_toml(folder / FILE), read_toml(folder / ITEMS)
    with files_of(folder.name):
        study = _study(folder, document, items_of(items))
        check_study(study)
    return study


def _study(folder: Path, document: Table, items: tuple[Item, ...]) -> Study:
    axes, grids = named(Axis, document, "axes", FILE), grids_of(document, FILE)
    texts = {name: {str(value): value for each in grids for value in each.axes.get(name, ())} for name in axes}
    tables = {
        "folder": folder,
        "name": folder.name,
        "axes": axes,
        "parts": named(Part, document, "parts", FILE, lambda table: _with_path(table, folder)),
        "scales": named(Scale, document, "scales", FILE),
        "groups": named(Group, document, "groups", FILE),
        "delays": named(Delay, document, "delays", FILE),
        "grids": grids,
        "items": items,
        "numbers": {path.stem: _numbers(path, texts) for path in sorted((folder / "expected").glob("*.csv"))},
        "main": build(MainTable, document.get("main", {}), f"{FILE}: main"),
        "headline": build(Headline, document.get("headline", {}), f"{FILE}: headline"),
    }
    return build(Study, {**document, **tables}, FILE)


def _with_path(part: Table, folder: Path) -> Table:
    if sum(kind in part for kind in (*PATHS, "model")) != 1:
        raise InputError(f"{FILE}: each part needs a scenario, or a model, a test bed or a program in its place.")
    return {**part, **{kind: folder / str(part[kind]) for kind in PATHS if kind in part}}


def grids_of(document: Table, where: str) -> tuple[Grid, ...]:
    """Read grids: each has a part, scales, seeds and what is varied; every other key is an axis with its values."""
    return tuple(
        grid for place, table in enumerate(listed(document, "grids", where)) for grid in _grids(table, place, where)
    )


@dataclass(frozen=True, slots=True)
class WrittenGrid:
    """A grid as the file has it."""

    part: str
    scales: tuple[str, ...]
    axes: Mapping[str, tuple[Scalar, ...]]
    seeds: int | None = None  # at most so many, where the scale has more
    vary: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """In place of the grid itself: the grid with each of these axes, or parts, alone."""


def _grids(table: Table, place: int, where: str) -> Iterator[Grid]:
    own = {name: table[name] for name in ("part", "scales", "seeds", "vary") if name in table}
    axes = {name: tuple(_listed(values)) for name, values in table.items() if name not in own}
    written = build(WrittenGrid, {**own, "axes": axes}, f"{where}: grids[{place}]")
    grid = Grid(written.part, written.scales, written.axes, written.seeds, place)
    if not written.vary:
        yield grid
    for name, values in written.vary.items():
        if name == "part":
            yield from (replace(grid, part=str(part)) for part in values)
        else:
            yield replace(grid, axes={**written.axes, name: values})


def _listed(values: object) -> Iterable[Scalar]:
    return values if isinstance(values, list) else [values]  # type: ignore[list-item]


def _numbers(path: Path, texts: Texts) -> tuple[Number, ...]:
    """Read a table of the paper's numbers: ``metric``, ``value`` as printed, ``note``, one column per coordinate."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = enumerate(csv.DictReader(file), 2)
        return tuple(_number(row, texts, f"expected/{path.name}: line {line}") for line, row in rows)


def _number(row: Mapping[str, str], texts: Texts, where: str) -> Number:
    one_of(row.get("metric"), METRICS, f"{where}.metric", "quantity")
    point: dict[str, Any] = {}
    for column, text in row.items():
        if column not in ("metric", "value", "note") and text:
            known = texts.get(column.rpartition(".")[2], {})
            _place(point, column, known[text] if text in known else _scalar(text))
    scale = 1 if "over" in point else metric(row["metric"]).scale
    return Number(row["metric"], point, _value(row.get("value"), where) / scale, row.get("note") or "")


def _value(text: str | None, where: str) -> float:
    try:
        return float(text or "")
    except ValueError as error:
        raise InputError(f"{where}.value = {text!r}: it must be a number.") from error


def _place(point: dict[str, Any], column: str, value: Scalar) -> None:
    """Set a coordinate; ``over.transport`` is the transport of the quantity divided by."""
    outer, dot, inner = column.partition(".")
    if dot:
        point.setdefault(outer, {})[inner] = value
    else:
        point[column] = value


def _scalar(text: str) -> Scalar:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
