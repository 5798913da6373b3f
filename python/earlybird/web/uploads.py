"""Files that a page sends: kept in a folder of their own until they have been read."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, Final, Protocol

from earlybird.errors import InputError
from earlybird.planning.measured import kinds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import BinaryIO

    from earlybird.planning.path import Measurements

LONGEST_NAME: Final = 80
UNUSUAL: Final = re.compile(r"[^\w.()+ -]+")
PLAYLISTS: Final = (b"#EXTM3U", b"\xef\xbb\xbf#EXTM3U", b"ffconcat")
"""Beginnings of texts that name other files, which FFmpeg would open."""
BEGINNING: Final = 4096  # bytes of a file within which a film has some that no text has
BINARY: Final = re.compile(rb"[\x00-\x08\x0e-\x1a]")


class Upload(Protocol):
    """A file of a form."""

    @property
    def filename(self) -> str | None:
        """Its name where it comes from."""

    @property
    def file(self) -> BinaryIO:
        """Its content."""


def saved(upload: Upload, folder: Path) -> Path:
    """Write a file into a folder of its own, below `folder`, by its name without any path."""
    base = re.split(r"[/\\]", upload.filename or "")[-1]
    name = UNUSUAL.sub("_", base).lstrip(".")[-LONGEST_NAME:] or "file"
    own = folder / str(sum(1 for _ in folder.iterdir()))
    own.mkdir()
    with (own / name).open("wb") as target:
        shutil.copyfileobj(upload.file, target)
    return own / name


def check_is_film(path: Path) -> None:
    """Refuse texts: a playlist names files of this machine, which nobody has uploaded."""
    with path.open("rb") as file:
        begin = file.read(BEGINNING)
    if begin.startswith(PLAYLISTS) or not BINARY.search(begin):
        raise InputError(f"{path} is a text, not a film.")


def measurements(paths: Sequence[Path]) -> list[Measurements]:
    """Read measurement files of whatever kinds."""
    return kinds.read([(kinds.kind_of(path), path) for path in paths])


def without_folders(error: Exception, folder: Path) -> str:
    """Return the text of an error about files of a folder, with their names alone."""
    return re.sub(rf"{re.escape(str(folder))}/\d+/", "", str(error))
