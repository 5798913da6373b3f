"""Phrases that studies quote from the papers are in the register of quotations, with their places."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

STUDIES = Path(__file__).parents[2] / "studies"
QUOTATIONS = tomllib.loads((STUDIES / "quotations.toml").read_text(encoding="utf-8"))["quotation"]
PAPERS = tomllib.loads((STUDIES / "papers.toml").read_text(encoding="utf-8"))["papers"]
QUOTED = re.compile(r"“([^”]+)”")
FEWEST_WORDS = 3  # shorter ones are names: presets, messages of players


def quoted(path: Path) -> list[str]:
    """List the quoted phrases of a file, without its lines that only name papers."""
    text = path.read_text(encoding="utf-8").replace("\\\n", "")
    return [phrase for phrase in QUOTED.findall(text) if len(phrase.split()) >= FEWEST_WORDS]


@pytest.mark.parametrize(
    "path", [*sorted(STUDIES.glob("*/items.toml")), STUDIES / "papers.toml"], ids=lambda path: path.parent.name
)
def test_what_is_quoted_is_in_the_register(path: Path) -> None:
    known = [quotation["text"].lower() for quotation in QUOTATIONS]
    missing = [phrase for phrase in quoted(path) if not any(phrase.lower() in text for text in known)]
    assert not missing, "add them to studies/quotations.toml with their places, or write them without quotation marks"


def test_each_quotation_has_a_paper_and_a_place() -> None:
    for quotation in QUOTATIONS:
        assert quotation["paper"] in PAPERS
        assert quotation["place"]
