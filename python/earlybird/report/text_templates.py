"""Fills sentences with measured values and with words that follow verdicts."""

from collections.abc import Mapping
from typing import Final

from earlybird.report.numbers import Numbers, quantity_name
from earlybird.study.language.text_templates import Choice, TextTemplate
from earlybird.study.statements.verdicts import Holds

NOT_RUN: Final = "Not run yet."  # in place of a sentence that no results can fill
MISSING: Final = "–"  # in place of a quantity without a number


def filled(template: TextTemplate, study: str, numbers: Numbers, outcomes: Mapping[str, Holds]) -> str:
    """Fill a sentence with a study's numbers and the outcomes of its statements; a dash where there is no number."""
    values = {name: _printed(template, name, study, numbers) for name in template.values}
    words = {name: _chosen(choice, outcomes).format(**values) for name, choice in template.words.items()}
    return template.text.format(**values, **words)


def _printed(template: TextTemplate, name: str, study: str, numbers: Numbers) -> str:
    found = numbers.get((study, quantity_name(*template.quantity(name))))
    return found.printed if found else MISSING


def _chosen(choice: Choice, outcomes: Mapping[str, Holds]) -> str:
    """Choose words by the outcome of a statement."""
    by_outcome = {"yes": choice.yes, "no": choice.no}
    return by_outcome.get(outcomes.get(choice.check, "not run"), choice.open)
