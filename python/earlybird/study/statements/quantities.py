"""Quantities of a study: a metric at a point, pooled per seed, and differences and ratios of such."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from earlybird.errors import InputError
from earlybird.statistics import Estimate, crossing, wilson_interval
from earlybird.study.language.definition import Group, Study
from earlybird.study.language.metrics import metric
from earlybird.study.language.points import DIFFERENCE, NOT_AXES, RATIO, Point, terms
from earlybird.study.reductions.observations import Observation
from earlybird.study.statements.pooling import BY_DELAY, POOLED, Pool, late_at, mean_of, success_at, success_curve

BySeed = dict[int, float]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A metric at a point; with ``minus`` or ``over`` in the point, a difference or a ratio of two."""

    metric: str
    point: Point

    def terms(self) -> list[Point]:
        """Return the points it is made of: one or two."""
        return terms(self.point)

    @property
    def possible(self) -> tuple[float, float]:
        """The smallest and the largest value that there can be."""
        least, most = metric(self.metric).range
        if DIFFERENCE in self.point:
            return least - most, most - least
        return (least, math.inf) if RATIO in self.point else (least, most)

    def combine(self, values: Sequence[float]) -> float:
        """Return the quantity from the values of its terms."""
        if DIFFERENCE in self.point:
            return values[0] - values[1]
        if RATIO in self.point:
            return values[0] / values[1] if values[1] else math.nan
        return values[0]


