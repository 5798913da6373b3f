"""Statements about a study's runs: items with checks, plots and panels, as the rest of the program uses them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from earlybird.study.language.points import Point, Scalar

Level: TypeAlias = Literal["must", "claim", "report"]
"""
The level of a statement: it follows from the algorithm alone, or a paper states it and it depends on what the paper
leaves open, or it is a number to set beside ours.
"""

LEVELS: tuple[Level, ...] = ("must", "claim", "report")


@dataclass(frozen=True, slots=True)
class Number:
    """A number printed in a paper."""

    metric: str
    point: Point
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Filter:
    """Leaves out the cells in which a quantity is too small to matter."""

    metric: str
    at: Point
    above: float


@dataclass(frozen=True, slots=True)
class Cause:
    """The condition on the runs of a cell that fails, if a reason is true of it."""

    metric: str
    at: Point = field(default_factory=dict)  # coordinates in addition to those of the cell
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True, slots=True)
class Check:
    """
    A statement about the measured tables.

    `kind` decides how it is tested: ``order`` (the quantities at `points` rise from each to the next), ``range`` (the
    quantity at `at` lies within `least` and `most`), or ``numbers`` (the paper's numbers of a table beside ours).
    """

    id: str  # by which reasons, panels and searches name it; no other of the study has the same
    level: Level
    statement: str
    kind: Literal["order", "range", "numbers"]
    metric: str = ""
    paper: str = ""  # the statement of the paper, in its numbers if it has any
    at: Point = field(default_factory=dict)
    points: tuple[Point, ...] = ()
    cells: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """The cells in which it is tested: every combination of these values; all have to hold."""
    each: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Variants that each get a verdict of their own."""
    where: Filter | None = None
    factor: float = 1.0  # each quantity has to stay below this many times the next
    margin: float = 0.0  # each quantity may exceed the next by this much
    least: float | None = None
    most: float | None = None
    share: float = 0.0  # of a difference: bounds of this share of what is subtracted, where that is more
    table: str = ""  # for ``numbers``: the name of the table under expected/
    because: str = ""  # reason why the statement does not hold, or is undecided
    shown_by: tuple[str, ...] = ()  # the evidence: names of panels of the study, or of its checks
    cause: Cause | None = None
    form: str = ""  # the key of the file that says what is to hold


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure of an item: lines or dots in panels, or one of the special forms."""

    name: str
    title: str
    kind: Literal["lines", "dots", "ages", "age-history", "packets", "delays", "positions", "response", "window"] = (
        "lines"
    )
    """``lines``: `metric` along `x`; ``dots``: the same with a row for each value of `x`; others show single runs."""
    metric: str = ""
    x: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)  # the axis along x and its values
    panels: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    lines: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    at: Point = field(default_factory=dict)
    share_y: bool = True
    log_y: bool = False
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A sensitivity panel: one statement under settings that the paper leaves open, each changed alone."""

    name: str
    title: str
    check: str  # that of the item whose statement it is, an ``order`` or a ``range``
    vary: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Values of axes, or parts; each is a setting of its own, with all others as the study has them."""
    also: tuple[Point, ...] = ()  # settings that change several things at once
    at: Point = field(default_factory=dict)
    """Coordinates that hold for all settings, such as the only load at which all were run."""
    against: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Those of the values that contradict what the paper states: what holds with them explains nothing."""
    stated: tuple[float, ...] = ()  # the sizes of the effect in the paper
    text: str = ""  # the title of the panel


@dataclass(frozen=True, slots=True)
class Item:
    """A figure or table of a paper."""

    id: str
    title: str
    text: str = ""
    plots: tuple[Plot, ...] = ()
    checks: tuple[Check, ...] = ()
    panels: tuple[Panel, ...] = ()
