"""Reads items.toml, in which the keys of an item apply to all its entries."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from earlybird.errors import InputError
from earlybird.study.language.items import Check, Item, Panel, Plot
from earlybird.study.language.shorthand import FORMS, OF_TABLES, check_of
from earlybird.tables import Table, build, listed, one_of, section

FILE: Final = "items.toml"

T = TypeVar("T")

SHARED: Final[Mapping[str, tuple[str, ...]]] = {
    "checks": ("metric", "at", "cells", "each", *FORMS),
    "plots": ("kind", "metric", "at", "x", "panels", "lines", "log-y", "share-y"),
    "sensitivity": ("vary", "also", "against"),
}
"""Keys that an item may set once for all entries of a section."""


def items_of(document: Table) -> tuple[Item, ...]:
    """Make the items of a study of its file; raise `InputError` for an unknown key or a missing one."""
    items = tuple(map(_item, listed(document, "items", FILE)))
    _check_names(items)
    return items


def _item(table: Table) -> Item:
    where = f"{FILE}: item {table.get('id')}"
    own = ("id", "title", "text", *SHARED, *(key for keys in SHARED.values() for key in keys))
    for key in table:
        one_of(key, own, f"{where}: {key}", "key of an item", given=table[key])
    _check_shared(table, where)
    checks = _each(check_of, table, "checks", where)
    panels = _each(_named(Panel), table, "sensitivity", where)
    _check_panels(panels, checks, where)
    about = {key: table[key] for key in ("id", "title", "text") if key in table}
    return build(
        Item, {**about, "plots": _each(_named(Plot), table, "plots", where), "checks": checks, "panels": panels}, where
    )


def _each(make: Callable[[str, Table, str], T], item: Table, name: str, where: str) -> tuple[T, ...]:
    shared = {key: item[key] for key in SHARED[name] if key in item}
    tables = section(item, name, where)
    return tuple(make(key, _inherited(shared, table), f"{where}: {name}.{key}") for key, table in tables.items())


def _named(kind: Callable[..., T]) -> Callable[[str, Table, str], T]:
    return lambda name, table, where: build(kind, {"name": name, **table}, where)


def _check_shared(item: Table, where: str) -> None:
    """Raise `InputError` for a shared key of an item that every entry has itself."""
    for key in (key for keys in SHARED.values() for key in keys if key in item):
        sections = [name for name, keys in SHARED.items() if key in keys]
        tables = [table for name in sections for table in section(item, name, where).values()]
        own = FORMS if key in FORMS else () if key == "at" else (key,)
        if all(any(name in table for name in own) for table in tables):
            raise InputError(f"{where}: {key} = {item[key]!r}: nothing in the item has it from here; leave it out.")


def _inherited(shared: Table, own: Table) -> Table:
    """Merge the shared keys of an item with an entry's own; coordinates are united, forms replaced."""
    has_form = any(key in own for key in FORMS)
    rest = {key: value for key, value in shared.items() if not (has_form and key in FORMS)}
    if "table" in own:
        rest = {key: value for key, value in rest.items() if key not in OF_TABLES}
    both = [table["at"] for table in (rest, own) if isinstance(table.get("at"), Mapping)]
    return {**rest, **own, **({"at": both[0] | both[1]} if len(both) > 1 else {})}


def _check_panels(panels: Iterable[Panel], checks: Iterable[Check], where: str) -> None:
    testable = [check.id for check in checks if check.kind != "numbers"]
    for panel in panels:
        one_of(
            panel.check, testable, f"{where}: sensitivity.{panel.name}.check", "check of the item that can be tested"
        )


def _check_names(items: Iterable[Item]) -> None:
    """Raise `InputError` for a name that is given twice, or a reason without evidence that exists."""
    checks = [(item, check) for item in items for check in item.checks]
    panels = [panel.name for item in items for panel in item.panels]
    drawn = [plot.name for item in items for plot in item.plots] + panels
    known = panels + [check.id for _, check in checks]
    for names, what in ((drawn, "plots or panels"), (known, "checks or panels")):
        for name in {name for name in names if names.count(name) > 1}:
            raise InputError(f"{FILE}: two {what} of the study are called {name!r}; one of them needs another name.")
    for item, check in checks:
        where = f"{FILE}: item {item.id}: checks.{check.id}"
        if bool(check.because) != bool(check.shown_by or check.cause):
            raise InputError(f"{where}: `because` and `shown-by` or `cause` belong together; one of them is missing.")
        for name in check.shown_by:
            one_of(name, known, f"{where}.shown-by", "panel or check of the study")
