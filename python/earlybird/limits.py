"""The cost of runs, before they begin and while they go on: memory, time, and their number."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from earlybird.backends import SIMULATOR
from earlybird.errors import EarlybirdError, InputError, ScenarioWarning
from earlybird.outputs import NO_OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from earlybird._core import ResolvedScenario
    from earlybird.outputs import Outputs

SHARE_OF_MEMORY: Final = 0.8
"""Share of the memory that is available at the start that a run may take; the rest is for everything else."""

LONG: Final = 600.0  # seconds of processor time from which on a run is warned of

MOST_RUNS: Final = 1_000_000  # runs of one sweep: planning them takes a gigabyte, making them weeks


class Cost(NamedTuple):
    """The expected cost of a run: packets sent, seconds of processor time (or in real time), bytes of memory."""

    packets: float
    seconds: float
    bytes: float


def cost_of(scenario: ResolvedScenario, outputs: Outputs = NO_OUTPUTS) -> Cost:
    """Return the expected cost of a run with these files; refuse one that takes more memory than there is."""
    cost = Cost(*scenario.estimate(memory_limit(), outputs))
    return cost if scenario.backend == SIMULATOR else cost._replace(seconds=scenario.duration_s)


def warn_of_length(cost: Cost, duration: str) -> None:
    """Warn of a run that is expected to take more than ten minutes."""
    if cost.seconds > LONG:
        warnings.warn(
            f"duration: `{duration}` makes a run of about {cost.packets:.0e} packets, which takes about "
            f"{time_text(cost.seconds)} of processor time. hint: a shorter duration, fewer flows or lower rates; "
            "Ctrl-C ends it.",
            ScenarioWarning,
            stacklevel=3,
        )


def check_number_of_runs(points: int, seeds: int) -> None:
    """Raise InputError if a sweep has more runs than anyone can wait for."""
    if points * seeds > MOST_RUNS:
        key, value = ("sweep.seeds", seeds) if seeds >= points else ("sweep.grid", points)
        what = "seeds" if seeds >= points else "combinations of its values"
        raise InputError(
            f"{key}: `{value}` {what} make {points * seeds:,} runs; allowed: up to {MOST_RUNS:,} in one sweep. "
            "hint: ten seeds give an interval already."
        )


def memory_limit() -> float:
    """Return how many bytes a run may take: most of what is available now, and no more than limits allow."""
    return SHARE_OF_MEMORY * min(_available(), _allowed())


def memory_guard() -> Callable[[], None]:
    """Return what raises EarlybirdError once this process has grown by more than there was room for at the call."""
    least, limit = _resident(), memory_limit()

    def check() -> None:
        if _resident() - least > limit:
            raise EarlybirdError(
                f"the run was ended as it took more than {limit / 1e9:.1f} GB of memory, most of what there was. "
                "Measure less often, or make the run shorter or smaller."
            )

    return check


def time_text(seconds: float) -> str:
    """Write how long something takes, roughly."""
    for length, unit in ((31_557_600.0, "years"), (86_400.0, "days"), (3_600.0, "h"), (60.0, "min")):
        if seconds >= 1.5 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{seconds:.0f} s"


def _available() -> float:
    """Return the bytes that programs can still allocate: as Linux reports it, elsewhere half of all memory."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))) * 1024
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2


def _allowed() -> float:
    """Return what a container may still take."""
    folder = Path("/sys/fs/cgroup")
    try:
        most = float((folder / "memory.max").read_text(encoding="ascii"))
        return most - float((folder / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return float("inf")


def _resident() -> float:
    """Return the bytes of memory that this process has now; 0 if the system does not report it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))
