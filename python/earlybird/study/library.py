"""Finds the studies of the repository."""

import difflib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from earlybird.errors import InputError
from earlybird.paths import repository_file
from earlybird.study.definition import SCALES, Study
from earlybird.study.loading import load


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """What a list of studies shows."""

    name: str
    title: str
    question: str
    scales: tuple[str, ...]
    folder: Path


def list_studies() -> list[StudyInfo]:
    """
    List the studies.

    Returns
    -------
    list of StudyInfo
        Sorted by name.

    Raises
    ------
    InputError
        If there is no folder of studies, or one of them is not valid.
    """
    return [_info(find_study(name)) for name in _names()]


@cache
def find_study(name: str) -> Study:
    """
    Read the study of that name.

    Parameters
    ----------
    name
        Its folder's name below studies/.

    Returns
    -------
    Study
        All that its files say.

    Raises
    ------
    InputError
        If there is none of that name, or it is not valid.
    """
    names = _names()
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}."
        raise InputError(f"there is no study {name!r}; {hint}")
    return load(repository_file("studies", name))


def check_scale(study: Study, scale: str) -> None:
    """
    Make sure that a study has a scale.

    Parameters
    ----------
    study
        The study.
    scale
        What was asked for.

    Raises
    ------
    InputError
        If it has no such scale.
    """
    if scale not in study.scales:
        allowed = ", ".join(name for name in SCALES if name in study.scales)
        raise InputError(f"the study {study.name!r} has no scale {scale!r}; it has: {allowed}.")


def _names() -> list[str]:
    return sorted(path.parent.name for path in repository_file("studies").glob("*/study.toml"))


def _info(study: Study) -> StudyInfo:
    return StudyInfo(study.name, study.title, study.question, tuple(study.scales), study.folder)
