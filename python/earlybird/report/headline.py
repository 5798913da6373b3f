"""The answer of a study in one sentence, and its verdicts in numbers."""

from collections import Counter

from earlybird.report.text_templates import measured
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import LEVELS, Level
from earlybird.study.statements.verdicts import Holds


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
    """Return a line with the number of musts and claims that hold."""
    musts, claims = counts(evaluation)["must"], counts(evaluation)["claim"]
    return f"Musts: {_outcomes(musts)}. Claims of the papers: {_outcomes(claims)}."


def _outcomes(outcomes: Counter[Holds]) -> str:
    if not outcomes.total():
        return "none"
    tested = outcomes["yes"] + outcomes["no"] + outcomes["undecided"]
    text = f"{outcomes['yes']} of {tested} hold, {outcomes['no']} do not, {outcomes['undecided']} are undecided"
    untested = outcomes["not testable"] + outcomes["not run"]
    return f"{text} ({untested} could not be tested)" if untested else text


def _measured(evaluation: Evaluation, point: dict[str, object]) -> str:
    return measured(evaluation, str(point.pop("metric")), point)
