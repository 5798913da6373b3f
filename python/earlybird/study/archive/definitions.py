"""The files that define a study: its folder, and whatever they name."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from earlybird.study.language.definition import Study

STUDIES: Final = "studies"  # the folder of studies in an archive


def definition_files(study: Study) -> dict[str, Path]:
    """
    Find the files that define a study, by their names in an archive, which keeps their places to each other.

    They are the study's folder below ``studies`` and the files that a TOML file among them names: scenarios, test beds,
    traces, films.
    """
    waiting = [path for path in study.folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    files = dict[str, "Path"]()
    while waiting:
        path = waiting.pop()
        name = _name(study, path)
        if name not in files:
            files[name] = path
            waiting.extend(_named(path) if path.suffix == ".toml" else ())
    return files


def _name(study: Study, path: Path) -> str:
    relative = PurePosixPath(os.path.relpath(path, study.folder))
    name = os.path.normpath(PurePosixPath(STUDIES, study.name, relative))
    if name.startswith(".."):
        raise InputError(
            f"{path} lies outside of the folder that holds {study.folder.parent}, so it has no place here."
        )
    return name


def _named(path: Path) -> Iterator[Path]:
    """Find the files that the texts of a TOML file name, counted from its folder."""
    for text in _texts(tomllib.loads(path.read_text(encoding="utf-8"))):
        if os.path.isfile(file := path.parent / text):  # noqa: PTH113, it takes any text: a sentence is no file
            yield file


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for item in value.values() for text in _texts(item))
    elif isinstance(value, Sequence):
        yield from (text for item in value for text in _texts(item))
