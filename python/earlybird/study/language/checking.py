"""Makes sure, before anything is run, that all that a study's files name is there: coordinates, values, quantities."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from earlybird.errors import InputError
from earlybird.limits import MOST_RUNS
from earlybird.study.language import items_loading
from earlybird.study.language.definition import SCALES, Grid, Study
from earlybird.study.language.entries import entry_ids
from earlybird.study.language.items import Check, Item, Panel, Plot
from earlybird.study.language.metrics import METRICS
from earlybird.study.language.observed import observed
from earlybird.study.language.points import NOT_AXES, SECOND, Point, Scalar
from earlybird.tables import one_of

FILE: Final = "study.toml"


def _check_number_of_runs(study: Study) -> None:
    """Raise InputError before a study is spread out into more runs than anyone can wait for."""
    for scale in study.scales.values():
        if scale.seeds < 1:
            raise InputError(f"{FILE}: scales.{scale.name}.seeds = {scale.seeds}: there must be one seed at least.")
        cells = sum(math.prod(map(len, grid.axes.values())) for grid in study.grids if scale.name in grid.scales)
        if cells * scale.seeds > MOST_RUNS:
            raise InputError(
                f"{FILE}: scales.{scale.name}.seeds = {scale.seeds}: with {cells:,} combinations of the grids' values "
                f"that is more than {MOST_RUNS:,} runs."
            )


def check_study(study: Study) -> None:
    """Raise `InputError` if a study's files name something that is not there, with its place and the nearest name."""
    known = Known(study)
    _check_runs(study, known)
    for item in study.items:
        _check_item(item, known)
    for name, numbers in study.numbers.items():
        for row, number in enumerate(numbers, 2):
            known.check_quantity(number.metric, number.point, f"expected/{name}.csv: line {row}")
    for name, value in study.headline.values.items():
        point = {key: each for key, each in value.items() if key != "metric"}
        known.check_quantity(str(value.get("metric")), point, f"{FILE}: headline.values.{name}")
    for name in study.headline.pictures:
        known.check_plot(name, f"{FILE}: headline.pictures")


