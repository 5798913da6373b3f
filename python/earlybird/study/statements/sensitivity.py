"""Sensitivity panels: the verdicts on a statement under settings that the paper leaves open."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from earlybird.study.language.definition import Study
from earlybird.study.language.items import Check, Item, Panel
from earlybird.study.language.metrics import metric
from earlybird.study.language.names import point_name, value_name
from earlybird.study.language.points import Scalar
from earlybird.study.statements.checks import verdict
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.verdicts import Verdict, was_run
from earlybird.study.statements.wording import is_in_points, size_printer, spread_text

AS_IT_IS = "as the study has it"  # the setting in which nothing is changed

SIZES = {"place": pl.Int64, "setting": pl.String, "cell": pl.String, "size": pl.Float64, "holds": pl.String}
"""Columns of the table behind a panel's plot."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a panel and the verdict under it."""

    parameter: str  # the change
    value: str  # into what
    verdict: Verdict
    sizes: str
    """The effect, or the quantity that has to stay within bounds: its median over the cells and its range."""
    is_open: bool = True
    """Whether the paper leaves open what is changed; what contradicts the paper explains nothing."""

    @property
    def name(self) -> str:
        """Its name in a plot."""
        return (self.value or self.parameter) + ("" if self.is_open else " (against the paper)")


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """A panel with all of its settings."""

    panel: Panel
    check: Check
    settings: tuple[Setting, ...]
    axis: str  # the title of its sizes, with their unit
    scale: float  # printed size ÷ stored size

    @property
    def least(self) -> float | None:
        """The size from which on the statement holds, as printed; None if it holds for all small ones."""
        return self._printed(self.check.least) if self.check.kind == "range" else None

    @property
    def most(self) -> float | None:
        """The size up to which the statement holds, as printed; None if it holds for all large ones."""
        if self.check.kind == "range":
            return self._printed(self.check.most)
        return self._printed(self.check.margin if is_in_points(self.check) else self.check.factor)

    def _printed(self, bound: float | None) -> float | None:
        return None if bound is None else self.scale * bound

    @property
    def is_ratio(self) -> bool:
        """Whether its sizes are factors."""
        if self.check.kind == "range":
            return "over" in self.check.at
        return not is_in_points(self.check)

    @property
    def settings_run(self) -> list[Setting]:
        """The settings with runs."""
        return [setting for setting in self.settings if was_run(setting.verdict)]

    @property
    def settings_not_run(self) -> list[Setting]:
        """The settings without."""
        return [setting for setting in self.settings if not was_run(setting.verdict)]

    def table(self) -> pl.DataFrame:
        """Return every cell that was run, a row each, with sizes as printed."""
        rows = [
            (place, setting.name, finding.label, self.scale * finding.size, finding.holds)
            for place, setting in enumerate(self.settings_run)
            for finding in setting.verdict.findings
            if math.isfinite(finding.size)
        ]
        return pl.DataFrame(rows, schema=SIZES, orient="row")


def sensitivities(item: Item, measurements: Measurements) -> list[Sensitivity]:
    """Test the statements of an item's panels under all of their settings."""
    return [_sensitivity(panel, item, measurements) for panel in item.panels]


def _sensitivity(panel: Panel, item: Item, measurements: Measurements) -> Sensitivity:
    stated = next(check for check in item.checks if check.id == panel.check)
    check = dataclasses.replace(stated, at={**stated.at, **panel.at})
    settings = tuple(
        dataclasses.replace(_setting(parameter, point, check, item, measurements), is_open=_is_open(point, panel))
        for parameter, point in _points(panel, check, measurements.study)
    )
    return Sensitivity(panel, check, settings, *_axis(check, measurements.study))


def _points(panel: Panel, check: Check, study: Study) -> Iterator[tuple[str, Mapping[str, Scalar]]]:
    """List the settings: none changed, each alone, then those that change several things."""
    yield AS_IT_IS, {}
    for name, values in panel.vary.items():
        own = study.axes[name].default if name in study.axes else check.at.get("part", next(iter(study.parts)))
        yield from ((_parameter(study, name), {name: value}) for value in values if value != own)
    for point in panel.also:
        changed = {name: value for name, value in point.items() if isinstance(value, str | int | float | bool)}
        yield " and ".join(_parameter(study, name) for name in changed), changed


def _is_open(point: Mapping[str, Scalar], panel: Panel) -> bool:
    """Return whether the paper leaves open all that a setting changes."""
    return not any(value in panel.against.get(name, ()) for name, value in point.items())


def _parameter(study: Study, name: str) -> str:
    if name in study.axes:
        return study.axes[name].title or name
    return "what is put into groups" if name == "by" else "scenario"


def _setting(
    parameter: str, point: Mapping[str, Scalar], check: Check, item: Item, measurements: Measurements
) -> Setting:
    found = verdict(item, check, point, measurements)
    value = ", ".join(value_name(measurements.study, name, changed) for name, changed in point.items())
    sizes = spread_text(size_printer(check), [finding.size for finding in found.findings])
    return Setting(parameter, value, found, sizes)


def _axis(check: Check, study: Study) -> tuple[str, float]:
    """Return the title of the sizes of a check, and their factor in print."""
    unit = metric(check.metric)
    label = unit.axis.removesuffix(f" ({unit.unit})")
    if check.kind == "range":
        if "over" in check.at:
            return f"{label}, {_ratio(check, study)}", 1.0
        return unit.axis, unit.scale
    compared = _compared(check.points, "−" if is_in_points(check) else "÷", study)
    return (f"{label}, {compared} (points)", unit.scale) if is_in_points(check) else (f"{label}, {compared}", 1.0)


def _ratio(check: Check, study: Study) -> str:
    other = check.at["over"]
    changed = other if isinstance(other, Mapping) else {}
    return f"{point_name(study, {name: check.at[name] for name in changed})} ÷ {point_name(study, changed)}"


def _compared(points: Sequence[Mapping[str, object]], sign: str, study: Study) -> str:
    if len(points) != 2:
        return f"each {sign} the next"
    return f" {sign} ".join(point_name(study, point) for point in points)
