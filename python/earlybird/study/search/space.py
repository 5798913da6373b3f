"""The changes of a setting in the study's runs."""

import dataclasses
from collections.abc import Mapping

from earlybird.errors import InputError
from earlybird.study.language.points import Scalar
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import StudyRun, plan
from earlybird.study.search.definition import Choice, Parameter, Search, Setting, Settings
from earlybird.sweeps import PlannedRun


def runs_of(search: Search, setting: Setting, scale: str) -> list[StudyRun]:
    """List the runs of the search's grids at a scale with a setting's changes; their axes are as without them."""
    return [_changed(run, search, setting) for run in plan(search.study, scale)]


def planned_runs_of(search: Search, setting: Setting, scale: str) -> list[PlannedRun]:
    """Turn the runs of one evaluation into ones that a sweep can make."""
    return [resolved(run) for run in runs_of(search, setting, scale)]


def check_space(search: Search, scale: str) -> None:
    """Raise `ScenarioError` with the scenario's key if a value of a parameter gives no valid scenario."""
    for parameter in search.parameters.values():
        values = parameter.choices if isinstance(parameter, Choice) else (parameter.least, parameter.most)
        for value in values:
            setting = {**search.default, parameter.name: value}
            for run in {
                run.part.name: run for run in runs_of(search, setting, scale) if concerns(parameter, run)
            }.values():
                resolved(run)


def _changed(run: StudyRun, search: Search, setting: Setting) -> StudyRun:
    settings = dict(run.settings)
    for name, value in setting.items():
        parameter = search.parameters[name]
        if value != parameter.default and concerns(parameter, run):
            settings |= changes(parameter, value, run.axes)
    return dataclasses.replace(run, settings=settings)


def concerns(parameter: Parameter, run: StudyRun) -> bool:
    """Return whether a parameter matters for a run."""
    place = {"part": run.part.name, **run.axes}
    return all(place.get(axis) in values for axis, values in parameter.at.items())


def changes(parameter: Parameter, value: Scalar, axes: Mapping[str, Scalar]) -> Settings:
    """Return the keys that a value changes in a scenario, the run's `axes` in place of ``{axis}``."""
    if isinstance(parameter, Choice):
        try:
            return {key: _filled(changed, axes) for key, changed in parameter.choices[str(value)].items()}
        except (LookupError, ValueError) as error:
            where = f"parameters.{parameter.name}.choices.{value}"
            allowed = ", ".join(axes)
            raise InputError(f"{where}: in braces there must be an axis of the run ({error}): {allowed}.") from error
    return {parameter.key: f"{value:g}{parameter.unit}" if parameter.unit else value}


def _filled(value: object, axes: Mapping[str, Scalar]) -> object:
    """Put the values of axes in their places; a text that then is a whole number becomes one."""
    if isinstance(value, Mapping):
        return {key: _filled(inner, axes) for key, inner in value.items()}
    if not isinstance(value, str) or "{" not in value:
        return value
    text = value.format_map(axes)
    return int(text) if text.isdecimal() else text
