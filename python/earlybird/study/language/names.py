"""Names of points in tables and plots."""

import re
from collections.abc import Mapping

from earlybird.study.language.definition import Study

DURATION = re.compile(r"([0-9.]+)(ms|s)")  # a duration as scenarios write it


def spaced(value: object) -> object:
    """Write a duration as prose does, such as ``20 ms`` for ``20ms``; leave anything else as it is."""
    duration = DURATION.fullmatch(str(value))
    return f"{duration[1]} {duration[2]}" if duration else value


def value_name(study: Study, coordinate: str, value: object) -> str:
    """Return the name of one coordinate, such as ``80 packets`` or ``low``."""
    if coordinate == "group":
        return study.groups[str(value)].label
    if coordinate == "delay":
        return f"at {value} s" if isinstance(value, int | float) else f"at the delay “{value}”"
    if coordinate == "by":
        return "each flow by itself" if value == "flow" else "whole runs"
    if coordinate == "part":
        return study.parts[str(value)].label or str(value)
    if coordinate in study.axes:
        axis = study.axes[coordinate]
        return axis.names.get(str(value).lower(), axis.label.format(spaced(value)))
    return str(value)


def tick_name(study: Study, coordinate: str, value: object) -> str:
    """Return the name of a place along an axis that has a title: ``120 ms``, not ``120 ms from mouth to ear``."""
    axis = study.axes.get(coordinate)
    if axis is None or not axis.title or str(value).lower() in axis.names:
        return value_name(study, coordinate, value)
    return str(spaced(value))


def picture_name(study: Study, point: Mapping[str, object]) -> str:
    """Return the name of a line or panel by all of its coordinates; bare values get the title of their axis."""
    return ", ".join(_titled(study, name, value) for name, value in point.items())


def _titled(study: Study, coordinate: str, value: object) -> str:
    name, axis = value_name(study, coordinate, value), study.axes.get(coordinate)
    is_bare = axis is not None and axis.title and name == str(spaced(value))
    return f"{axis.title[0].lower()}{axis.title[1:]} {name}" if axis is not None and is_bare else name


def point_name(study: Study, point: Mapping[str, object]) -> str:
    """Return the name of a point: those of its coordinates, with ``minus`` or ``over`` for those of a second one."""
    own = ", ".join(value_name(study, name, value) for name, value in point.items() if not isinstance(value, Mapping))
    for name, sign in (("minus", "−"), ("over", "÷")):
        if isinstance(other := point.get(name), Mapping):
            own = f"{own} {sign} {point_name(study, other)}"
    return own
