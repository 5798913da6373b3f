"""Reads a study's results and tests everything that is stated about them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from earlybird.paths import RESULTS
from earlybird.store import Store
from earlybird.study.language.definition import SCALES, Study
from earlybird.study.language.library import ALL, choose_studies, find_study, study_names
from earlybird.study.reductions.reading import observations
from earlybird.study.runs.execution import made_share
from earlybird.study.search.outcome import Outcome, found_before
from earlybird.study.statements.checks import verdicts
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.reasons import Reason, reasons
from earlybird.study.statements.sensitivity import Sensitivity, sensitivities
from earlybird.study.statements.verdicts import Verdict

ENOUGH: Final = 0.1
"""Share of a scale's runs from which on they speak for themselves; fewer may be those that it shares with others."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A study's verdicts, and the measurements behind them."""

    study: Study
    scale: str
    store: Store
    measurements: Measurements
    missing: int  # number of runs without a result
    verdicts: Sequence[Verdict]
    sensitivities: Mapping[str, Sequence[Sensitivity]] = field(default_factory=dict)
    """The sensitivity panels of each item that has any."""
    reasons: Mapping[str, Reason] = field(default_factory=dict)
    """Reasons why statements do not hold, by check, as far as the study has them."""
    search: Outcome | None = None
    """The outcome of the search for a setting that meets all statements, if there was one."""

    def of(self, item: str) -> list[Verdict]:
        """Return the verdicts on an item."""
        return [verdict for verdict in self.verdicts if verdict.item == item]

    def reason(self, verdict: Verdict) -> Reason | None:
        """Return why a statement does not hold or is not decided; None if it holds or the study has no reason."""
        outcomes = {each.holds for each in self.verdicts if each.id == verdict.id}
        return self.reasons.get(verdict.id) if outcomes & {"no", "undecided", "not testable"} else None


def evaluate_study(
    name: str, scale: str = "smoke", *, output: str | Path = RESULTS, item: str | None = None
) -> Evaluation:
    """
    Test everything that is stated about a study's results; of runs that are missing it says how many.

    With an item, such as ``"T-F7"``, only what is stated about that figure or table.
    """
    return evaluate(choose_studies([name], scale, item)[0], scale, Store(Path(output)))


def evaluate(study: Study, scale: str, store: Store) -> Evaluation:
    """Test the statements of a study that was read already; otherwise as `evaluate_study`."""
    observed, missing = observations(study, scale, store)
    measured = Measurements(study, observed)
    found = [verdict for item in study.items for verdict in verdicts(item, measured)]
    panels = {item.id: sensitivities(item, measured) for item in study.items if item.panels}
    why = reasons(measured, found, panels)
    return Evaluation(study, scale, store, measured, missing, found, panels, why, _search(study, store))


def _search(study: Study, store: Store) -> Outcome | None:
    """Return what a search for a setting found, which is about all items."""
    return None if study.item else found_before(study, store)


def evaluate_all(
    scale: str, output: str | Path, *, or_fuller: bool = False
) -> tuple[list[Study], dict[str, Evaluation]]:
    """
    Return the studies that have the scale or results, and by name what the results say.

    Where a study has hardly any results of the scale, those of another speak; with `or_fuller` also those of the
    fullest scale of which all runs have been made.
    """
    wanted, store = choose_studies([ALL], scale), Store(Path(output))
    every = list(map(find_study, study_names()))
    scales = {study.name: scale_with_results(study, scale, store, or_fuller=or_fuller) for study in every}
    found = {study.name: evaluate(study, chosen, store) for study in every if (chosen := scales[study.name])}
    return [study for study in every if study in wanted or study.name in found], found


def scale_with_results(study: Study, scale: str, store: Store, *, or_fuller: bool = False) -> str:
    """
    Choose the scale of a study that has results; an empty text if there is none.

    It is the scale that was asked for, if all of its runs have been made, or a tenth of them and none of the fuller
    scales whole; otherwise, of the scales of which a tenth has been made, that with the largest share, the fullest of
    several. With `or_fuller`, a fuller scale of which all runs have been made goes first.
    """
    if not or_fuller and scale in study.scales and made_share(study, scale, store) == 1.0:
        return scale
    shares = {name: made_share(study, name, store) for name in study.scales}
    enough = [name for name, share in shares.items() if share >= ENOUGH]
    fuller = [name for name in enough if shares[name] == 1.0 and SCALES.index(name) > SCALES.index(scale)]
    if fuller and or_fuller:
        return max(fuller, key=SCALES.index)
    if scale in enough and (shares[scale] == 1.0 or not fuller):
        return scale
    return max(enough, key=lambda name: (round(shares[name], 1), SCALES.index(name)), default="")
