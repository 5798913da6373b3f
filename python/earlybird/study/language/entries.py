"""The names of a study's items: each is an entry of the register, or several of them."""

import re

from earlybird.study.language.definition import Study
from earlybird.study.language.items import Item

RANGE = re.compile(r"(\S+?)(\d+)\s*…\s*\1(\d+)")
"""A range of items in the name of a study's item, such as ``T-F9 … T-F12``."""


def entry_ids(item: str) -> list[str]:
    """List the entries that an item answers by its name: ``C-T2, T-T4`` are two, ``T-F9 … T-F12`` are four."""
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
