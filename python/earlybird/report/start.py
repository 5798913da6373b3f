"""The start page: of each paper an answer and a picture, and a line for each of its figures and tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copyfile
from typing import Final, TypeAlias

from earlybird.report.codes import label
from earlybird.report.figures import plot_data
from earlybird.report.numbers import Numbers, quantity_name
from earlybird.report.overview import Row
from earlybird.report.pictures import Pictures, write_pictures
from earlybird.report.statements import held
from earlybird.report.text_templates import NOT_RUN, filled
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.definition import Study
from earlybird.study.language.items import Plot
from earlybird.study.language.register import Entry, Line, Paper, Picture, Register
from earlybird.study.language.text_templates import TextTemplate
from earlybird.study.search.outcome import Outcome, read_outcome
from earlybird.study.statements.verdicts import Holds, Verdict

PAPERS: Final = "papers"  # the folder of the pages of papers, with their pictures
PHONE: Final = 4.5  # inches of a picture whose words can be read on a phone
SIZES: Final = (0.5, 2.0)  # changes, in the paper's, that are called of its size; our choice
SHORTEST: Final = "smoke"  # the scale that is too short to decide most statements; what rests on it says so
WritePicture: TypeAlias = Callable[[str, Picture, Evaluation | None], str]
"""
Writes a paper's picture, or keeps the older one if the study is kept, and gives its file below the start page's folder;
nothing if there is nothing to show.
"""


@dataclass(frozen=True, slots=True)
class LineShown:
    """A figure or table on the start page."""

    label: str
    study: str
    item: str  # the study's item, which has an anchor on the study's page; nothing where there are no results
    claim: str
    ours: str
    holds: Holds
    held: str  # the number of statements about it that hold, such as ``4/6``; empty if none can be tested
    scale: str  # of its runs, where that is not the scale of the page, or is too short
    size: float = math.nan
    """Our change from the first to the last number, in the paper's; negative if the other way round, NaN if unknown."""

    @property
    def is_of_other_size(self) -> bool:
        """Whether a statement holds in direction, but the change is less than half or more than twice the paper's."""
        return self.holds == "yes" and not math.isnan(self.size) and not SIZES[0] <= self.size <= SIZES[1]


@dataclass(frozen=True, slots=True)
class PaperShown:
    """A paper on the start page."""

    letter: str
    paper: Paper
    answer: str
    picture: str
    pictured: str  # the alternative text of the picture
    scale: str  # of the runs behind the answer, where that is not the scale of the page, or is too short
    lines: Sequence[LineShown]
    untested: str  # the figures and tables that show no results, such as the set-up
    search: Outcome | None = None  # the outcome of the search for a setting that meets all statements


@dataclass(frozen=True, slots=True)
class Found:
    """All that the start page draws on."""

    register: Register
    studies: Sequence[Study]
    evaluations: Mapping[str, Evaluation]
    rows: Sequence[Row]  # the verdict table
    scale: str  # the scale that was asked for
    kept: Mapping[str, str] = field(default_factory=dict)
    """By name, the scales of studies whose older pages are kept, as they have no results now."""
    numbers: Numbers = field(default_factory=dict)

    def scale_of(self, study: str) -> str:
        """Return the scale of the results of a study, made now or kept; nothing if it has none."""
        evaluation = self.evaluations.get(study)
        return evaluation.scale if evaluation else self.kept.get(study, "")

    def study(self, name: str) -> Study:
        """Return the study of a name."""
        return next(study for study in self.studies if study.name == name)

    def sentence(self, template: TextTemplate, study: str) -> str:
        """Fill a sentence about a study with its numbers and outcomes."""
        if not self.scale_of(study):
            return NOT_RUN
        outcomes = {row.verdict.id: row.verdict.holds for row in self.rows if row.verdict and row.study == study}
        return filled(template, study, self.numbers, outcomes)

    def remark(self, scale: str) -> str:
        """Return the scale of some runs if the page must state it."""
        return scale if scale and (scale == SHORTEST or scale != self.scale) else ""


