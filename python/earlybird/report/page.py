"""Fills the template of a study's page."""

from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from earlybird import _core
from earlybird.plots.svg import colour_rules
from earlybird.report.census import bands, load_rows, named_delays
from earlybird.report.headline import conclusion, counts, headline
from earlybird.report.main_table import column_titles, main_rows
from earlybird.report.statements import PLURAL, SYMBOLS, WORDS, Statement, item_anchor, statements
from earlybird.study.definition import LEVELS, Item, Plot
from earlybird.study.evaluation import Evaluation
from earlybird.study.plan import plan


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plot in the page."""

    plot: Plot
    wide: Markup
    narrow: Markup


@dataclass(frozen=True, slots=True)
class Section:
    """An item in the page."""

    item: Item
    anchor: str
    drawings: tuple[Drawing, ...]
    statements: tuple[Statement, ...]


def page(evaluation: Evaluation, drawings: Mapping[str, Drawing]) -> str:
    """
    Write a study's page.

    Parameters
    ----------
    evaluation
        Its results.
    drawings
        The plots that have something to show, by name.

    Returns
    -------
    str
        HTML that needs no other file.
    """
    environment = Environment(
        loader=PackageLoader("earlybird.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(words=WORDS, plural=PLURAL, symbols=SYMBOLS, anchor=item_anchor)
    return environment.get_template("study.html.j2").render(_context(evaluation, drawings))


def _context(evaluation: Evaluation, drawings: Mapping[str, Drawing]) -> dict[str, object]:
    study, every = evaluation.study, statements(evaluation.verdicts)
    light, dark = colour_rules()
    return {
        "study": study,
        "evaluation": evaluation,
        "scale": study.scales[evaluation.scale],
        "headline": headline(evaluation),
        "conclusion": conclusion(evaluation),
        "counts": counts(evaluation),
        "levels": [(level, [each for each in every if each.main.level == level]) for level in LEVELS],
        "columns": column_titles(study),
        "rows": main_rows(evaluation),
        "sections": [_section(item, drawings, every) for item in study.items],
        "bands": bands(evaluation),
        "loads": load_rows(evaluation),
        "delays": named_delays(evaluation),
        "planned": len(plan(study, evaluation.scale)),
        "code_version": _core.code_version(),
        "version": _core.version(),
        "light": Markup(light),
        "dark": Markup(dark),
    }


def _section(item: Item, drawings: Mapping[str, Drawing], every: list[Statement]) -> Section:
    return Section(
        item,
        item_anchor(item.id),
        tuple(drawings[plot.name] for plot in item.plots if plot.name in drawings),
        tuple(each for each in every if each.main.item == item.id),
    )
