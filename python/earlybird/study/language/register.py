"""The register of everything that the papers show: which study answers it, or why none does."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.study.language.definition import Study
from earlybird.study.language.items import Item
from earlybird.tables import build, listed, read_toml

FILE = "papers.toml"
"""Below the folder of studies."""

RANGE = re.compile(r"(\S+?)(\d+)\s*…\s*\1(\d+)")
"""A range of items in the name of a study's item, such as ``T-F9 … T-F12``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure, table or equation of a paper, something that it says in words alone, or an extra experiment."""

    id: str
    title: str
    kind: Literal["figure", "table", "equation", "statement", "experiment"]
    study: str = ""
    """The study that answers it."""
    why: str = ""
    """Why no study does."""

    @property
    def paper(self) -> str:
        """The letter of its paper, which leads its name."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Register:
    """All that the papers show."""

    papers: Mapping[str, str]
    """Titles by letter."""
    entries: tuple[Entry, ...]


@cache
def register() -> Register:
    """
    Read the register of the repository.

    Returns
    -------
    Register
        In the order of the papers.

    Raises
    ------
    InputError
        If it is missing, not valid, names an item twice, or says neither which study answers it nor why none does.
    """
    document = read_toml(shipped_file("studies", FILE))
    entries = tuple(build(Entry, table, f"{FILE}, {table.get('id')}") for table in listed(document, "items", FILE))
    _check(entries, document["papers"])
    return Register(document["papers"], entries)


def _check(entries: Iterable[Entry], papers: Mapping[str, str]) -> None:
    seen = set[str]()
    for entry in entries:
        if entry.id in seen:
            raise InputError(f"{FILE}: {entry.id} stands there twice.")
        if entry.paper not in papers:
            raise InputError(f"{FILE}: {entry.id} is of no paper that is named there.")
        if bool(entry.study) == bool(entry.why):
            raise InputError(f"{FILE}: {entry.id} needs either the study that answers it or the reason why none does.")
        seen.add(entry.id)


def entry_ids(item: str) -> list[str]:
    """
    List the entries that a study's item answers.

    Parameters
    ----------
    item
        The item's name: entries with commas, or a range of them.

    Returns
    -------
    list of str
        Their names: ``C-T2, T-T4`` are two, ``T-F9 … T-F12`` are four.
    """
    return [name for part in item.split(",") for name in _range(part.strip())]


def _range(text: str) -> list[str]:
    match = RANGE.fullmatch(text)
    if match is None:
        return [text]
    lead, first, last = match[1], int(match[2]), int(match[3])
    return [f"{lead}{number}" for number in range(first, last + 1)]


def answers(study: Study) -> dict[str, Item]:
    """Return the study's items by the entries that they answer."""
    return {name: item for item in study.items for name in entry_ids(item.id)}
