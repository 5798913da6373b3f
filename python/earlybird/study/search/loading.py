"""Reads a study's search.toml."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.study.language.definition import Group, Scale, Study
from earlybird.study.language.items import Number
from earlybird.study.language.library import ALL, find_study, study_names
from earlybird.study.language.loading import grids_of
from earlybird.study.language.points import SECOND, Point, Scalar
from earlybird.study.search.checking import FILE, check_search
from earlybird.study.search.definition import Choice, Parameter, Range, Search, SearchOptions, Target
from earlybird.tables import build, files_of, listed, named, one_of, read_toml, section


def choose_searches(name: str) -> list[Search]:
    """Read a study's search, or for ``all`` those of all studies that have one, sorted by name."""
    return [load_search(find_study(each)) for each in (search_names() if name == ALL else [_known(name)])]


def search_names() -> list[str]:
    """Return the names of the studies that have a search, sorted."""
    return [name for name in study_names() if (shipped_file("studies", name) / FILE).is_file()]


def _known(name: str) -> str:
    if find_study(name).name not in search_names():
        raise InputError(f"the study {name!r} has no {FILE}; those that have one: {', '.join(search_names())}.")
    return name


def load_search(study: Study) -> Search:
    """Read the search.toml of a study; raise `InputError` with the key if it is missing or not valid."""
    document = read_toml(study.folder / FILE)
    with files_of(study.name):
        return _search(study, document)


def _search(study: Study, document: Mapping[str, Any]) -> Search:
    own = dataclasses.replace(
        study,
        scales=named(Scale, document, "scales", FILE),
        groups=_groups(study, section(document, "groups", FILE)),
        grids=grids_of(document, FILE),
    )
    sections = ("scales", "groups", "grids", "parameters", "targets")
    others = {key: value for key, value in document.items() if key not in sections}
    parameters = {key: _parameter(key, table) for key, table in section(document, "parameters", FILE).items()}
    targets = tuple(
        build(Target, table, f"{FILE}: targets[{place}]")
        for place, table in enumerate(listed(document, "targets", FILE))
    )
    options = dataclasses.asdict(build(SearchOptions, others, FILE))
    search = Search(**options, study=own, parameters=parameters, targets=targets)
    check_search(search, study)
    return dataclasses.replace(search, study=dataclasses.replace(own, numbers=_numbers(own, targets)))


def _numbers(study: Study, targets: Sequence[Target]) -> dict[str, tuple[Number, ...]]:
    """Leave out of the paper's tables the rows and coordinates that targets leave out."""
    return {**study.numbers, **{each.table: tuple(_rows(study, each)) for each in targets if each.table}}


def _rows(study: Study, target: Target) -> Iterator[Number]:
    seen = list[tuple[str, Point]]()
    for row in study.numbers[target.table]:
        point = {name: value for name, value in row.point.items() if name not in target.without}
        is_repeated = (row.metric, point) in seen
        if not is_repeated and (target.differences or not point.keys() & {*SECOND}):
            seen.append((row.metric, point))
            yield dataclasses.replace(row, point=point)


def _groups(study: Study, table: Mapping[str, Any]) -> dict[str, Group]:
    """Narrow groups of the study down to the runs that stand for them here."""
    groups = dict(study.groups)
    for name, axes in table.items():
        one_of(name, groups, f"{FILE}: groups", "group of the study")
        groups[name] = dataclasses.replace(groups[name], axes={axis: _tuple(values) for axis, values in axes.items()})
    return groups


def _parameter(name: str, table: Mapping[str, Any]) -> Parameter:
    where = f"{FILE}: parameters.{name}"
    at = {axis: _tuple(values) for axis, values in table.get("at", {}).items()}
    named_table = {**table, "name": name, "at": at}
    if "least" in table or "most" in table:
        return _checked_range(build(Range, named_table, where), where)
    if "values" in table:
        named_table["choices"] = {_label(value): {table.get("key", ""): value} for value in _tuple(table["values"])}
        named_table["default"] = _label(table.get("default", ""))
        named_table = {key: value for key, value in named_table.items() if key not in ("values", "key")}
    choice: Choice = build(Choice, named_table, where)
    one_of(choice.default, choice.choices, f"{where}.default", "choice")
    return choice


def _checked_range(parameter: Range, where: str) -> Range:
    if not parameter.least <= parameter.default <= parameter.most:
        between = f"it must lie between {where}.least = {parameter.least} and {where}.most = {parameter.most}"
        raise InputError(f"{where}.default = {parameter.default}: {between}.")
    return parameter


def _label(value: object) -> str:
    """Return the name of a value: true and false as TOML writes them."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _tuple(values: object) -> tuple[Scalar, ...]:
    return tuple(values) if isinstance(values, list) else (values,)  # type: ignore[return-value]
