"""The verdict table over all papers: a row for every statement about every entry of the register."""

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from earlybird.report.statements import Statement, evidence_anchors, explained, item_anchor, panel_anchor, statements
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Study
from earlybird.study.language.entries import answers
from earlybird.study.language.items import LEVELS, Item, Level
from earlybird.study.language.register import Entry, Register
from earlybird.study.statements.reasons import Reason
from earlybird.study.statements.verdicts import Holds, Verdict

NO_STUDY = "no study"  # in place of a verdict on what no study answers

CURVES = "Curves alone: the paper states nothing about them"
"""In place of a statement about an item with plots only."""


@dataclass(frozen=True, slots=True)
class Row:
    """A statement in the verdict table, or an entry without any."""

    ids: tuple[str, ...]  # the entries that it is about
    title: str
    kind: str
    study: str
    verdict: Verdict | None  # None if no study tests the statement
    others: str = ""  # outcomes of the statement in other settings
    why: str = ""  # reason if no study tests the statement
    anchor: str = ""  # of the statement on the study's page, if there is one
    panel: str = ""  # anchor of the panel that shows what the statement depends on
    reason: Reason | None = None  # reason why the statement does not hold or is undecided, if the study has one
    evidence: Mapping[str, str] = field(default_factory=dict)  # anchors of what shows the reason, by title
    scale: str = ""  # of the runs; nothing where there are none

    @property
    def papers(self) -> tuple[str, ...]:
        """The letters of the papers that it is about."""
        return tuple(dict.fromkeys(name.partition("-")[0] for name in self.ids))

    @property
    def holds(self) -> str:
        """The verdict in a word."""
        if self.verdict:
            return self.verdict.holds
        return "not run" if self.study else NO_STUDY

    @property
    def explained(self) -> str:
        """Whether the statement's failure has a reason that the runs show; nothing if it does not fail."""
        return explained(self.verdict, self.reason) if self.verdict else ""


@dataclass(frozen=True, slots=True)
class Tally:
    """Outcomes of the statements about a paper."""

    letter: str
    title: str
    entries: int
    answered: int  # entries that a study which is there answers
    counts: Mapping[Level, Counter[Holds]]


def overview(register: Register, studies: Mapping[str, Study], evaluations: Mapping[str, Evaluation]) -> list[Row]:
    """Gather the verdict table in the register's order; a statement about several entries is listed at the first."""
    rows: list[Row] = []
    seen = set[tuple[str, str]]()
    for entry in register.entries:
        study = studies.get(entry.study)
        if study is None:
            rows.append(_unanswered(entry))
            continue
        item = answers(study)[entry.id]
        if (study.name, item.id) not in seen:
            seen.add((study.name, item.id))
            rows += _rows(entry, item, study, evaluations.get(study.name))
    return rows


def tallies(register: Register, rows: Sequence[Row]) -> list[Tally]:
    """Count the verdicts of each paper."""
    return [_tally(letter, paper.title, register, rows) for letter, paper in register.papers.items()]


def _tally(letter: str, title: str, register: Register, rows: Sequence[Row]) -> Tally:
    own = [row for row in rows if row.verdict and letter in row.papers]
    entries = {entry.id for entry in register.entries if entry.paper == letter}
    answered = entries & {name for row in own for name in row.ids}
    verdicts = [row.verdict for row in own if row.verdict]
    counts = {level: Counter(each.holds for each in verdicts if each.level == level) for level in LEVELS}
    return Tally(letter, title, len(entries), len(answered), counts)


def _unanswered(entry: Entry) -> Row:
    """Make the row of an entry that no study answers, or one that is not there."""
    why = entry.why or f"There is no study “{entry.study}” at this scale yet."
    return Row((entry.id,), entry.title, entry.kind, entry.study, None, why=why)


def _rows(entry: Entry, item: Item, study: Study, evaluation: Evaluation | None) -> Iterator[Row]:
    """Make the rows of a study's item."""
    ids = tuple(name for name, other in answers(study).items() if other is item)
    panels = {panel.check: panel_anchor(panel.name) for panel in item.panels}
    for verdict, others, anchor in _judged(item, evaluation) if evaluation else _not_run(item):
        panel = panels.get(verdict.id, "") if evaluation else ""
        reason = evaluation.reason(verdict) if evaluation else None
        evidence = evidence_anchors(reason)
        row = Row(ids, item.title, entry.kind, study.name, verdict, others, anchor=anchor, panel=panel)
        scale = evaluation.scale if evaluation else ""
        yield dataclasses.replace(row, reason=reason, evidence=evidence, scale=scale)


def _judged(item: Item, evaluation: Evaluation) -> Iterator[tuple[Verdict, str, str]]:
    """Return the verdicts on an item, those of other settings, and their places on the study's page."""
    if not item.checks:
        yield _curves(item, "reported"), "", item_anchor(item.id)
    for each in statements(evaluation.verdicts):
        if each.main.item == item.id:
            yield each.main, _others(each), each.anchor


def _not_run(item: Item) -> Iterator[tuple[Verdict, str, str]]:
    if not item.checks:
        yield _curves(item, "not run"), "", ""
    for check in item.checks:
        yield (
            Verdict(item.id, check.id, check.level, check.statement, "", check.paper, "", "", "not run", "", ""),
            "",
            "",
        )


def _curves(item: Item, holds: Holds) -> Verdict:
    return Verdict(item.id, "", "report", CURVES, "", "", "", "", holds, "", "")


def _others(statement: Statement) -> str:
    return f"{len(statement.others)} other settings: {statement.others_text}" if statement.others else ""
