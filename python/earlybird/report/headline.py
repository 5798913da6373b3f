"""The answer of a study in one sentence, and its verdicts in numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from earlybird.report.numbers import measure
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import LEVELS, Level
from earlybird.study.statements.verdicts import ONE_SEED, Holds, Verdict

JUDGED: Final[tuple[Level, ...]] = ("must", "claim")  # levels of statements that hold or do not


def headline(evaluation: Evaluation) -> str:
    """Fill the study's answer with what was measured; a dash where a quantity was not run."""
    values = {name: _measured(evaluation, dict(point)) for name, point in evaluation.study.headline.values.items()}
    return evaluation.study.headline.text.format(**values)


def counts(evaluation: Evaluation) -> dict[Level, Counter[Holds]]:
    """Count verdicts by level and outcome."""
    return {
        level: Counter(verdict.holds for verdict in evaluation.verdicts if verdict.level == level) for level in LEVELS
    }


def conclusion(evaluation: Evaluation) -> str:
    """Return the number of musts and claims that hold; statements undecided with one seed are counted separately."""
    musts, claims = (_outcomes([each for each in evaluation.verdicts if each.level == level]) for level in JUDGED)
    return " ".join([f"Musts: {musts}. Claims of the papers: {claims}.", *_remedy(evaluation)])


def _outcomes(verdicts: Sequence[Verdict]) -> str:
    open_ones = [each for each in verdicts if each.needs_seeds]
    outcomes = Counter(each.holds for each in verdicts if not each.needs_seeds)
    tested = outcomes["yes"] + outcomes["no"] + outcomes["undecided"]
    parts = [f"{outcomes['yes']} of {tested} hold, {outcomes['no']} do not, {outcomes['undecided']} are undecided"]
    text = "; ".join([*(parts if tested else []), *_open_to_one_seed(open_ones, is_more=tested > 0)]) or "none"
    untested = outcomes["not testable"] + outcomes["not run"]
    return f"{text} ({untested} could not be tested)" if untested else text


def _open_to_one_seed(verdicts: Sequence[Verdict], *, is_more: bool) -> Iterator[str]:
    """Yield how many statements one seed leaves open, and in how many of their cells its means agree."""
    if verdicts:
        cells = [cell for each in verdicts for cell in each.findings if cell.needs_seeds]
        agreeing = sum(cell.note == ONE_SEED for cell in cells)
        more = " more" if is_more else ""
        yield f"one seed cannot decide {len(verdicts)}{more}: its means agree in {agreeing} of {len(cells)} cells"


def _remedy(evaluation: Evaluation) -> Iterator[str]:
    """Yield which scale has seeds enough, if one seed left something open."""
    larger = next((scale for scale in evaluation.study.scales.values() if scale.seeds > 1), None)
    if larger and any(each.needs_seeds for each in evaluation.verdicts):
        yield f"Scale {larger.name} has {larger.seeds} seeds."


def _measured(evaluation: Evaluation, point: dict[str, object]) -> str:
    return measure(evaluation, str(point.pop("metric")), point).printed
