"""Files as other programs write them."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any, Final

from earlybird.errors import InputError, because
from earlybird.paths import limited_bytes

GZIP: Final = b"\x1f\x8b"  # first bytes of a compressed file (RFC 1952 §2.3.1)

MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),  # PowerShell's `>`
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Marks at the beginning of a text, and its encoding."""

CONTROL: Final = re.compile(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
"""Characters that no text has; the escape of terminals' colours is not among them."""

FEW_ZEROS: Final = 20
"""Part of the bytes of UTF-16 that are zero at least, as blanks and digits have one; nearly all on one side."""

ESCAPES: Final = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")  # of terminals (ECMA-48 §5.4)

TABLE: Final = re.compile(r"^[{\[]", re.MULTILINE)

SIGNS: Final = re.compile(r"[A-Za-z\d ]")
"""Characters that differ between two times in one format: `Nov 27 05:36:09 `, and ` 5` for the fifth of a month."""

NOT_A_NUMBER: Final = re.compile(r"([:\[,]\s*)[-+]?(?:nan|inf(?:inity)?)\b", re.IGNORECASE)
"""The words that C's printf writes for numbers that do not exist, which JSON does not have."""


def text_of(path: str | Path, what: str) -> str:
    """Read a text, compressed or not, in any encoding; `what` it should be is for the error."""
    try:
        text = decoded(_content(Path(path)))
    except (UnicodeDecodeError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path} is not {what}: it is not text.") from error
    except ValueError as error:
        raise InputError(f"{path} is not {what}: {error}.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read ({because(error)}).") from error
    if CONTROL.search(text):
        raise InputError(f"{path} is not {what}: it is not text.")
    if not text.strip():
        raise InputError(f"{path} is empty, and not {what}.")
    return ESCAPES.sub("", text)


def _content(path: Path) -> bytes:
    """Read a file of limited size, compressed or not."""
    with path.open("rb") as file:
        content = limited_bytes(file)
    if not content.startswith(GZIP):
        return content
    with gzip.open(io.BytesIO(content)) as unpacked:
        return limited_bytes(unpacked)


def decoded(content: bytes) -> str:
    """
    Decode a text of which the digits and signs of ASCII count.

    What is not UTF-8 or UTF-16 is read byte by byte (Latin-1): in the code pages of DOS and Windows (CP850, CP866,
    CP125x) and in GBK, Big5, EUC and Shift-JIS no digit, `=`, `<`, `/`, `%` or space is part of another character.
    """
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content.decode(encoding)
    even, odd = content[::2].count(0), content[1::2].count(0)
    if even + odd >= len(content) / FEW_ZEROS and min(even, odd) <= max(even, odd) / FEW_ZEROS:
        return content.decode("utf-16-le" if odd > even else "utf-16-be")  # without its mark
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")


def json_of(path: str | Path, what: str) -> dict[str, Any]:
    """Read a table of JSON; raise InputError if it is none."""
    return documents_of(path, what)[-1]


def documents_of(path: str | Path, what: str) -> list[dict[str, Any]]:
    """Read the tables of JSON of a file, one or more: one after another, behind lines that are none, or in a list."""
    text = NOT_A_NUMBER.sub(r"\1null", without_times(text_of(path, what).strip()))
    found: list[Any] = []
    place, failure = 0, None
    while (place := _next_table(text, place)) < len(text):
        try:
            document, place = json.JSONDecoder().raw_decode(text, place)
        except json.JSONDecodeError as error:
            failure, place = error, place + 1
            continue
        except (RecursionError, ValueError) as error:  # nested too deeply, or a number of more than 4300 digits
            raise InputError(f"{path} is not {what}: it holds what no such program writes ({error}).") from error
        found.append(document)
    if not found:
        failure = failure or json.JSONDecodeError("Expecting value", text, 0)
        raise InputError(
            f"{path} is not {what}: it is not JSON ({failure.msg} in line {failure.lineno}). Is it complete?"
        ) from failure
    listed = [each for document in found for each in (document if isinstance(document, list) else [document])]
    tables = [document for document in listed if isinstance(document, dict)]
    if not tables:
        raise InputError(f"{path} is not {what}: it holds no table.")
    return tables


def without_times(text: str) -> str:
    """Take off the times that `ts` or iperf3's `--timestamps` write in front of lines, if all lines have one."""
    lines = list(filter(None, map(str.rstrip, text.splitlines())))
    width = 0 if not lines or lines[0].startswith("{") else lines[0].find("{")
    shapes = {SIGNS.sub("a", line[: max(width, 0)]) for line in lines}
    is_timed = width > 0 and len(shapes) == 1 and any(map(str.isdecimal, lines[0][:width]))
    return "\n".join(line[width:] for line in lines) if is_timed else text


def _next_table(text: str, place: int) -> int:
    """Return where a document begins: behind the one before it, or at the beginning of a line."""
    while place < len(text) and text[place].isspace():
        place += 1
    if text[place : place + 1] in ("{", "["):
        return place
    begin = TABLE.search(text, place)
    return begin.start() if begin else len(text)


def number(document: dict[str, Any], *keys: str) -> float | None:
    """Follow keys to a number; nothing if there is none."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    # Of more than 308 digits it is no measurement, and no `float`.
    return float(found) if abs(found) <= sys.float_info.max else None
