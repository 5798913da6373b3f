"""Coordinates of the point at which a quantity is measured."""

from collections.abc import Mapping
from typing import Final, TypeAlias

Scalar: TypeAlias = str | int | float | bool
Point: TypeAlias = Mapping[str, object]
"""Coordinates of a quantity: values of axes, a group, a startup delay; `minus` and `over` hold the coordinates that
differ in the quantity it is compared with. With ``by = "flow"`` the group takes single flows instead of whole runs."""

NOT_AXES: Final = ("group", "part", "delay", "by")  # coordinates that are not the value of an axis
DIFFERENCE: Final = "minus"
RATIO: Final = "over"
SECOND: Final = (DIFFERENCE, RATIO)  # coordinates that hold those of a second point
