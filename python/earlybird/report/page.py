"""Fills the template of a study's page."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from markupsafe import Markup

from earlybird import _core
from earlybird.plots.chart import Chart
from earlybird.plots.vega import document
from earlybird.report.codes import meaning
from earlybird.report.headline import conclusion, counts, headline
from earlybird.report.main_table import column_titles, main_rows
from earlybird.report.run_counts import bands, named_delays, run_counts
from earlybird.report.start import SHORTEST
from earlybird.report.statements import Statement, evidence_anchors, explained, held, item_anchor, statements
from earlybird.report.templates import as_json, rendered
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Part, Study
from earlybird.study.language.items import LEVELS, Item
from earlybird.study.language.names import spaced
from earlybird.study.language.points import Scalar
from earlybird.study.language.register import register
from earlybird.study.runs.plan import seeds_text
from earlybird.study.statements.reasons import Reason
from earlybird.study.statements.sensitivity import Sensitivity

Anchors: TypeAlias = Mapping[str, str]  # identifiers for links by titles


LEADING: Final = 3  # pictures at the top of a page, before all that is folded


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot in the page."""

    name: str
    title: str
    caption: str
    chart: Chart
    made: str  # from which runs
    picture: str  # the file that shows it where there are no scripts

    @property
    def json(self) -> Markup:
        """The chart, as the page carries it."""
        return as_json(document(self.chart))


@dataclass(frozen=True, slots=True)
class Section:
    """An item in the page."""

    item: Item
    anchor: str
    drawings: tuple[Drawing, ...]
    statements: tuple[Statement, ...]
    panels: tuple[tuple[Sensitivity, Drawing | None], ...]
    meaning: str  # the meaning of its name, such as “figure 9 of the ER thesis”
    held: str  # the number of its statements that hold, of those that can be tested


def page(evaluation: Evaluation, drawings: Mapping[str, Drawing], *, home: str = "") -> str:
    """Write a study's page, HTML that needs only the files beside it; `home` is the way to the start page."""
    return rendered("study.html.j2", {**page_context(evaluation, drawings), "home": home})


def runs_text(evaluation: Evaluation, part: Part, shown: Mapping[str, Collection[Scalar]] | None = None) -> str:
    """Return the seeds and the duration of the runs of a part."""
    scale = evaluation.study.scales[evaluation.scale]
    if part.deterministic:
        return "one run of the scenario's own duration, as nothing in it is random"
    seeds = seeds_text(evaluation.study, evaluation.scale, part.name, shown)
    return f"{seeds}, {spaced(scale.duration)} of simulated time"


def page_context(evaluation: Evaluation, drawings: Mapping[str, Drawing]) -> dict[str, object]:
    """Gather what a study's page speaks of, in whatever form; parameters are those of `page`."""
    study, every = evaluation.study, statements(evaluation.verdicts)
    loads = run_counts(evaluation) if bands(evaluation) and _is_loaded(evaluation) else []
    return {
        "study": study,
        "evaluation": evaluation,
        "scale": study.scales[evaluation.scale],
        "headline": headline(evaluation),
        "conclusion": conclusion(evaluation),
        "counts": counts(evaluation),
        "why": {each.anchor: _why(each, evaluation) for each in every},
        "levels": [(level, [each for each in every if each.main.level == level]) for level in LEVELS],
        "columns": column_titles(study),
        "rows": main_rows(evaluation) if study.main.item in {item.id for item in study.items} else {},
        "sections": [_section(item, evaluation, drawings, every) for item in study.items],
        "leading": leading(study, drawings),
        "is_short": evaluation.scale == SHORTEST,
        "speaks_of_load": _speaks_of_load(study),
        "bands": bands(evaluation),
        "loads": loads,
        "has_plots": bool(drawings),
        "delays": named_delays(evaluation),
        "planned": len(evaluation.measurements.observations) + evaluation.missing,
        "code_version": _core.code_version(),
        "version": _core.version(),
    }


def leading(study: Study, drawings: Mapping[str, Drawing]) -> list[Drawing]:
    """Choose the drawings that stand at the top: those that the study names, and others where these are not drawn."""
    names = dict.fromkeys((*study.headline.pictures, *drawings))
    return [drawings[name] for name in names if name in drawings][:LEADING]


def _speaks_of_load(study: Study) -> bool:
    """Return whether a page speaks of T/µ, which it then has to explain."""
    texts = (study.headline.text, study.question, *(group.label for group in study.groups.values()))
    stated = (check.statement for item in study.items for check in item.checks)
    return any("T/µ" in text for text in (*texts, *stated))


def _why(statement: Statement, evaluation: Evaluation) -> tuple[Reason | None, str, Anchors]:
    """Return the reason of a failure, whether it is shown, and the place of its evidence."""
    reason = evaluation.reason(statement.main)
    return reason, explained(statement.main, reason), evidence_anchors(reason)


def _is_loaded(evaluation: Evaluation) -> bool:
    """Return whether the runs of the first part have a load, T/µ."""
    part = next(iter(evaluation.study.parts))
    return any(run.part == part and math.isfinite(run.load) for run in evaluation.measurements.observations)


def _section(item: Item, evaluation: Evaluation, drawings: Mapping[str, Drawing], every: list[Statement]) -> Section:
    return Section(
        item,
        item_anchor(item.id),
        tuple(drawings[plot.name] for plot in item.plots if plot.name in drawings),
        tuple(each for each in every if each.main.item == item.id),
        tuple((each, drawings.get(each.panel.name)) for each in evaluation.sensitivities.get(item.id, ())),
        meaning(item.id, register().papers),
        held(each.main for each in every if each.main.item == item.id),
    )
