"""Output on terminals whose encoding has only ASCII: the nearest sign is printed."""

from __future__ import annotations

import codecs
import io
import sys
import unicodedata
from typing import Final

NAME: Final = "earlybird-plain"

PLAIN: Final = {
    "µ": "u",
    "μ": "u",
    "×": "x",
    "→": "->",
    "▁": "_",
    "▂": ".",
    "▃": "-",
    "▄": "=",
    "▅": "+",
    "▆": "*",
    "▇": "#",
    "÷": "/",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "...",
    "·": "*",
    "≥": ">=",
    "≤": "<=",
    "✓": "+",
    "✗": "x",
    "α": "alpha",
    "β": "beta",
    "“": '"',
    "”": '"',
    "’": "'",
    "\u202f": " ",
    "\u00a0": " ",
}
"""Signs that we print, and what they are written as where they cannot be shown."""


def make_streams_safe() -> None:
    """Set up the output and error streams so that no sign is an error, whatever their encoding."""
    codecs.register_error(NAME, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not is_unicode(stream.encoding):
            stream.reconfigure(errors=NAME)


def is_unicode(encoding: str | None) -> bool:
    """Return whether an encoding has all signs."""
    return (encoding or "").lower().replace("_", "-").startswith("utf")


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Write what could not be encoded in other words."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(map(_plain_sign, signs)), error.end


def _plain_sign(sign: str) -> str:
    """Find the nearest: our own table, boxes as lines, letters without their accents."""
    if sign in PLAIN:
        return PLAIN[sign]
    if unicodedata.name(sign, "").startswith("BOX DRAWINGS"):
        return "|" if "VERTICAL" in unicodedata.name(sign) else "-"
    return unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode() or "?"
