"""Why statements do not hold: the reasons that a study gives, and whether its runs show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from earlybird.study.definition import Check, Study
from earlybird.study.sensitivity import Sensitivity, Setting
from earlybird.study.verdicts import Verdict
from earlybird.study.wording import joined

MOST_NAMED = 4
"""So many settings in which a statement holds are named, of more only how many there are."""

Key = tuple[str, str]
"""An item and a statement about it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a panel, or another statement, says of a reason at this scale."""

    name: str
    """The panel's name; nothing for a statement."""
    item: str
    """The item to which it belongs."""
    title: str
    """The panel's title, or the statement."""
    outcome: str
    is_shown: bool
    """Whether the panel's settings were run, or the statement holds."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a statement does not hold, or cannot be told, and what shows it."""

    text: str
    evidence: tuple[Evidence, ...]

    @property
    def is_shown(self) -> bool:
        """Tell whether the runs at this scale bear it out."""
        return all(each.is_shown for each in self.evidence)


def needs_reason(verdict: Verdict) -> bool:
    """Tell whether a verdict calls for an explanation: a must or a claim that does not hold."""
    return verdict.level != "report" and verdict.holds == "no"


def reasons(
    study: Study, verdicts: Sequence[Verdict], sensitivities: Mapping[str, Sequence[Sensitivity]]
) -> dict[Key, Reason]:
    """
    Gather the reasons that a study gives, with what its runs say of them.

    Parameters
    ----------
    study
        The study.
    verdicts
        Those on all of its statements.
    sensitivities
        Its panels, by item.

    Returns
    -------
    dict
        By item and statement; of statements without a reason nothing.
    """
    shown = {**_statements(verdicts), **_panels(sensitivities)}
    given = [(item.id, check) for item in study.items for check in item.checks if check.because]
    return {(item, check.statement): _reason(item, check, shown) for item, check in given}


def _reason(item: str, check: Check, shown: Mapping[Key, Evidence]) -> Reason:
    """Find what shows a reason, in its own item before all others."""
    return Reason(check.because, tuple(_named(name, item, shown) for name in check.shown_by))


def _named(name: str, item: str, shown: Mapping[Key, Evidence]) -> Evidence:
    return shown.get((item, name)) or next(each for (_, other), each in shown.items() if other == name)


def _panels(sensitivities: Mapping[str, Sequence[Sensitivity]]) -> dict[Key, Evidence]:
    return {(item, each.panel.name): _of_panel(item, each) for item, panels in sensitivities.items() for each in panels}


def _of_panel(item: str, sensitivity: Sensitivity) -> Evidence:
    changed = sensitivity.settings_run[1:]
    outcome = _settings_text(changed) if changed else "not run at this scale"
    return Evidence(sensitivity.panel.name, item, sensitivity.panel.title, outcome, bool(changed))


def _settings_text(settings: Sequence[Setting]) -> str:
    """Say in which settings the panel's statement holds."""
    holding = [setting.name for setting in settings if setting.verdict.holds == "yes"]
    if not holding:
        return f"holds in none of {len(settings)} settings"
    named = "; ".join(holding) if len(holding) <= MOST_NAMED else f"{'; '.join(holding[:MOST_NAMED])}; …"
    return f"holds in {len(holding)} of {len(settings)} settings: {named}"


def _statements(verdicts: Sequence[Verdict]) -> dict[Key, Evidence]:
    """Turn the verdict on each statement, in its main setting, into evidence."""
    first: dict[Key, Verdict] = {}
    for verdict in verdicts:
        first.setdefault((verdict.item, verdict.statement), verdict)
    return {key: _of_statement(verdict) for key, verdict in first.items()}


def _of_statement(verdict: Verdict) -> Evidence:
    words = {"yes": "holds", "no": "does not hold", "reported": "reported"}
    said = joined(words.get(verdict.holds, verdict.holds), verdict.effect or verdict.ours)
    return Evidence("", verdict.item, verdict.statement, said, verdict.holds in ("yes", "reported"))
