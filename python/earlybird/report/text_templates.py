"""Fills sentences with measured values and with words that follow verdicts."""

from collections.abc import Mapping
from typing import Final

from earlybird.study.evaluation import Evaluation
from earlybird.study.language.points import Point
from earlybird.study.language.text_templates import Choice, TextTemplate
from earlybird.study.statements.estimation import estimate
from earlybird.study.statements.quantities import Quantity
from earlybird.study.statements.verdicts import Verdict
from earlybird.study.statements.wording import printer

NOT_RUN: Final = "Not run yet."  # in place of a sentence that no results can fill


def filled(template: TextTemplate, evaluation: Evaluation | None) -> str:
    """Fill a sentence with results; a dash where a quantity was not measured."""
    if evaluation is None:
        return NOT_RUN
    values = {name: measured(evaluation, *template.quantity(name)) for name in template.values}
    words = {name: _chosen(choice, evaluation).format(**values) for name, choice in template.words.items()}
    return template.text.format(**values, **words)


def measured(evaluation: Evaluation, metric: str, point: Point) -> str:
    """Print a quantity with its unit; a dash where it was not measured."""
    by_seed = evaluation.measurements.by_seed(Quantity(metric, point))
    return printer(metric, point)(estimate(metric, by_seed).mean)


def main_verdicts(evaluation: Evaluation) -> Mapping[str, Verdict]:
    """Return the verdict on each statement in the study's main setting, by the statement's name."""
    return {verdict.id: verdict for verdict in reversed(evaluation.verdicts)}


def _chosen(choice: Choice, evaluation: Evaluation) -> str:
    """Choose words by the verdict of a statement."""
    verdict = main_verdicts(evaluation).get(choice.check)
    by_outcome = {"yes": choice.yes, "no": choice.no}
    return by_outcome.get(verdict.holds, choice.open) if verdict else choice.open
