"""Verdicts as the page shows them: a statement with its main setting, and the other settings it was tested with."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from earlybird.study.statements.reasons import Reason, needs_reason
from earlybird.study.statements.verdicts import NO_RUNS, Finding, Holds, Verdict

WORDS: dict[Holds, str] = {
    "yes": "holds",
    "no": "does not hold",
    "undecided": "undecided",
    "not testable": "not testable",
    "reported": "reported",
    "not run": "not run",
}
PLURAL: dict[Holds, str] = {**WORDS, "yes": "hold", "no": "do not hold"}
REASONS = EXPLAINED, NOT_SHOWN, NOT_EXPLAINED = "explained", "explained, but not shown at this scale", "not explained"
"""Whether a failing statement has a reason, and whether the runs show it."""
SYMBOLS: dict[Holds, str] = {
    "yes": "✓",
    "no": "✗",
    "undecided": "?",
    "not testable": "–",
    "reported": "·",
    "not run": "○",
}
"""So that a verdict can be read without its colour."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and its verdicts."""

    anchor: str
    main: Verdict
    others: tuple[Verdict, ...]

    @property
    def tested(self) -> list[Finding]:
        """Return the cells of the main setting that had runs."""
        return [finding for finding in self.main.findings if finding.note != NO_RUNS]

    @property
    def untested_count(self) -> int:
        """Count the cells of the main setting without runs."""
        return len(self.main.findings) - len(self.tested)

    @property
    def others_text(self) -> str:
        """Count the verdicts of the other settings."""
        outcomes = [verdict.holds for verdict in self.others]
        counts = [(outcomes.count(outcome), PLURAL[outcome]) for outcome in PLURAL]
        return ", ".join(f"{count} {word}" for count, word in counts if count)


def statements(verdicts: Iterable[Verdict]) -> list[Statement]:
    """Gather verdicts by statement; those of one follow each other."""
    groups = [list(group) for _, group in groupby(verdicts, key=lambda each: each.id)]
    return [Statement(check_anchor(group[0].id), group[0], tuple(group[1:])) for group in groups]


def held(verdicts: Iterable[Verdict]) -> str:
    """Count the statements that hold, of those that were run and more than one seed could judge: such as ``4/6``."""
    run = [each for each in verdicts if each.level != "report" and each.holds != "not run"]
    judged = [each.holds for each in run if not each.needs_seeds]
    return f"{judged.count('yes')}/{len(judged)}" if judged else ""


def explained(verdict: Verdict, reason: Reason | None) -> str:
    """Return whether a failure has a reason that the runs show; nothing if there is neither failure nor reason."""
    if reason is None:
        return NOT_EXPLAINED if needs_reason(verdict) else ""
    return EXPLAINED if reason.is_shown else NOT_SHOWN


def evidence_anchors(reason: Reason | None) -> dict[str, str]:
    """Find the places of evidence on a study's page: identifiers by the titles of the evidence."""
    shown = reason.evidence if reason else ()
    return {each.title: panel_anchor(each.name) if each.is_panel else check_anchor(each.name) for each in shown}


def check_anchor(check: str) -> str:
    """Turn a check's name into an identifier for links."""
    return f"check-{check}"


def panel_anchor(panel: str) -> str:
    """Turn a panel's name into an identifier for links."""
    return f"panel-{panel}"


def item_anchor(item: str) -> str:
    """Turn an item's name into an identifier for links."""
    return "item-" + "".join(letter if letter.isalnum() else "-" for letter in item).strip("-").lower()