@dataclass(frozen=True)
class Known:
    """The names that the files of a study may use."""

    study: Study

    @cached_property
    def observed(self) -> dict[str, tuple[str, ...]]:
        """The metrics that runs can have, by part."""
        return {name: observed(self.study, part) for name, part in self.study.parts.items()}

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names that a point may have."""
        return (*self.study.axes, *NOT_AXES)

    def values(self, coordinate: str) -> Iterable[object]:
        """List the values of a coordinate: of an axis those that are run, and its default."""
        study = self.study
        own: Mapping[str, Iterable[object]] = {"group": study.groups, "part": study.parts, "by": ("run", "flow")}
        if coordinate in own:
            return own[coordinate]
        if coordinate == "delay":
            return study.delays
        default = study.axes[coordinate].default
        run = [value for grid in study.grids for value in grid.axes.get(coordinate, ())]
        return run if default is None else [default, *run]

    def check_point(self, point: Point, where: str) -> None:
        """Check the coordinates of a point and of that with which it is compared."""
        for name, value in point.items():
            if name in SECOND and isinstance(value, Mapping):
                self.check_point(value, f"{where}.{name}")
            else:
                self.check_values({name: (value,)}, where)

    def check_values(self, values: Mapping[str, Sequence[object]], where: str) -> None:
        """Check coordinates that have several values."""
        for name, listed in values.items():
            given = listed[0] if len(listed) == 1 else listed
            one_of(name, self.coordinates, f"{where}.{name}", "coordinate", given=given)
            for value in listed:
                if not (name == "delay" and isinstance(value, int | float)):
                    one_of(value, self.values(name), f"{where}.{name}", f"value of {name!r}")

    def check_grid(self, grid: Grid, file: str) -> None:
        """Check the part, the scales and the axes of a grid; its values are those that there are."""
        where = f"{file}: grids[{grid.place}]"
        one_of(grid.part, self.study.parts, f"{where}.part", "part")
        for axis, values in grid.axes.items():
            one_of(axis, self.study.axes, f"{where}.{axis}", "axis", given=values)
        for scale in grid.scales:
            one_of(scale, self.study.scales, f"{where}.scales", "scale")
        if grid.seeds is not None and grid.seeds < 1:
            raise InputError(f"{where}.seeds = {grid.seeds}: it must be at least 1.")

    def check_metric(self, metric: str, parts: Iterable[object], where: str) -> None:
        """Make sure that runs of all of some parts can have a quantity."""
        one_of(metric, METRICS, where, "quantity")
        for part in parts:
            one_of(metric, self.observed[str(part)], where, f"quantity in runs of the part {part!r}")

    def check_quantity(self, metric: str, point: Point, where: str) -> None:
        """Check a metric at a point."""
        self.check_point(point, where)
        others = [value for name in SECOND if isinstance(value := point.get(name), Mapping)]
        self.check_metric(metric, self.parts(point, *others), f"{where}.metric")

    def check_statement(self, check: str, where: str) -> None:
        """Make sure that the study has a statement of a name."""
        one_of(check, (each.id for item in self.study.items for each in item.checks), where, "statement")

    def check_plot(self, name: str, where: str) -> None:
        """Make sure that the study has a plot of a name."""
        one_of(name, (plot.name for item in self.study.items for plot in item.plots), where, "plot")

    def parts(self, *points: Mapping[str, object]) -> list[object]:
        """List the parts that coordinates name; the first part of the study if they name none."""
        named = [point["part"] for point in points if "part" in point]
        every = [part for each in named for part in (each if isinstance(each, tuple) else (each,))]
        return every or [next(iter(self.study.parts))]


def _check_runs(study: Study, known: Known) -> None:
    _check_number_of_runs(study)
    for grid in study.grids:
        known.check_grid(grid, FILE)
    for axis in study.axes.keys() & {*NOT_AXES, *SECOND}:
        raise InputError(f"{FILE}: axes.{axis}: the name is that of another coordinate; choose another one.")
    for scale in study.scales:
        one_of(scale, SCALES, f"{FILE}: scales", "scale")
    for part in study.parts.values():
        for axis in part.written:
            one_of(axis, study.axes, f"{FILE}: parts.{part.name}.written", "axis")
    for group in study.groups.values():
        known.check_values(group.axes, f"{FILE}: groups.{group.name}.axes")
    for delay in study.delays.values():
        known.check_point(delay.at, f"{FILE}: delays.{delay.name}.at")
    _check_main(study, known)


def _check_main(study: Study, known: Known) -> None:
    main, where = study.main, f"{FILE}: main"
    one_of(main.table, study.numbers, f"{where}.table", "table below expected/")
    items = [name for item in study.items for name in (item.id, *entry_ids(item.id))]
    one_of(main.item, items, f"{where}.item", "item")
    for key, name in (("rows", main.rows), ("columns", main.columns)):
        one_of(name, known.coordinates, f"{where}.{key}", "coordinate")
    for metric in main.metrics:
        one_of(metric, METRICS, f"{where}.metrics", "quantity")


def _check_item(item: Item, known: Known) -> None:
    where = f"{items_loading.FILE}: item {item.id}"
    for check in item.checks:
        _check_check(check, known, f"{where}: checks.{check.id}")
    for plot in item.plots:
        _check_plot(plot, known, f"{where}: plots.{plot.name}")
    for panel in item.panels:
        _check_panel(panel, known, f"{where}: sensitivity.{panel.name}")


def _check_check(check: Check, known: Known, where: str) -> None:
    known.check_values(check.each, f"{where}.each")
    if check.kind == "numbers":
        one_of(check.table, known.study.numbers, f"{where}.table", "table below expected/")
        return
    known.check_values(check.cells, f"{where}.cells")
    known.check_point(check.at, f"{where}.at")
    for point in check.points:
        known.check_point(point, f"{where}.{check.form}")
    parts = known.parts(check.at, check.cells, check.each, *check.points)
    known.check_metric(check.metric, parts, f"{where}.metric")
    if check.cause:
        point = {**check.at, **_first(check.cells), **check.cause.at}
        known.check_quantity(check.cause.metric, point, f"{where}.cause")
    if check.where:
        known.check_quantity(check.where.metric, {**_first(check.cells), **check.where.at}, f"{where}.where")


def _first(cells: Mapping[str, Sequence[Scalar]]) -> Point:
    return {name: values[0] for name, values in cells.items()}


def _check_plot(plot: Plot, known: Known, where: str) -> None:
    for key, values in (("x", plot.x), ("panels", plot.panels), ("lines", plot.lines)):
        known.check_values(values, f"{where}.{key}")
    known.check_point(plot.at, f"{where}.at")
    if plot.kind in ("lines", "dots"):
        if len(plot.x) != 1:
            raise InputError(f"{where}.x = {dict(plot.x)!r}: it must be one coordinate with its values.")
        known.check_metric(plot.metric, known.parts(plot.at, plot.x, plot.panels, plot.lines), f"{where}.metric")


def _check_panel(panel: Panel, known: Known, where: str) -> None:
    known.check_values(panel.vary, f"{where}.vary")
    known.check_values(panel.against, f"{where}.against")
    known.check_point(panel.at, f"{where}.at")
    for point in panel.also:
        known.check_point(point, f"{where}.also")
