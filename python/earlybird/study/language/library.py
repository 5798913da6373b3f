"""Finds the studies of the repository."""

import difflib
from collections.abc import Sequence
from functools import cache

from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.study.language.definition import SCALES, Study
from earlybird.study.language.entries import narrowed
from earlybird.study.language.loading import load

ALL = "all"  # in place of a study's name: every study


@cache
def find_study(name: str) -> Study:
    """Read the study of a folder below studies/; raise `InputError` if there is none, or it is not valid."""
    names = study_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}."
        raise InputError(f"there is no study {name!r}; {hint}")
    return load(shipped_file("studies", name))


def choose_studies(names: Sequence[str], scale: str, item: str | None = None) -> list[Study]:
    """
    Read studies, each once, in the order of the names; ``all`` stands for every one that has the scale.

    With an item, which takes the name of one study, it is narrowed to that figure or table.
    """
    if item is not None:
        return [_with_item(names, scale, item)]
    chosen = {study.name: study for name in names for study in _named(name, scale)}
    if not chosen:
        raise InputError(f"no study has the scale {scale!r}; the scales are: {', '.join(SCALES)}.")
    return list(chosen.values())


def _with_item(names: Sequence[str], scale: str, item: str) -> Study:
    if len(names) != 1 or names[0] == ALL:
        raise InputError(f"item = {item}: it is of one study. hint: name that study alone, as `study list` shows it.")
    return narrowed(_named(names[0], scale)[0], item)


def _named(name: str, scale: str) -> list[Study]:
    if name == ALL:
        return [study for study in map(find_study, study_names()) if scale in study.scales]
    study = find_study(name)
    check_scale(study, scale)
    return [study]


def check_scale(study: Study, scale: str) -> None:
    """Raise `InputError` if a study has no such scale."""
    if scale not in study.scales:
        allowed = ", ".join(name for name in SCALES if name in study.scales)
        raise InputError(f"the study {study.name!r} has no scale {scale!r}; it has: {allowed}.")


def study_names() -> list[str]:
    """Return the names of the repository's studies, sorted."""
    return sorted(path.parent.name for path in shipped_file("studies").glob("*/study.toml"))
