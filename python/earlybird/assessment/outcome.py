"""The result of an assessment: a row for each criterion."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from earlybird.assessment.figures import combined
from earlybird.assessment.register import excluded
from earlybird.statistics import LEVEL, Estimate, chance_above, discoveries, paired_difference, student_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from earlybird.assessment.register import Criterion

Comparison: TypeAlias = Literal["better", "like", "worse", "open", ""]

RELATIVE: float = 0.05
"""Share of the other's figure that a difference must exceed to count (our choice)."""

FALSE: float = 0.05
"""Share of the differences called better or worse that chance may explain (Benjamini and Hochberg)."""

Sample: TypeAlias = "dict[int, float]"  # by seed


@dataclass(frozen=True)
class Row:
    """One criterion: `samples` has, by congestion control, a sample of each case."""

    criterion: Criterion
    control: str
    others: tuple[str, ...]
    samples: Mapping[str, Sequence[Sample]]
    reasons: Mapping[str, str] = field(default_factory=dict)  # by congestion control: why it has no figure
    comparison: Comparison = ""

    def by_seed(self, control: str) -> Sample:
        """Return the figure of each seed of a congestion control."""
        cases = self.samples.get(control, ())
        seeds = set.intersection(*(set(case) for case in cases)) if cases else set()
        return {seed: combined([case[seed] for case in cases], self.criterion.figure) for seed in sorted(seeds)}

    def figure(self, control: str) -> Estimate:
        """Return its figure, with a 90 % interval over the seeds."""
        return student_interval(list(self.by_seed(control).values()))

    def places(self, control: str) -> list[Estimate]:
        """Return the figure of each case."""
        return [student_interval(list(case.values())) for case in self.samples.get(control, ())]

    @property
    def margin(self) -> float:
        """The smallest difference that counts."""
        return max(self.criterion.least, RELATIVE * abs(self.figure(self.others[0]).mean))

    @property
    def advantage(self) -> Estimate:
        """Its advantage over the first of the others, in the unit of the figure; negative if it is worse."""
        found = paired_difference(self.by_seed(self.control), self.by_seed(self.others[0]))
        return found if self.criterion.better == "larger" else found.mirrored

    @property
    def is_measured(self) -> bool:
        """Whether it and the first of the others have a figure."""
        return all(math.isfinite(self.figure(name).mean) for name in (self.control, *self.others[:1]))

    def to_dict(self) -> dict[str, Any]:
        """Return the row as `--json` prints it."""
        one, found = self.criterion, self.figure(self.control)
        compared = {"comparison": self.comparison or None, "least_difference": self.margin} if self.others else {}
        return {
            "criterion": one.name,
            "section": one.section,
            "title": one.title,
            "unit": one.unit,
            "better": one.better,
            "figure": found.mean,
            "low": found.low,
            "high": found.high,
            "seeds": found.count,
            **compared,
            "others": {name: self.figure(name).mean for name in self.others},
            "not_measured": dict(self.reasons),
            "cases": [
                {"at": place, **{name: self.places(name)[number].mean for name in self.samples}}
                for number, place in enumerate(one.places)
            ],
        }


@dataclass(frozen=True)
class Assessment:
    """The rows of all criteria."""

    control: str
    others: tuple[str, ...]
    rows: tuple[Row, ...]
    overrides: tuple[tuple[str, str], ...]
    code_version: str
    spent: float  # seconds of the budget
    runs: int

    @property
    def counts(self) -> dict[str, int]:
        """Number of criteria with each comparison."""
        words = ("better", "like", "worse", "open")
        return {word: sum(row.comparison == word for row in self.rows) for word in words}

    def row(self, name: str) -> Row:
        """Return the row of a criterion."""
        return next(row for row in self.rows if row.criterion.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Return what `earlybird assess --json` prints; a number that does not exist is None."""
        return {
            "control": self.control,
            "compared_with": self.others[0] if self.others else None,
            "others": list(self.others),
            "overrides": dict(self.overrides),
            "code_version": self.code_version,
            "runs": self.runs,
            "budget_spent_s": round(self.spent, 3),
            "level": LEVEL,
            "counts": self.counts,
            "criteria": [row.to_dict() for row in self.rows],
            "excluded": [
                {"name": one.name, "section": one.section, "title": one.title, "reason": one.reason}
                for one in excluded()
            ],
        }


def comparisons(rows: Sequence[Row]) -> list[Comparison]:
    """
    Compare each row's figure with that of the first of the others.

    Better or worse: the difference exceeds the margin, and chance does not explain it, of all rows together. Like: the
    90 % interval of the difference lies within the margin, in both directions (Schuirmann, "A comparison of the two
    one-sided tests procedure", Journal of Pharmacokinetics and Biopharmaceutics 15, 1987).
    """
    compared = [bool(row.others) and row.is_measured and row.advantage.is_bounded for row in rows]
    chances = [_chance(row) for row in itertools.compress(rows, compared)]
    found = iter(discoveries(chances, FALSE))
    return [_comparison(row, is_found=next(found)) if has else "" for row, has in zip(rows, compared, strict=True)]


def _chance(row: Row) -> float:
    """Return the chance of a difference beyond the margin, in its own direction, if there were none beyond it."""
    advantage = row.advantage
    return chance_above(advantage if advantage.mean >= 0 else advantage.mirrored, row.margin)


def _comparison(row: Row, *, is_found: bool) -> Comparison:
    advantage, margin = row.advantage, row.margin
    if is_found:
        return "better" if advantage.mean > 0 else "worse"
    return "like" if -margin <= advantage.low and advantage.high <= margin else "open"
