"""Reads a study's search.toml."""

import dataclasses
import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.study.definition import Group, Number, Point, Scalar, Scale, Study
from earlybird.study.library import ALL, find_study, study_names
from earlybird.study.loading import build, grid, named, read_toml
from earlybird.study.quantities import DIFFERENCE, RATIO
from earlybird.study.search.definition import CONFIRMATION, SEARCH, Choice, Parameter, Range, Search, Target

FILE = "search.toml"
NOT_AXES = ("part",)
"""What may stand in a parameter's `at` beside axes."""


def choose_searches(name: str) -> list[Search]:
    """
    Read searches.

    Parameters
    ----------
    name
        A study's name, or ``all`` for every study that has a search.

    Returns
    -------
    list of Search
        Sorted by name.

    Raises
    ------
    InputError
        If there is no such study, or it has no search, or that is not valid.
    """
    return [load_search(find_study(each)) for each in (search_names() if name == ALL else [_known(name)])]


def search_names() -> list[str]:
    """Return the names of the studies that have a search, sorted."""
    return [name for name in study_names() if (shipped_file("studies", name) / FILE).is_file()]


def _known(name: str) -> str:
    if find_study(name).name not in search_names():
        raise InputError(f"the study {name!r} has no {FILE}; those that have one: {', '.join(search_names())}.")
    return name


def load_search(study: Study) -> Search:
    """
    Read the search of a study.

    Parameters
    ----------
    study
        The study, with a search.toml in its folder.

    Returns
    -------
    Search
        All that the file says.

    Raises
    ------
    InputError
        If the file is missing or not valid; the message names the key.
    """
    document = read_toml(study.folder / FILE)
    own = dataclasses.replace(
        study,
        scales=named(Scale, document, "scales"),
        groups=_groups(study, _tables(document, "groups")),
        grids=tuple(grid(table) for table in document.get("grids", ())),
    )
    others = {key: value for key, value in document.items() if key not in ("scales", "groups", "grids")}
    parameters = {key: _parameter(key, table) for key, table in _tables(document, "parameters").items()}
    targets = tuple(build(Target, table, f"targets[{place}]") for place, table in enumerate(others.get("targets", ())))
    search: Search = build(Search, {**others, "study": own, "parameters": parameters, "targets": targets}, FILE)
    _check(search)
    return dataclasses.replace(search, study=dataclasses.replace(own, numbers=_numbers(own, targets)))


def _numbers(study: Study, targets: Sequence[Target]) -> dict[str, tuple[Number, ...]]:
    """Leave out of the paper's tables what the targets leave out."""
    return {**study.numbers, **{each.table: tuple(_rows(study, each)) for each in targets if each.table}}


def _rows(study: Study, target: Target) -> Iterator[Number]:
    seen = list[tuple[str, Point]]()
    for row in study.numbers[target.table]:
        point = {name: value for name, value in row.point.items() if name not in target.without}
        is_repeated = (row.metric, point) in seen
        if not is_repeated and (target.differences or not point.keys() & {DIFFERENCE, RATIO}):
            seen.append((row.metric, point))
            yield dataclasses.replace(row, point=point)


def _tables(document: Mapping[str, Any], name: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of a section by name."""
    found = document.get(name, {})
    if not isinstance(found, Mapping) or not all(isinstance(table, Mapping) for table in found.values()):
        raise InputError(f"{FILE}: {name} = {found!r}: there must be tables below it, [{name}.NAME].")
    return found


def _groups(study: Study, table: Mapping[str, Any]) -> dict[str, Group]:
    """Narrow groups of the study down to the runs that stand for them here."""
    groups = dict(study.groups)
    for name, axes in table.items():
        _one_of(name, groups, "groups")
        groups[name] = dataclasses.replace(groups[name], axes={axis: _tuple(values) for axis, values in axes.items()})
    return groups


def _parameter(name: str, table: Mapping[str, Any]) -> Parameter:
    where = f"parameters.{name}"
    at = {axis: _tuple(values) for axis, values in table.get("at", {}).items()}
    named_table = {**table, "name": name, "at": at}
    if "least" in table or "most" in table:
        return _checked_range(build(Range, named_table, where), where)
    if "values" in table:
        named_table["choices"] = {_label(value): {table.get("key", ""): value} for value in _tuple(table["values"])}
        named_table["default"] = _label(table.get("default", ""))
        named_table = {key: value for key, value in named_table.items() if key not in ("values", "key")}
    choice: Choice = build(Choice, named_table, where)
    _one_of(choice.default, choice.choices, f"{where}.default")
    return choice


def _checked_range(parameter: Range, where: str) -> Range:
    if not parameter.least <= parameter.default <= parameter.most:
        between = f"it must lie between {where}.least = {parameter.least} and {where}.most = {parameter.most}"
        raise InputError(f"{where}.default = {parameter.default}: {between}.")
    return parameter


def _label(value: object) -> str:
    """Name a value: true and false as TOML writes them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tuple(values: object) -> tuple[Scalar, ...]:
    return tuple(values) if isinstance(values, list) else (values,)  # type: ignore[return-value]


def _check(search: Search) -> None:
    """Make sure that what is named exists."""
    study = search.study
    _at_least(1, search.trials, "trials")
    _at_least(0, search.best, "best")
    for name in (SEARCH, CONFIRMATION):
        _one_of(name, study.scales, "scales")
        _at_least(1, study.scales[name].seeds, f"scales.{name}.seeds")
        if not any(name in each.scales for each in study.grids):
            raise InputError(f"{FILE}: grids: none has the scale {name!r}, so nothing would be run.")
    if not search.targets:
        raise InputError(f"{FILE}: targets: there must be one at least, or there is nothing to search for.")
    for place, each in enumerate(study.grids):
        _one_of(each.part, study.parts, f"grids[{place}].part")
        for scale in each.scales:
            _one_of(scale, study.scales, f"grids[{place}].scales")
        for axis in each.axes:
            _one_of(axis, study.axes, f"grids[{place}]")
    for parameter in search.parameters.values():
        for axis in parameter.at:
            _one_of(axis, (*study.axes, *NOT_AXES), f"parameters.{parameter.name}.at")
    for place, target in enumerate(search.targets):
        _check_target(target, study, f"targets[{place}]")


def _check_target(target: Target, study: Study, where: str) -> None:
    if bool(target.item) == bool(target.table):
        raise InputError(f"{where}: give either an item, for its checks, or a table, for its numbers.")
    if (target.factor is None) == (target.within is None):
        raise InputError(f"{where}: give either factor, such as 1.25, or within, in stored units (0.1: ten points).")
    if target.factor is not None and target.factor <= 1:
        raise InputError(f"{where}.factor = {target.factor}: it must be larger than 1, such as 1.25.")
    if target.within is not None and target.within <= 0:
        raise InputError(f"{where}.within = {target.within}: it must be larger than 0, such as 0.1.")
    if target.table:
        _one_of(target.table, study.numbers, f"{where}.table")
        return
    items = {item.id: item for item in study.items}
    _one_of(target.item, items, f"{where}.item")
    for statement in target.statements:
        _one_of(statement, {check.statement for check in items[target.item].checks}, f"{where}.statements")


def _at_least(least: int, value: int, where: str) -> None:
    if value < least:
        raise InputError(f"{FILE}: {where} = {value}: it must be {least} or more.")


def _one_of(value: str, allowed: Collection[str], where: str) -> None:
    """Make sure that a name is known."""
    if value not in allowed:
        near = difflib.get_close_matches(value, allowed, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(sorted(allowed))}."
        raise InputError(f"{FILE}: {where}: {value!r} is not known; {hint}")
