"""Checks of a film's file that need no FFmpeg."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from earlybird.clip import MediaError
from earlybird.errors import because

if TYPE_CHECKING:
    from pathlib import Path

MANIFEST: Final = 65536  # bytes of a file within which a manifest shows what it is


def check_is_readable(path: Path) -> None:
    """Reject empty and missing files with a clearer message than FFmpeg's."""
    if path.is_dir():
        raise MediaError(path, "is a folder, not a video file", "Name one file in it.")
    if path.exists() and not path.is_file():
        raise MediaError(path, "is not a regular file", "Save the film to a file first.")
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except FileNotFoundError as error:
        raise MediaError(path, "does not exist", "Check the spelling and the folder the command runs in.") from error
    except OSError as error:
        raise MediaError(path, f"cannot be read ({because(error)})", "Check the path.") from error
    if is_empty:
        raise MediaError(path, "is empty", "Copy or download it again.")


def manifest_kind(path: Path) -> str | None:
    """Return what names several renditions, a playlist of HLS or a manifest of DASH; None of any other file."""
    with path.open("rb") as file:
        text = file.read(MANIFEST).decode("utf-8", "replace")
    if text.lstrip("\ufeff").startswith("#EXTM3U") and "#EXT-X-STREAM-INF" in text:
        return "playlist of HLS"
    return "manifest of DASH" if re.search(r"<(?:\w+:)?MPD\b", text) else None


def check_is_no_manifest(path: Path) -> None:
    """Reject a manifest of DASH, and of HLS with several renditions, which name films and are none."""
    if kind := manifest_kind(path):
        hint = "Name the file of one rendition, or its own playlist; `earlybird plan --goal vod` and `hls` take all."
        raise MediaError(path, f"is a {kind} that names several renditions, not a film", hint)
