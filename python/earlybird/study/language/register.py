"""The register of everything that the papers show, with the study that answers it or the reason why none does."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.study.language.checking import Known
from earlybird.study.language.entries import answers
from earlybird.study.language.library import find_study
from earlybird.study.language.points import Scalar
from earlybird.study.language.text_templates import TextTemplate, check_text_template, text_template
from earlybird.tables import Table, build, listed, read_toml, section

FILE = "papers.toml"  # below the folder of studies


@dataclass(frozen=True, slots=True)
class Picture:
    """A plot of a study, or a part of it that can be seen on a phone."""

    plot: str
    panels: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    lines: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """In place of the plot's own, as are the panels."""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and whether it holds: the answer in a sentence, with a picture."""

    title: str
    name: str  # its name in a few words
    study: str = ""  # the study whose results answer, and which has the picture
    picture: Picture | None = None
    answer: TextTemplate | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """The line of an entry on the start page, in plain words."""

    claim: str  # the statement of the paper, with {names} for its numbers
    check: str  # the statement whose verdict counts; nothing if the paper states nothing
    ours: TextTemplate  # our finding
    paper: Mapping[str, float] = field(default_factory=dict)
    """The paper's numbers, by the names that ours have; the change from the first to the last is compared."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure, table, equation or sentence of a paper, or an additional experiment."""

    id: str
    title: str
    kind: Literal["figure", "table", "equation", "statement", "experiment"]
    study: str = ""
    why: str = ""  # reason if no study answers the item
    line: Line | None = None  # for the first entry of a study's item: what the start page says of the item

    @property
    def paper(self) -> str:
        """The letter of its paper, which leads its name."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Register:
    """All that the papers show."""

    papers: Mapping[str, Paper]  # by letter
    entries: tuple[Entry, ...]


@cache
def register() -> Register:
    """Read the repository's register of what the papers show, in their order, and check it with the studies."""
    return read_register(read_toml(shipped_file("studies", FILE)))


def read_register(document: Table) -> Register:
    """Make the register of its file's tables; errors as of `register`."""
    papers = {letter: _paper(table, letter) for letter, table in section(document, "papers", FILE).items()}
    entries = tuple(_entry(table, f"{FILE}: {table.get('id')}") for table in listed(document, "items", FILE))
    _check(entries, papers)
    for letter, paper in papers.items():
        _check_paper(paper, f"{FILE}: papers.{letter}")
    for entry in entries:
        _check_line(entry, f"{FILE}: {entry.id}")
    return Register(papers, entries)


def _paper(table: Table, letter: str) -> Paper:
    where = f"{FILE}: papers.{letter}"
    if "answer" in table:
        table = {**table, "answer": text_template(table["answer"], f"{where}.answer")}
    if "picture" in table:
        table = {**table, "picture": build(Picture, table["picture"], f"{where}.picture")}
    return build(Paper, table, where)


def _entry(table: Table, where: str) -> Entry:
    if "line" in table:
        table = {**table, "line": _line(table["line"], f"{where}.line")}
    return build(Entry, table, where)


def _line(table: Table, where: str) -> Line:
    own = {name: table[name] for name in ("claim", "check", "paper") if name in table}
    ours = {name: value for name, value in table.items() if name not in own}
    return build(Line, {"check": "", **own, "ours": text_template(ours, where)}, where)


def _check(entries: Iterable[Entry], papers: Mapping[str, Paper]) -> None:
    seen = set[str]()
    for entry in entries:
        if entry.id in seen:
            raise InputError(f"{FILE}: {entry.id} stands there twice.")
        if entry.paper not in papers:
            raise InputError(f"{FILE}: {entry.id} is of no paper that is named there.")
        if bool(entry.study) == bool(entry.why):
            raise InputError(f"{FILE}: {entry.id} needs either the study that answers it or the reason why none does.")
        seen.add(entry.id)


def _check_paper(paper: Paper, where: str) -> None:
    if not (paper.study and paper.picture and paper.answer):
        raise InputError(f"{where}: study, picture and answer must be given.")
    study = find_study(paper.study)
    known = Known(study)
    known.check_plot(paper.picture.plot, f"{where}.picture.plot")
    known.check_values(paper.picture.panels, f"{where}.picture.panels")
    known.check_values(paper.picture.lines, f"{where}.picture.lines")
    check_text_template(paper.answer, study, f"{where}.answer")


def _check_line(entry: Entry, where: str) -> None:
    if entry.line is None:
        return
    if not entry.study:
        raise InputError(f"{where}.line: no study answers {entry.id}, so that nothing can be said of it.")
    study, line = find_study(entry.study), entry.line
    check_text_template(line.ours, study, f"{where}.line")
    _check_paper_numbers(line, f"{where}.line")
    if line.check:
        Known(study).check_statement(line.check, f"{where}.line.check")
    if entry.id not in answers(study):
        raise InputError(f"{where}: the study {study.name!r} has no such item.")


def _check_paper_numbers(line: Line, where: str) -> None:
    """Raise `InputError` if one of the paper's numbers is none of ours, or not in the claim."""
    for name in line.paper:
        if name not in line.ours.values or f"{{{name}}}" not in line.claim:
            raise InputError(
                f"{where}.paper: {name!r} must be one of the values, and stand in the claim as {{{name}}}."
            )