def start_papers(found: Found, write_picture: WritePicture) -> list[PaperShown]:
    """Collect the contents of the start page, in the order of the register."""
    return [_paper(letter, paper, found, write_picture) for letter, paper in found.register.papers.items()]


def _paper(letter: str, paper: Paper, found: Found, write_picture: WritePicture) -> PaperShown:
    scale, evaluation = found.scale_of(paper.study), found.evaluations.get(paper.study)
    entries = [entry for entry in found.register.entries if entry.paper == letter]
    is_pictured = scale and paper.picture
    return PaperShown(
        letter,
        paper,
        found.sentence(paper.answer, paper.study) if paper.answer else "",
        write_picture(letter, paper.picture, evaluation) if is_pictured and paper.picture else "",
        _plot(paper.picture, found.study(paper.study)).title if is_pictured and paper.picture else "",
        found.remark(scale),
        [_line(entry, entry.line, entries, found) for entry in entries if entry.line],
        label(entry.id for entry in entries if not entry.study and entry.kind in ("figure", "table")),
        read_outcome(found.study(paper.study).folder / "search") if scale else None,
    )


def _line(entry: Entry, line: Line, entries: Sequence[Entry], found: Found) -> LineShown:
    """Make the line of an entry, which represents all entries of the paper that the same item answers."""
    own = [row for row in found.rows if entry.id in row.ids]
    scale = own[0].scale
    ids = [each.id for each in entries if each.id == entry.id or (not each.line and each.id in own[0].ids)]
    verdict = next((row.verdict for row in own if row.verdict and row.verdict.id == line.check), None)
    return LineShown(
        label(ids),
        entry.study,
        own[0].verdict.item if own[0].verdict and scale else "",
        line.claim.format(**{name: f"{number:g}" for name, number in line.paper.items()}),
        found.sentence(line.ours, entry.study) if scale else verdict.ours if verdict else "",
        _outcome(line, verdict, scale),
        held(row.verdict for row in own if row.verdict) if line.check else "",
        found.remark(scale),
        size_of(line, entry.study, found),
    )


def _outcome(line: Line, verdict: Verdict | None, scale: str) -> Holds:
    """Return the outcome of a line; what the paper only draws is reported."""
    if not line.check:
        return "reported" if scale else "not run"
    return verdict.holds if verdict else "not run"


def size_of(line: Line, study: str, found: Found) -> float:
    """Return our relative change from the first to the last number, divided by the paper's."""
    named = [quantity_name(*line.ours.quantity(name)) for name in line.paper]
    ours = [found.numbers[study, name].value for name in named if (study, name) in found.numbers]
    if len(ours) < max(2, len(named)):
        return math.nan
    paper = list(line.paper.values())
    return _change(ours) / _change(paper)


def _change(numbers: Sequence[float]) -> float:
    return numbers[-1] / numbers[0] - 1.0 if numbers[0] else math.nan


def _plot(picture: Picture, study: Study) -> Plot:
    return next(plot for item in study.items for plot in item.plots if plot.name == picture.plot)


def picture_writer(folder: Path, chosen: Pictures, older: Path | None = None) -> WritePicture:
    """Return what writes the pictures of papers into the folder of their pages, in some forms."""

    def write(letter: str, picture: Picture, evaluation: Evaluation | None) -> str:
        (folder / PAPERS).mkdir(exist_ok=True)
        if evaluation is None:
            return _kept_picture(letter, older, folder) if older else ""
        plot = _plot(picture, evaluation.study)
        shown = replace(plot, panels=picture.panels or plot.panels, lines=picture.lines or plot.lines)
        data = plot_data(shown, evaluation.measurements, evaluation.scale, evaluation.store)
        if data is None:
            return ""
        narrow = replace(data.chart, width=PHONE)
        return f"{PAPERS}/{write_pictures(narrow, folder / PAPERS, letter, chosen)}"

    return write


def _kept_picture(letter: str, older: Path, folder: Path) -> str:
    """Copy the picture of a paper from an older publication."""
    for picture in sorted((older / PAPERS).glob(f"{letter}.*")):
        if picture.suffix in (".svg", ".png"):
            copyfile(picture, folder / PAPERS / picture.name)
            return f"{PAPERS}/{picture.name}"
    return ""