@dataclass(frozen=True)
class Measurements:
    """All runs of a study at one scale."""

    study: Study
    observations: Sequence[Observation]
    _selected: dict[Hashable, Pool] = field(default_factory=dict, repr=False)

    def select(self, point: Point) -> Pool:
        """Return the runs at a point; an axis without a value is at its default, or pooled if it has none."""
        full = self.complete(point)
        axes = tuple(sorted((name, str(value)) for name, value in full.items() if name not in ("group", "delay")))
        if (axes, None) not in self._selected:
            self._selected[axes, None] = [run for run in self.observations if _matches(run, full)]
        group = full.get("group")
        if (axes, group) not in self._selected:
            self._selected[axes, group] = self._chosen(self._selected[axes, None], self._group(group), full)
        return self._selected[axes, group]

    def has_runs(self, point: Point) -> bool:
        """Return whether there are runs at a point, even if their load or losses put them outside of its group."""
        return all(map(self._has_runs, Quantity("", point).terms()))

    def _has_runs(self, term: Point) -> bool:
        runs = self.select({**term, "group": None})
        group = term.get("group")
        return bool(runs) if group is None else any(has_axes(run, self._group(group)) for run in runs)

    def complete(self, point: Point) -> dict[str, object]:
        """Add the part and the defaults of axes to a point."""
        defaults = {axis.name: axis.default for axis in self.study.axes.values() if axis.default is not None}
        return {"part": next(iter(self.study.parts)), **defaults, **point}

    def free_axes(self, point: Point) -> tuple[str, ...]:
        """Return the axes over which runs at a point are pooled."""
        return tuple(name for name in self.study.axes if name not in self.complete(point))

    def stated(self, name: str, point: Point) -> float:
        """Return a paper's number for a metric at a point, beside all of our variants, or NaN."""
        variants = {axis.name for axis in self.study.axes.values() if axis.default is not None}
        own = {key: value for key, value in point.items() if key not in variants}
        tables = self.study.numbers.values()
        return next((n.value for table in tables for n in table if n.metric == name and n.point == own), math.nan)

    def is_exact(self, point: Point) -> bool:
        """Return whether nothing is random at a point."""
        return self.study.parts[str(self.complete(point)["part"])].deterministic

    def samples(self, quantities: Sequence[Quantity]) -> list[BySeed]:
        """Measure quantities for a comparison, each once per seed, of the runs that all of them have."""
        terms = [point for quantity in quantities for point in quantity.terms()]
        pools = iter(self._aligned(terms))
        return [self._combined(quantity, [next(pools) for _ in quantity.terms()]) for quantity in quantities]

    def by_seed(self, quantity: Quantity) -> BySeed:
        """Measure one quantity once per seed."""
        return self.samples([quantity])[0]

    def pooled_success(self, point: Point) -> Estimate:
        """Estimate the share of flows in time from all flows of all seeds, as if they were independent."""
        pool = self.select(point)
        flows = sum(run.flows for run in pool)
        return wilson_interval(round(success_at(pool, self.delay(point)) * flows) if flows else 0, flows)

    def _chosen(self, runs: Pool, group: Group, point: Point) -> Pool:
        """Choose the runs of a group, or of each run the flows that belong to it."""
        by = point.get("by", "run")
        if by == "run":
            return [run for run in runs if is_member(run, group)]
        if by != "flow" or not self.study.parts[str(point["part"])].partners:
            raise InputError(
                f'by = {by!r}: groups take runs by "run", or by "flow" in parts with the key `partners`, '
                f"which {point['part']!r} {'has' if by != 'flow' else 'has not'}."
            )
        return [run.members[group.name] for run in runs if group.name in run.members and has_axes(run, group)]

    def _group(self, name: object) -> Group:
        if name not in self.study.groups:
            raise InputError(f"there is no group {name!r}; there are: {', '.join(self.study.groups)}.")
        return self.study.groups[str(name)]

    def _aligned(self, points: Sequence[Point]) -> list[Pool]:
        """Select the runs at each point that have a counterpart at the others of their group."""
        pools = [self.select(point) for point in points]
        families = [(point.get("group"), point.get("part"), self.free_axes(point)) for point in points]
        for family in set(families):
            members = [index for index, other in enumerate(families) if other == family]
            shared = reduce(set.__and__, ({_pairing(run, family[2]) for run in pools[index]} for index in members))
            for index in members:
                pools[index] = [run for run in pools[index] if _pairing(run, family[2]) in shared]
        return pools

    def _combined(self, quantity: Quantity, pools: Sequence[Pool]) -> BySeed:
        terms = [self._measure_by_seed(quantity.metric, *pair) for pair in zip(quantity.terms(), pools, strict=True)]
        seeds = [seed for seed in terms[0] if all(seed in term for term in terms)]
        values = {seed: quantity.combine([term[seed] for term in terms]) for seed in seeds}
        return {seed: value for seed, value in values.items() if math.isfinite(value)}

    def _measure_by_seed(self, metric: str, point: Point, pool: Pool) -> BySeed:
        by_seed: dict[int, list[Observation]] = {}
        for run in pool:
            by_seed.setdefault(run.seed, []).append(run)
        return {seed: self._measure(metric, point, runs) for seed, runs in sorted(by_seed.items())}

    def _measure(self, metric: str, point: Point, pool: Pool) -> float:
        if metric == "on_time_share":
            return success_at(pool, self.delay(point))
        if metric in BY_DELAY:
            return late_at(metric, pool, self.delay(point))
        return POOLED.get(metric, mean_of(metric))(pool)

    def delay(self, point: Point) -> float:
        """Return the startup delay of a point in seconds, finding it from the runs if it is given by name."""
        wanted = point.get("delay")
        if isinstance(wanted, int | float):
            return float(wanted)
        if wanted not in self.study.delays:
            raise InputError(f"there is no startup delay {wanted!r}; there are: {', '.join(self.study.delays)}.")
        reference = self.study.delays[str(wanted)]
        return crossing(*success_curve(self.select({**point, **reference.at, "delay": 0})), reference.success)


def _matches(run: Observation, point: Point) -> bool:
    return run.part == point["part"] and all(
        run.axes.get(name) == value for name, value in point.items() if name not in NOT_AXES
    )


def is_member(run: Observation, group: Group) -> bool:
    """Return whether a run belongs to a group."""
    if group.load is not None and not group.load[0] <= run.load < group.load[1]:
        return False
    if group.drop is not None and not group.drop[0] <= run.values["flow_drop_rate"] < group.drop[1]:
        return False
    return has_axes(run, group)


def has_axes(run: Observation, group: Group) -> bool:
    """Return whether a run has the values of the axes that a group asks for."""
    return all(run.axes.get(name) in values for name, values in group.axes.items())


def _pairing(run: Observation, free: Sequence[str]) -> Hashable:
    return (run.seed, *(run.axes.get(name) for name in free))
