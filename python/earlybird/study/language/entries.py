"""The names of a study's items: each is an entry of the register, or several of them."""

import dataclasses
import re

from earlybird.study.language.definition import Headline, Study
from earlybird.study.language.items import Check, Item
from earlybird.tables import one_of

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


def narrowed(study: Study, name: str) -> Study:
    """Return a study with one figure or table alone, without the sensitivity panels, which need runs of their own."""
    whole, items = {item.id: item for item in study.items}, answers(study)
    if name not in whole:
        one_of(name, items, f"study {study.name}: item", "item")
    item = whole.get(name) or items[name]
    names = {check.id for check in item.checks}
    checks = tuple(dataclasses.replace(check, shown_by=_within(check, names)) for check in item.checks)
    text = (item.text or item.title).replace("{", "{{").replace("}", "}}")
    return dataclasses.replace(
        study,
        title=f"{study.title}: {item.title}",
        items=(dataclasses.replace(item, checks=checks, panels=()),),
        headline=Headline(text, {}),
        item=item.id,
    )


def _within(check: Check, names: set[str]) -> tuple[str, ...]:
    """Return the evidence of a reason that is among these checks."""
    return tuple(name for name in check.shown_by if name in names)
