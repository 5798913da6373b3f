"""What points are called in tables and plots."""

from collections.abc import Mapping

from earlybird.study.definition import Study


def value_name(study: Study, coordinate: str, value: object) -> str:
    """
    Name one coordinate, such as ``80 packets`` or ``low``.

    Parameters
    ----------
    study
        The study, which knows its axes and groups.
    coordinate
        The coordinate's name.
    value
        Its value.

    Returns
    -------
    str
        A few words.
    """
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
        return axis.names.get(str(value).lower(), axis.label.format(value))
    return str(value)


def point_name(study: Study, point: Mapping[str, object]) -> str:
    """
    Name a point by all of its coordinates.

    Parameters
    ----------
    study
        The study.
    point
        The coordinates, with ``minus`` or ``over`` for those of a second point.

    Returns
    -------
    str
        The coordinates' names, with commas.
    """
    own = ", ".join(value_name(study, name, value) for name, value in point.items() if not isinstance(value, Mapping))
    for name, sign in (("minus", "−"), ("over", "÷")):
        if isinstance(other := point.get(name), Mapping):
            own = f"{own} {sign} {point_name(study, other)}"
    return own
