"""Reasons that a study gives for statements that do not hold, and whether its runs show them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from earlybird.study.language.items import Check
from earlybird.study.language.metrics import metric
from earlybird.study.statements.estimation import estimate
from earlybird.study.statements.quantities import Measurements, Quantity
from earlybird.study.statements.sensitivity import Sensitivity, Setting
from earlybird.study.statements.verdicts import Verdict
from earlybird.study.statements.wording import joined

MOST_NAMED = 4  # so many settings in which a statement holds are named, of more only how many there are


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence of a panel, or of another statement, for a reason at this scale."""

    name: str
    title: str
    outcome: str
    is_panel: bool
    is_shown: bool
    """Whether the panel has settings that were run and that the paper leaves open, the statement holds, or all cells
    that fail show the cause."""


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason for a statement that does not hold or is undecided, with its evidence."""

    text: str
    evidence: tuple[Evidence, ...]

    @property
    def is_shown(self) -> bool:
        """Return whether the runs at this scale bear it out."""
        return all(each.is_shown for each in self.evidence)


def needs_reason(verdict: Verdict) -> bool:
    """Return whether a verdict calls for an explanation: a must or a claim that does not hold."""
    return verdict.level != "report" and verdict.holds == "no"


def reasons(
    measurements: Measurements, verdicts: Sequence[Verdict], sensitivities: Mapping[str, Sequence[Sensitivity]]
) -> dict[str, Reason]:
    """Gather, by check, the reasons that a study gives, with the outcome of its runs."""
    main = _main(verdicts)
    shown = {name: _of_statement(verdict) for name, verdict in main.items()}
    shown |= {each.panel.name: _of_panel(each) for panels in sensitivities.values() for each in panels}
    given = [check for item in measurements.study.items for check in item.checks if check.because]
    evidence = {
        check.id: (*_causes(check, main, measurements), *(shown[name] for name in check.shown_by)) for check in given
    }
    return {check.id: Reason(check.because, evidence[check.id]) for check in given}


def _main(verdicts: Sequence[Verdict]) -> dict[str, Verdict]:
    """Return the verdict on each statement in its main setting."""
    first: dict[str, Verdict] = {}
    for verdict in verdicts:
        first.setdefault(verdict.id, verdict)
    return first


def _causes(check: Check, main: Mapping[str, Verdict], measurements: Measurements) -> Iterator[Evidence]:
    """Look for the cause in every cell of the main setting that fails."""
    if check.cause is None or check.id not in main:
        return
    cause, unit = check.cause, metric(check.cause.metric)
    failing = [cell for cell in main[check.id].findings if cell.holds == "no"]
    points = [{**check.at, **cell.cell, **cause.at} for cell in failing]
    sizes = [estimate(unit.name, measurements.by_seed(Quantity(unit.name, point))).mean for point in points]
    shown = [cause.least <= size <= cause.most for size in sizes]
    bounds = [f"{sign} {unit.with_unit(bound)}" for sign, bound in (("≥", cause.least), ("≤", cause.most))]
    title = joined(unit.label, " and ".join(bound for bound in bounds if not bound.endswith("–")))
    found = "; ".join(map(unit.with_unit, sizes[:MOST_NAMED])) or "no cell fails"
    outcome = f"in {sum(shown)} of {len(failing)} cells that fail ({found})" if failing else found
    yield Evidence(check.id, title, outcome, is_panel=False, is_shown=bool(failing) and all(shown))


def _of_panel(sensitivity: Sensitivity) -> Evidence:
    changed = [setting for setting in sensitivity.settings_run[1:] if setting.is_open]
    outcome = _settings_text(changed) if changed else "nothing that the paper leaves open was run at this scale"
    return Evidence(sensitivity.panel.name, sensitivity.panel.title, outcome, is_panel=True, is_shown=bool(changed))


def _settings_text(settings: Sequence[Setting]) -> str:
    holding = [setting.name for setting in settings if setting.verdict.holds == "yes"]
    if not holding:
        return f"holds in none of {len(settings)} settings"
    named = "; ".join(holding) if len(holding) <= MOST_NAMED else f"{'; '.join(holding[:MOST_NAMED])}; …"
    return f"holds in {len(holding)} of {len(settings)} settings: {named}"


def _of_statement(verdict: Verdict) -> Evidence:
    words = {"yes": "holds", "no": "does not hold", "reported": "reported"}
    outcome = joined(words.get(verdict.holds, verdict.holds), verdict.effect or verdict.ours)
    is_shown = verdict.holds in ("yes", "reported")
    return Evidence(verdict.id, verdict.statement, outcome, is_panel=False, is_shown=is_shown)
