"""The runs that one figure or table is made of, of all that its study asks for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from earlybird.study.language.definition import Part, Study
from earlybird.study.language.items import Check, Item, Plot
from earlybird.study.language.points import NOT_AXES, Point, Scalar, combinations, terms


@dataclass(frozen=True, slots=True)
class Place:
    """The values that a run must have to be at a point: of its part, of axes, and those that a group allows."""

    part: str
    axes: tuple[tuple[str, object], ...]
    group: str

    def has(self, study: Study, part: Part, axes: Mapping[str, Scalar]) -> bool:
        """Return whether a run is at the point; whether its load or losses are those of the group, only runs tell."""
        allowed = study.groups[self.group].axes if self.group in study.groups else {}
        return (
            part.name == self.part
            and all(axes.get(name) == value for name, value in self.axes)
            and all(axes.get(name) in values for name, values in allowed.items())
        )


def places(study: Study, item: Item) -> list[Place]:
    """List the places of all points of an item's plots and statements, each once."""
    points = (*_points(study, item), *(number for check in item.checks for number in _numbers(study, check)))
    every = [_place(study, term) for point in points for term in _with_delay(study, point)]
    return list(dict.fromkeys((*every, *(_as_it_is(study, plot, panel) for plot, panel in _single_runs(item)))))


def _points(study: Study, item: Item) -> Iterator[Point]:
    """Yield the points of an item, but for those of a paper's numbers."""
    for plot in item.plots:
        along = {name: values for name, values in plot.x.items() if values}
        yield from ({**plot.at, **each} for each in combinations({**plot.panels, **plot.lines, **along}))
    for check in item.checks:
        for variant in combinations(check.each):
            for cell in combinations(check.cells):
                for point in check.points or ({},):
                    yield {**check.at, **cell, **variant, **point}
                if check.where:
                    yield {**cell, **variant, **check.where.at}
                if check.cause:
                    yield {**check.at, **cell, **check.cause.at}


def _numbers(study: Study, check: Check) -> Iterator[Point]:
    """Yield the points of a paper's numbers."""
    for variant in combinations(check.each):
        yield from ({**number.point, **variant} for number in study.numbers.get(check.table, ()))


def _single_runs(item: Item) -> Iterator[tuple[Plot, Point]]:
    """Yield the panels of plots without a metric, which show runs themselves."""
    for plot in item.plots:
        yield from ((plot, panel) for panel in combinations(plot.panels) if not plot.metric)


def _with_delay(study: Study, point: Point) -> Iterator[Point]:
    """Yield the points of a quantity's terms, and those at which a startup delay that has a name is found."""
    for term in terms(point):
        yield term
        if (delay := term.get("delay")) in study.delays:
            yield {**term, **study.delays[str(delay)].at}


def _place(study: Study, term: Point) -> Place:
    defaults = {axis.name: axis.default for axis in study.axes.values() if axis.default is not None}
    return _at(study, {**defaults, **term})


def _as_it_is(study: Study, plot: Plot, panel: Point) -> Place:
    """Return the place of runs that are shown themselves, which may have any value of axes that are left out."""
    return _at(study, {**plot.at, **panel})


def _at(study: Study, point: Point) -> Place:
    axes = tuple((name, value) for name, value in point.items() if name not in NOT_AXES)
    return Place(str(point.get("part", next(iter(study.parts)))), axes, str(point.get("group", "")))
