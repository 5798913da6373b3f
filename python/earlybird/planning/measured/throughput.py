"""Throughput over time, as traces for players and drive tests have it: a time and a rate per line, or CSV."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SEPARATOR: Final = re.compile(r"\s*[,;\t]\s*|\s+")
RATE: Final = re.compile(r"mb|kb|through|rate|band|bps|speed", re.IGNORECASE)
DOWNWARDS: Final = re.compile(r"dl|down", re.IGNORECASE)
TIME: Final = re.compile(r"time|^t$|sec|stamp", re.IGNORECASE)
MILLISECONDS: Final = re.compile(r"ms|milli", re.IGNORECASE)
KILO: Final = re.compile(r"kb|dl_bitrate|ul_bitrate", re.IGNORECASE)
"""Names of rates in kb/s: those that say so, and those of Raca and others, "Beyond throughput", MMSys 2018 and 2020."""
PLAIN: Final = re.compile(r"^(?:.*[^mk])?bps$|bits?_per_s", re.IGNORECASE)
BITS: Final = 1500 * 8  # of a delivery opportunity


def has_columns(text: str) -> bool:
    """Return whether a text has a time and a rate per line, or a header that names a rate."""
    first = next((line.strip() for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"), "")
    words = SEPARATOR.split(first)
    is_row = len(words) > 1 and all(_number(word) is not None for word in words[:2])
    return is_row or (len(words) > 1 and any(RATE.search(word) for word in words))


def opportunities(path: str | Path, text: str) -> tuple[int, ...]:
    """Return the milliseconds of delivery opportunities that make the same rate."""
    rows = [SEPARATOR.split(line.strip()) for line in text.splitlines() if line.strip() and line.lstrip()[0] != "#"]
    names = rows.pop(0) if _number(rows[0][-1]) is None else None
    times, rates = _columns(path, rows, names)
    if len(times) < 2 or (np.diff(times) < 0).any() or times[-1] <= times[0]:
        raise InputError(
            f"{path}: the times of a throughput trace have to rise; there are {len(times)} lines with one."
        )
    if (rates < 0).any() or not rates.any():
        raise InputError(f"{path}: the rates of a throughput trace have to be 0 or more, and one of them above.")
    # The last line holds for as long as those before it, on average.
    edges = np.append(times, times[-1] + (times[-1] - times[0]) / (len(times) - 1)) - times[0]
    sent = np.concatenate(([0.0], np.cumsum(rates * np.diff(edges)))) / BITS
    found = np.interp(np.arange(1, int(sent[-1]) + 1), sent, edges)
    milliseconds = np.ceil(1e3 * found).astype(np.int64).tolist()
    return (*milliseconds, round(1e3 * float(edges[-1]))) if milliseconds else ()


def _columns(
    path: str | Path, rows: Sequence[Sequence[str]], names: Sequence[str] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return seconds and bits per second: of the first two columns, in Mb/s, or of those whose names say so."""
    when, what, per_second, factor = 0, 1, 1.0, 1e6
    if names is not None:
        rates = [place for place, name in enumerate(names) if RATE.search(name)]
        if not rates:
            raise InputError(f"{path}: none of its columns ({', '.join(names)}) is named as a rate, such as Mbps.")
        what = next((place for place in rates if DOWNWARDS.search(names[place])), rates[0])
        factor = 1e3 if KILO.search(names[what]) else 1.0 if PLAIN.search(names[what]) else 1e6
        when = next((place for place, name in enumerate(names) if TIME.search(name) and place != what), -1)
        per_second = 1e3 if when >= 0 and MILLISECONDS.search(names[when]) else 1.0
    known = [row for row in rows if len(row) > what and _number(row[what]) is not None]
    rate = factor * np.array([_number(row[what]) for row in known], dtype=np.float64)
    seconds = [_number(row[when]) if 0 <= when < len(row) else None for row in known]
    if any(value is None for value in seconds):  # dates, one a second in drive tests
        return np.arange(len(known), dtype=np.float64), rate
    return np.array(seconds, dtype=np.float64) / per_second, rate


def _number(text: str) -> float | None:
    try:
        return float(text.strip('"'))
    except ValueError:
        return None
