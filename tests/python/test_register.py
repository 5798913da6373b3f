"""The register of the papers' items, and the studies that answer them."""

from __future__ import annotations

import re

import pytest

from earlybird.study import list_studies
from earlybird.study.language.entries import answers, entry_ids
from earlybird.study.language.library import find_study
from earlybird.study.language.register import register

PAPERS = {
    "T": [*(f"F{number}" for number in range(1, 24)), *(f"T{number}" for number in range(1, 6))],
    "C": [*(f"F{number}" for number in range(1, 7)), "T1", "T2", *(f"E{number}" for number in range(1, 4))],
    "M": [*(f"F{number}" for number in range(1, 8)), "E1"],
    "B": [*(f"F{number}" for number in range(1, 5)), "T1", *(f"E{number}" for number in range(1, 5))],
    "Q": [*(f"F{number}" for number in range(1, 12)), "T1", "T2"],
    "X": [str(number) for number in range(1, 13)],
}
"""Numbered items of the papers, and the extra experiments."""


def test_nothing_that_a_paper_numbers_is_missing() -> None:
    for letter, numbered in PAPERS.items():
        ids = {entry.id for entry in register().entries if entry.paper == letter}
        assert ids >= {f"{letter}-{number}" for number in numbered}


@pytest.mark.parametrize("name", [info.name for info in list_studies()])
def test_a_study_answers_what_the_register_lists_and_nothing_else(name: str) -> None:
    registered = {entry.id for entry in register().entries if entry.study == name}
    assert set(answers(find_study(name))) == registered


def test_the_register_names_no_study_that_is_not_there() -> None:
    named = {entry.study for entry in register().entries if entry.study}
    assert named <= {info.name for info in list_studies()}


def test_every_entry_without_a_study_gives_a_reason() -> None:
    for entry in register().entries:
        assert entry.study or re.fullmatch(r"[A-Z].{20,}\.", entry.why), entry.id


def test_names_of_items_are_lists_and_ranges() -> None:
    assert entry_ids("C-T2, T-T4, X-8") == ["C-T2", "T-T4", "X-8"]
    assert entry_ids("T-F9 … T-F12") == ["T-F9", "T-F10", "T-F11", "T-F12"]
    assert entry_ids("T-F6") == ["T-F6"]


@pytest.mark.parametrize("name", [info.name for info in list_studies()])
def test_every_statement_and_title_is_complete_by_itself(name: str) -> None:
    for item in find_study(name).items:
        titles = [plot.title for plot in item.plots] + [panel.title for panel in item.panels]
        texts = [check.statement for check in item.checks] + titles
        assert not [text for text in texts if text.startswith("…") or text.endswith("…")], item.id
