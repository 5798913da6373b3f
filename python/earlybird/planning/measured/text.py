"""Files as other programs write them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

from earlybird.errors import InputError, because

GZIP: Final = b"\x1f\x8b"  # first bytes of a compressed file (RFC 1952 §2.3.1)


def text_of(path: str | Path, what: str) -> str:
    """Read a text, compressed or not; `what` it should be is for the error."""
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if content.startswith(GZIP) else content).decode()
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{path} is not {what}: it is not text.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({because(error)}).") from error
    if not text.strip():
        raise InputError(f"{path} is empty, and not {what}.")
    return text


def json_of(path: str | Path, what: str) -> dict[str, Any]:
    """Read a table of JSON; raise InputError if it is none."""
    text = text_of(path, what)
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path} is not {what}: it is not JSON ({error.msg} in line {error.lineno}). Is it complete?"
        ) from error
    if not isinstance(document, dict):
        raise InputError(f"{path} is not {what}: it holds no table.")
    return document


def number(document: dict[str, Any], *keys: str) -> float | None:
    """Follow keys to a number; nothing if there is none."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None
