"""Definition of a study: scenarios, grids of each scale, and items with their statements."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from earlybird.study.language.items import Item, Number
from earlybird.study.language.points import Point, Scalar

SCALES = ("smoke", "medium", "full")


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that is varied from run to run."""

    name: str
    key: str  # the scenario's parameter or dotted key
    default: Scalar | None = None
    """The value of runs that leave it alone; points that do not name the axis mean this one."""
    label: str = "{}"  # the label of a value in tables, with ``{}`` for the value
    names: Mapping[str, str] = field(default_factory=dict)  # labels of particular values
    title: str = ""  # the title of a plot's axis


@dataclass(frozen=True, slots=True)
class Part:
    """A scenario of the study, or a model, with the settings that all of its runs share."""

    name: str
    scenario: Path = Path()
    flows: str = ""  # the group of flows that is observed
    model: str = ""
    """In place of a scenario: ``streaming-chain`` or ``session``. Its parameters are the settings, and the axes by
    their names (`earlybird.models.case.StreamingCase`, `earlybird.planning.study_adapter.SessionCase`)."""
    testbed: Path = Path()  # in place of a scenario: the file of a test bed, of which each run is a play
    program: Path = Path()
    """In place of a scenario: a Python file whose function `measure` returns metrics for the settings and a seed."""
    settings: Mapping[str, object] = field(default_factory=dict)
    deterministic: bool = False
    """Whether one run is all there is: nothing is random, and the scenario's duration is kept."""
    reference_duration: float | None = None
    """Seconds of the paper's run, to which counts and sums over a flow's life are scaled."""
    propagation: float = 0.0  # seconds of a round trip through empty queues
    drain: float = 0.0
    """Seconds that the bottleneck takes for a packet; times the `buffer` axis, the longest queueing delay."""
    trace: bool = False  # whether the first flow's packets are traced
    label: str = ""  # its label in tables; its name if that is left out
    duration: str | None = None  # length of every run, at all scales; otherwise the scale's
    least_timeout: float = 0.0
    """Seconds of the retransmission timer's floor, for the comparison with the PFTK model."""
    partners: str = ""
    """The group whose flow of the same number is counted with an observed flow for a T/µ of its own; it allows
    ``by = "flow"``."""
    written: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    """By axis, what its values are in this part's scenario where that differs from part to part."""

    @property
    def is_played(self) -> bool:
        """Whether its runs are plays of a test bed."""
        return self.testbed != Path()

    @property
    def is_program(self) -> bool:
        """Whether its runs are those of a program."""
        return self.program != Path()

    def longest_round_trip(self, buffer: float) -> float:
        """Return the RTT in seconds with a full queue of a number of packets."""
        return self.propagation + self.drain * buffer


@dataclass(frozen=True, slots=True)
class Grid:
    """Runs of a part at some scales: every combination of the axes' values, for each seed."""

    part: str
    scales: tuple[str, ...]
    axes: Mapping[str, tuple[Scalar, ...]]
    seeds: int | None = None  # at most so many, where the scale has more
    place: int = 0  # of the grid in the file, for messages


@dataclass(frozen=True, slots=True)
class Scale:
    """The duration and the number of seeds of each run."""

    name: str
    seeds: int
    duration: str


@dataclass(frozen=True, slots=True)
class Group:
    """Runs looked at together, by measured load or losses or values of an axis; ``by = "flow"`` takes single flows."""

    name: str
    label: str
    load: tuple[float, float] | None = None  # T/µ from (inclusive) and below
    drop: tuple[float, float] | None = None  # mean drop rate of the observed flows from (inclusive) and below
    axes: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delay:
    """A startup delay found from the runs: where a success rate first reaches a value."""

    name: str
    success: float
    at: Point  # coordinates that replace those of the quantity that asks


@dataclass(frozen=True, slots=True)
class MainTable:
    """The table that answers the study's question: rows and columns of numbers of one expected table."""

    item: str
    table: str
    rows: str
    columns: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer in one sentence, with ``{names}`` for measured quantities."""

    text: str
    values: Mapping[str, Mapping[str, object]]
    pictures: tuple[str, ...] = ()  # plots that show it; the first plots of the study if that is left out


@dataclass(frozen=True, slots=True)
class Study:
    """A question, the runs that answer it, and what is stated about the answer."""

    name: str
    folder: Path
    title: str
    question: str
    papers: str
    axes: Mapping[str, Axis]
    parts: Mapping[str, Part]
    scales: Mapping[str, Scale]
    grids: tuple[Grid, ...]
    groups: Mapping[str, Group]
    delays: Mapping[str, Delay]
    items: tuple[Item, ...]
    numbers: Mapping[str, tuple[Number, ...]]
    main: MainTable
    headline: Headline
    remarks: tuple[str, ...] = ()  # notes that a reader needs to judge the numbers
    item: str = ""  # the only item, if it is narrowed to one: then only the runs of that one are planned
