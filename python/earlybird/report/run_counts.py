"""Numbers of runs by load and group."""

from collections.abc import Sequence
from dataclasses import dataclass

from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Group
from earlybird.study.reductions.observations import Observation
from earlybird.study.statements.quantities import is_member


@dataclass(frozen=True, slots=True)
class RunCountRow:
    """The runs of one number of flows."""

    flows: str
    runs: int
    load: str  # mean of T/µ, and its smallest and largest value
    members: tuple[int, ...]  # runs in each band
    outside: int  # runs in none


def bands(evaluation: Evaluation) -> list[Group]:
    """Return the groups that are chosen by load and do not overlap: each one begins where the last ends, or later."""
    chosen: list[Group] = []
    for group in evaluation.study.groups.values():
        if group.load and all(group.load[0] >= other.load[1] for other in chosen if other.load):
            chosen.append(group)
    return chosen


def run_counts(evaluation: Evaluation) -> list[RunCountRow]:
    """Count the runs of the study's first part by number of flows and band, and at last all."""
    part = next(iter(evaluation.study.parts))
    runs = [run for run in evaluation.measurements.observations if run.part == part]
    sizes = sorted({run.flows for run in runs})
    rows = [_row(str(size), [run for run in runs if run.flows == size], bands(evaluation)) for size in sizes]
    return [*rows, _row("all", runs, bands(evaluation))]


def _row(title: str, runs: Sequence[Observation], groups: Sequence[Group]) -> RunCountRow:
    loads = [run.load for run in runs]
    members = tuple(sum(is_member(run, group) for run in runs) for group in groups)
    outside = sum(not any(is_member(run, group) for group in groups) for run in runs)
    load = f"{sum(loads) / len(loads):.2f} ({min(loads):.2f} … {max(loads):.2f})"
    return RunCountRow(title, len(runs), load, members, outside)


def named_delays(evaluation: Evaluation) -> dict[str, str]:
    """Return the startup delays that the study finds from its runs, where that is one number for all."""
    delays = {
        delay.name: evaluation.measurements.delay({**delay.at, "delay": delay.name})
        for delay in evaluation.study.delays.values()
        if "group" in delay.at
    }
    return {name: f"{seconds:.2f} s" for name, seconds in delays.items()}
