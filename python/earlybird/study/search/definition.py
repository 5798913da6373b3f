"""Definition of a search: the settings that a paper leaves open, the runs of one evaluation, and their targets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from earlybird.study.language.definition import Study
from earlybird.study.language.items import Level
from earlybird.study.language.points import Scalar

Setting = Mapping[str, Scalar]  # a value of every parameter, by name
Settings = Mapping[str, object]  # keys of a scenario with their values

SEARCH, CONFIRMATION = "search", "confirmation"
"""The scales of a search: that of every trial, and that at which the best are tried again."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A parameter that has one of several values, each of which changes the scenario in its own way."""

    name: str
    title: str
    why: str  # reason why the paper leaves it open
    default: str
    choices: Mapping[str, Settings]
    """By value, the scenario keys that it changes. ``{axis}`` in a text stands for the run's value of that axis."""
    at: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Parts and values of axes that it matters for; other runs are left alone."""


@dataclass(frozen=True, slots=True)
class Range:
    """A parameter that is a number between two others, or a time; `why` and `at` are as in `Choice`."""

    name: str
    title: str
    why: str
    default: float
    key: str  # the scenario's parameter or dotted key
    least: float
    most: float
    digits: int = 0  # decimals of the values that are tried; 0 for whole numbers
    unit: str = ""  # the unit behind the number in the scenario, such as ms
    at: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)


Parameter = Choice | Range


@dataclass(frozen=True, slots=True)
class Target:
    """Statements of the study that have to be met: an item's checks, or a table of the paper's numbers."""

    item: str = ""  # its checks that are an ``order`` or a ``range``
    table: str = ""  # each number of the table is a statement of its own
    levels: tuple[Level, ...] = ("must", "claim")  # of an item, only the checks of these levels
    checks: tuple[str, ...] = ()  # of an item, only these checks, if any are named
    without: tuple[str, ...] = ()  # coordinates to leave out of the statements, as the search chooses their values
    differences: bool = True
    """Of a table, whether to use differences and ratios too; false if they repeat other rows."""
    factor: float | None = None  # the tolerance of sizes: so many times larger or smaller
    within: float | None = None  # the tolerance of shares and times, in stored units


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Keys at the top of a search's file."""

    paper: str  # whose statements have to be met
    trials: int  # the number of settings that are tried by default
    best: int = 3
    """The number of best settings that are tried again at the scale ``confirmation``, beside the study's own."""
    remarks: tuple[str, ...] = ()  # notes that a reader needs to judge the outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(SearchOptions):
    """A study's search."""

    study: Study  # the study with the scales, grids and groups of the search in place of its own
    parameters: Mapping[str, Parameter]
    targets: tuple[Target, ...]

    @property
    def default(self) -> Setting:
        """The study's own setting."""
        return {name: parameter.default for name, parameter in self.parameters.items()}
