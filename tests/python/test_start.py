"""The start page: short, with an answer and a picture for each paper, whose words follow what was found."""

from __future__ import annotations

import re
from dataclasses import replace
from string import Formatter
from typing import TYPE_CHECKING, Any

import pytest

from earlybird import InputError
from earlybird.paths import shipped_file
from earlybird.report.codes import label, meaning
from earlybird.report.numbers import Number, measure, quantity_name
from earlybird.report.overview import overview
from earlybird.report.site import start_context
from earlybird.report.start import Found, LineShown, PaperShown, size_of, start_papers
from earlybird.report.templates import rendered
from earlybird.report.text_templates import NOT_RUN, filled
from earlybird.store import Store
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import Check, Item
from earlybird.study.language.library import find_study, study_names
from earlybird.study.language.register import Line, read_register, register
from earlybird.study.language.text_templates import text_template
from earlybird.study.statements.checks import verdicts
from earlybird.study.statements.quantities import Measurements
from earlybird.tables import read_toml
from study_parts import run, study

if TYPE_CHECKING:
    from pathlib import Path

    from earlybird.study.statements.verdicts import Holds

LIMIT = 1500
"""Words of the start page: what a stranger reads in five minutes."""
OUTCOMES: tuple[Holds, ...] = ("yes", "no", "undecided", "not run")


def evaluated(name: str, holds: Holds, folder: Path) -> Evaluation:
    """Return a study at the smoke scale of which every statement came out alike."""
    known = find_study(name)
    empty = Measurements(known, [])
    found = [replace(each, holds=holds) for item in known.items for each in verdicts(item, empty)]
    return Evaluation(known, "smoke", Store(folder), empty, 0, found)


def start(holds: Holds, folder: Path) -> tuple[list[PaperShown], dict[str, str]]:
    """Return what the start page says where every statement came out alike, and its two forms."""
    evaluations = {name: evaluated(name, holds, folder) for name in study_names() if "smoke" in find_study(name).scales}
    studies = [each.study for each in evaluations.values()]
    rows = overview(register(), {each.name: each for each in studies}, evaluations)
    found = Found(register(), studies, evaluations, rows, "full")
    shown = start_papers(found, lambda letter, *_: f"papers/{letter}.svg")
    context = {**start_context(found, shown), "home": ""}
    return shown, {form: rendered(form, context) for form in ("results.md.j2", "site.html.j2")}


