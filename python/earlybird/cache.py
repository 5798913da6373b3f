"""
Files in ``~/.cache/earlybird`` with what was computed before; they may be deleted at any time.

A file is named by a hash of all that its content follows from, so that none is ever out of date.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.files import temporary_place

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES: Final = 256 << 20
"""Bytes of one kind above which the files that were not used for longest are deleted."""


def cache_folder(kind: str) -> Path:
    """Return the folder of one kind of files, by the rule of the XDG Base Directory Specification."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "earlybird" / kind


def cached(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """Return what was made for a key, or make and keep it."""
    content = kept(kind, key)
    if content is None:
        content = make()
        keep(kind, key, content)
    return content


def kept(kind: str, key: str) -> bytes | None:
    """Return what is kept under a key, if anything."""
    path = cache_folder(kind) / key
    try:
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return content


def keep(kind: str, key: str, content: bytes) -> None:
    """Keep something under a key; nothing happens where nothing can be written."""
    folder = cache_folder(kind)
    temporary = temporary_place(folder / key)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _limit(folder)
        temporary.write_bytes(content)
        temporary.rename(folder / key)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def hashed(*parts: str) -> str:
    """Return a key that follows from texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def code() -> str:
    """Return a hash of the package's Python code and registers."""
    root = Path(__file__).parent
    files = sorted(path for ending in ("*.py", "*.toml") for path in root.glob(f"**/{ending}"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


@cache
def _limit(folder: Path) -> None:
    """Delete the oldest files where there are too many bytes; once in a process."""
    found = sorted(((path.stat().st_mtime, path.stat().st_size, path) for path in folder.iterdir()), reverse=True)
    total = 0
    for _, size, path in found:
        total += size
        if total > MOST_BYTES:
            path.unlink(missing_ok=True)
