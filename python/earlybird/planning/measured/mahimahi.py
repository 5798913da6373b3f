"""A link's chances to send, as mahimahi keeps them: a line for each 1500 bytes, with its time in milliseconds."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError
from earlybird.planning.measured.text import text_of
from earlybird.planning.measured.throughput import has_columns, opportunities
from earlybird.planning.path import Measurements

if TYPE_CHECKING:
    from pathlib import Path

BYTES: Final = 1500  # of a chance to send (mahimahi's `mm-link(1)`)


def read(path: str | Path) -> Measurements:
    """Read the trace, which is repeated to the end of a run, and its mean rate."""
    text = text_of(path, "a trace of mahimahi's")
    if has_columns(text):
        times = list(opportunities(path, text))
    else:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        times = [_time(path, number, line) for number, line in enumerate(lines, 1)]
    for number, (before, after) in enumerate(pairwise(times), 2):
        if after < before:
            raise InputError(f"{path}: line {number} has {after} ms after {before} ms; times never fall.")
    if times[-1] == 0:
        raise InputError(f"{path}: the trace ends at 0 ms; its last line says how long it is.")
    rate = 8 * BYTES * len(times) / (times[-1] / 1e3)
    fact = f"mahimahi: {len(times)} chances to send in {times[-1] / 1e3:.4g} s, {rate / 1e6:.3g} Mb/s on average"
    return Measurements(rate=rate, trace=tuple(times), facts=(fact,))


def _time(path: str | Path, number: int, line: str) -> int:
    if not line.isdecimal():
        raise InputError(f"{path} is not a trace of mahimahi's: line {number} is `{line[:30]}`, not a time in ms.")
    return int(line)
