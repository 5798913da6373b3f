"""Coordinates of the point at which a quantity is measured."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Point: TypeAlias = Mapping[str, object]
"""Coordinates of a quantity: values of axes, a group, a startup delay; `minus` and `over` hold the coordinates that
differ in the quantity it is compared with. With ``by = "flow"`` the group takes single flows instead of whole runs."""

NOT_AXES: Final = ("group", "part", "delay", "by")  # coordinates that are not the value of an axis
DIFFERENCE: Final = "minus"
RATIO: Final = "over"
SECOND: Final = (DIFFERENCE, RATIO)  # coordinates that hold those of a second point


def combinations(values: Mapping[str, Sequence[Scalar]]) -> list[dict[str, Scalar]]:
    """List every combination of the coordinates' values; one without coordinates if there are none."""
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


def terms(point: Point) -> list[Point]:
    """Return the points that a point stands for: with `minus` or `over` two, else itself."""
    own = {name: value for name, value in point.items() if name not in SECOND}
    others = [second for name in SECOND if isinstance(second := point.get(name), Mapping)]
    return [own, *({**own, **second} for second in others)]
