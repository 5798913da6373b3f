"""Meanings of the names of figures and tables: ``T-F9`` is figure 9 of the ER thesis."""

import re
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Final

from earlybird.study.language.entries import entry_ids
from earlybird.study.language.register import Paper

KINDS: Final = {"F": "figure", "T": "table", "E": "equation", "S": "statement"}
"""Meanings of the letter before a number."""
NUMBERED: Final = re.compile(r"([A-Z])-([FTES])(\d+)")
OWN: Final = "one of our own experiments"


def meaning(item: str, papers: Mapping[str, Paper]) -> str:
    """Return the meaning of an item's name: “figures 9 to 12 of the ER thesis”; empty if of no paper."""
    ids = entry_ids(item)
    letters = [letter for letter in dict.fromkeys(name.partition("-")[0] for name in ids) if letter in papers]
    parts = [_of_paper(letter, [name for name in ids if name.startswith(f"{letter}-")], papers) for letter in letters]
    return ", ".join(parts)


def _of_paper(letter: str, ids: list[str], papers: Mapping[str, Paper]) -> str:
    places = label(ids)
    return f"{places[0].lower()}{places[1:]} of {papers[letter].name}" if places else OWN


def label(ids: Iterable[str]) -> str:
    """Return entries as their paper names them: ``Figures 9 to 12``, ``Table 4``; empty if it numbers none."""
    found = [match.groups() for match in map(NUMBERED.fullmatch, ids) if match]
    groups = [(kind, [int(number) for *_, number in each]) for kind, each in groupby(found, key=lambda each: each[1])]
    return ", ".join(_numbered(KINDS[kind], numbers) for kind, numbers in groups).capitalize()


def _numbered(kind: str, numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"{kind} {numbers[0]}"
    is_run = numbers == list(range(numbers[0], numbers[-1] + 1)) and len(numbers) > 2
    listed = f"{numbers[0]} to {numbers[-1]}" if is_run else ", ".join(map(str, numbers))
    return f"{kind}s {listed}"
