"""Makes sure that what a search names is there."""

import dataclasses
from typing import Final

from earlybird.errors import InputError
from earlybird.study.language.checking import Known
from earlybird.study.language.definition import Study
from earlybird.study.search.definition import CONFIRMATION, SEARCH, Search, Target
from earlybird.tables import one_of

FILE: Final = "search.toml"


def check_search(search: Search, whole: Study) -> None:
    """Raise `InputError` if a search names what is not there, or has nothing to run; `whole` has its own runs."""
    study = search.study
    known = Known(dataclasses.replace(study, grids=(*study.grids, *whole.grids)))
    _at_least(1, search.trials, "trials")
    _at_least(0, search.best, "best")
    for grid in study.grids:
        Known(study).check_grid(grid, FILE)
    for name in (SEARCH, CONFIRMATION):
        _check_scale(search, name)
    for group in study.groups.values():
        known.check_values(group.axes, f"{FILE}: groups.{group.name}")
    for parameter in search.parameters.values():
        known.check_values(parameter.at, f"{FILE}: parameters.{parameter.name}.at")
    if not search.targets:
        raise InputError(f"{FILE}: targets: there must be one at least, or there is nothing to search for.")
    for place, target in enumerate(search.targets):
        _check_target(target, search, f"{FILE}: targets[{place}]")


def _check_scale(search: Search, name: str) -> None:
    one_of(name, search.study.scales, f"{FILE}: scales", "scale of the search")
    _at_least(1, search.study.scales[name].seeds, f"scales.{name}.seeds")
    if not any(name in each.scales for each in search.study.grids):
        raise InputError(f"{FILE}: grids: none has the scale {name!r}, so nothing would be run.")


def _check_target(target: Target, search: Search, where: str) -> None:
    if bool(target.item) == bool(target.table):
        raise InputError(f"{where}: give either an item, for its checks, or a table, for its numbers.")
    _check_tolerance(target, where)
    for name in target.without:
        one_of(name, Known(search.study).coordinates, f"{where}.without", "coordinate")
    if target.table:
        one_of(target.table, search.study.numbers, f"{where}.table", "table below expected/")
        return
    items = {item.id: item for item in search.study.items}
    one_of(target.item, items, f"{where}.item", "item of the study")
    for name in target.checks:
        one_of(name, [check.id for check in items[target.item].checks], f"{where}.checks", "check of the item")


def _check_tolerance(target: Target, where: str) -> None:
    if (target.factor is None) == (target.within is None):
        raise InputError(f"{where}: give either factor, such as 1.25, or within, in stored units (0.1: ten points).")
    if target.factor is not None and target.factor <= 1:
        raise InputError(f"{where}.factor = {target.factor}: it must be larger than 1, such as 1.25.")
    if target.within is not None and target.within <= 0:
        raise InputError(f"{where}.within = {target.within}: it must be larger than 0, such as 0.1.")


def _at_least(least: int, value: int, where: str) -> None:
    if value < least:
        raise InputError(f"{FILE}: {where} = {value}: it must be {least} or more.")