def names(text: str) -> set[str]:
    """Return what a text has to be filled with."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("holds", OUTCOMES)
def test_the_start_page_is_short_however_the_statements_come_out(holds: Holds, tmp_path: Path) -> None:
    _, pages = start(holds, tmp_path)
    assert len(re.sub(r"\]\([^)]*\)|<[^>]*>", " ", pages["results.md.j2"]).split()) < LIMIT
    assert len(re.sub(r"<[^>]*>", " ", pages["site.html.j2"]).split()) < LIMIT
    assert all(page.count("smoke") > len(register().papers) for page in pages.values())


def test_each_paper_has_its_sentence_and_its_picture(tmp_path: Path) -> None:
    reported = {holds: start(holds, tmp_path)[0] for holds in OUTCOMES}
    for yes, no, unclear in zip(reported["yes"], reported["no"], reported["undecided"], strict=True):
        assert re.fullmatch(r"[A-Z][^{}]{60,600}[.]", yes.answer), yes.answer
        assert len({yes.answer, no.answer, unclear.answer}) == 3, "the answer does not depend on what was found"
        assert yes.picture == f"papers/{yes.letter}.svg"
        assert yes.scale == "smoke"


def test_a_number_beside_a_verdict_was_measured_elsewhere_than_what_the_verdict_judges() -> None:
    for paper, answer in ((each, each.answer) for each in register().papers.values() if each.answer):
        checks = {check.id: check for item in find_study(paper.study).items for check in item.checks}
        for choice in answer.words.values():
            judged = checks[choice.check]
            known = {*judged.at, *judged.cells, *judged.each, *(key for point in judged.points for key in point)}
            for name in {*names(choice.yes), *names(choice.no), *names(choice.open)}:
                metric, point = answer.quantity(name)
                assert (metric, set(point) - known) == (judged.metric, set()), f"{paper.name}: {name}"


def test_every_figure_and_table_has_a_line(tmp_path: Path) -> None:
    shown, _ = start("yes", tmp_path)
    for paper in shown:
        wanted = [
            each for each in register().entries if each.paper == paper.letter and each.kind in ("figure", "table")
        ]
        named = "; ".join((*(line.label for line in paper.lines), paper.untested)).lower()
        for number in (each.id.partition("-")[2] for each in wanted if paper.letter != "X"):
            kind = {"F": "figure", "T": "table"}[number[0]]
            assert _statement(named, kind, int(number[1:])), (paper.letter, number)


def _statement(text: str, kind: str, number: int) -> bool:
    """Return whether a list of figures and tables has one of them."""
    found = [match[1] for match in re.finditer(rf"{kind}s? ([0-9, to]+)", text)]
    parts = [part for each in found for part in each.split(",") if part.strip()]
    ends = [[int(end) for end in re.findall(r"\d+", part)] for part in parts]
    return any(each[0] <= number <= each[-1] for each in ends if each)


def test_names_are_explained() -> None:
    papers = register().papers
    assert meaning("T-F9 … T-F12", papers) == "figures 9 to 12 of the ER thesis"
    assert meaning("C-T2, T-T4, X-8", papers) == (
        "table 2 of the ER-PERT paper, table 4 of the ER thesis, one of our own experiments"
    )
    assert meaning("S-1", papers) == ""
    assert label(["T-F5", "T-T1", "T-T2", "T-T3"]) == "Figure 5, tables 1 to 3"


CHECK = Check(
    "helps", "must", "ER helps", "order", "frozen_s", points=({"transport": "sack-er"}, {"transport": "sack"})
)
SENTENCE = {
    "text": "{word}: {sack}, {ratio}.",
    "at": {"metric": "frozen_s"},
    "values": {"sack": {"transport": "sack"}, "ratio": {"transport": "sack-er", "over": {"transport": "sack"}}},
    "words": {"word": {"check": "helps", "yes": "Less", "no": "Not less than {sack}", "open": "Unclear"}},
}


@pytest.mark.parametrize(
    ("with_er", "reported"),
    [
        ((20.0, 21.0), "Less: 60.5 s, 0.34."),
        ((70.0, 71.0), "Not less than 60.5 s: 60.5 s, 1.17."),
        ((50.0, 71.0), "Unclear: 60.5 s, 1.00."),
    ],
)
def test_a_sentence_was_false_when_numbers_changed(with_er: tuple[float, float], reported: str, tmp_path: Path) -> None:
    runs = [run(seed, 60.0 + seed) for seed in (0, 1)]
    runs += [run(seed, sft, transport="sack-er") for seed, sft in enumerate(with_er)]
    item = Item("T-1", "Frozen time", checks=(CHECK,))
    measured = Measurements(study([item]), runs)
    evaluation = Evaluation(measured.study, "smoke", Store(tmp_path), measured, 0, verdicts(item, measured))
    template = text_template(SENTENCE, "here")
    quantities = map(template.quantity, template.values)
    numbers = {("s", quantity_name(*quantity)): measure(evaluation, *quantity) for quantity in quantities}
    outcomes = {verdict.id: verdict.holds for verdict in evaluation.verdicts}
    assert filled(template, "s", numbers, outcomes) == reported
    assert Found(register(), [], {}, [], "full").sentence(template, "s") == NOT_RUN


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("papers", "T", "study"), "early-retransmision", "there is no study 'early-retransmision'; did you mean"),
        (
            ("papers", "T", "picture", "plot"),
            "frozen",
            "papers.T.picture.plot = 'frozen': there is no such",
        ),
        (("papers", "T", "picture", "panels"), {"group": ["lo"]}, "papers.T.picture.panels.group = 'lo'"),
        (("papers", "T", "answer", "text"), "{nobody}", "papers.T.answer.text: there is nothing for {nobody}"),
        (("papers", "T", "answer", "text"), "{less} {tail}", "papers.T.answer: 'sack' is given, but the text does not"),
        (("papers", "T", "answer", "text"), "{less", "papers.T.answer.text = '{less': "),
        (("papers", "T", "answer", "values", "sack", "metric"), "sfd", "papers.T.answer.values.sack.metric = 'sfd'"),
        (("papers", "T", "answer", "values", "er", "transport"), "sak", "papers.T.answer.values.er.transport = 'sak'"),
        (("papers", "T", "answer", "words", "less", "check"), "er-les", "papers.T.answer.words.less.check = 'er-les'"),
        (
            ("papers", "T", "answer", "words", "less", "maybe"),
            "x",
            "answer.words.less: there is no key 'maybe'",
        ),
        (
            ("items", 0, "line", "check"),
            "nothing",
            "T-F1.line.check = 'nothing': there is no such",
        ),
        (("items", 0, "line", "claim"), 3, "papers.toml: T-F1.line.claim = 3: it must be a text"),
    ],
)
def test_the_statements_of_the_register_are_found(path: tuple[str | int, ...], value: object, message: str) -> None:
    document: Any = read_toml(shipped_file("studies", "papers.toml"))
    read_register(document)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(InputError, match=re.escape(message)):
        read_register(document)


@pytest.mark.parametrize(
    ("er", "size", "sign"), [(40.0, 1.0, "✓"), (70.0, 0.25, "◐"), (90.0, -0.25, "◐"), (60.0, 0.5, "✓")]
)
def test_an_effect_of_a_quarter_of_the_papers_size_had_the_mark_of_the_whole(er: float, size: float, sign: str) -> None:
    """The paper has 80 → 40, ours is 80 → `er`; the direction holds by itself."""
    ours = {"text": "{sack} → {er}", "at": {"metric": "frozen_s"}, "values": {"sack": {"n": 1}, "er": {"n": 2}}}
    line = Line("{sack} → {er} s", "helps", text_template(ours, "here"), {"sack": 80.0, "er": 40.0})
    numbers = {("s", "frozen_s n=1"): Number("80 s", 80.0), ("s", "frozen_s n=2"): Number("", er)}
    found = replace(Found(register(), [], {}, [], "full"), numbers=numbers)
    shown = LineShown("", "s", "", "", "", "yes", "", "", size_of(line, "s", found))
    assert shown.size == pytest.approx(size)
    assert shown.is_of_other_size == (sign == "◐")


def test_a_figure_that_could_only_be_compared_with_itself_had_a_mark(tmp_path: Path) -> None:
    shown = start("yes", tmp_path)[0]
    lines = {line.label: line for paper in shown if paper.letter == "Q" for line in paper.lines}
    assert (lines["Figure 1"].holds, lines["Figure 1"].held) == ("reported", "")


def test_a_number_of_the_paper_without_one_of_ours_is_an_error() -> None:
    document = read_toml(shipped_file("studies", "papers.toml"))
    entry = next(entry for entry in document["items"] if entry["id"] == "T-F6")
    changed = {**entry, "line": {**entry["line"], "paper": {"none": 1.0}}}
    entries = [changed if each is entry else each for each in document["items"]]
    with pytest.raises(InputError, match=r"T-F6\.line\.paper: 'none' must be one of the values"):
        read_register({**document, "items": entries})
