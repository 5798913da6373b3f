"""Tests the statements of a study's items against its measurements."""

from earlybird.study.language.items import Check, Item
from earlybird.study.language.names import point_name
from earlybird.study.language.points import combinations
from earlybird.study.statements.findings import KINDS, Cell
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.verdicts import Verdict, overall, was_run, weakest, without_chance
from earlybird.study.statements.wording import detail_text, effect_text, joined


def verdicts(item: Item, measurements: Measurements) -> list[Verdict]:
    """Test everything stated about an item, by statement and variant; of variants not run, only the first."""
    return [each for check in item.checks for each in _variants(item, check, measurements)]


def _variants(item: Item, check: Check, measurements: Measurements) -> list[Verdict]:
    every = [verdict(item, check, variant, measurements) for variant in combinations(check.each)]
    return [each for each in every if each is every[0] or was_run(each)]


def verdict(item: Item, check: Check, variant: Cell, measurements: Measurements) -> Verdict:
    """Test one statement in one variant, cell by cell; its numbers are of the cell that is most against it."""
    findings = without_chance(tuple(KINDS[check.kind](check, variant, measurements)))
    worst = weakest(findings)
    return Verdict(
        item=item.id,
        id=check.id,
        level=check.level,
        statement=check.statement,
        variant=point_name(measurements.study, variant),
        paper=check.paper,
        ours=joined(worst.label, worst.ours) if worst else "",
        interval=worst.interval if worst else "",
        holds=overall(findings),
        effect=effect_text(check, findings),
        detail=detail_text(findings),
        findings=findings,
    )
