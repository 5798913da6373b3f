"""A link's chances to send: a trace of mahimahi's, or of throughput over time, as players and drive tests have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from earlybird import _core
from earlybird.errors import InputError, ScenarioError
from earlybird.planning.measured.text import text_of
from earlybird.planning.path import Measurements

if TYPE_CHECKING:
    from pathlib import Path

BYTES: Final = 1500  # of a chance to send (mahimahi's `mm-link(1)`)


def read(path: str | Path) -> Measurements:
    """Read the trace, which is repeated to the end of a run, and its mean rate."""
    text = text_of(path, "a trace of mahimahi's")
    try:
        times = _core.trace_times(text, str(path))
    except ScenarioError as error:
        raise InputError(f"{path} is not a trace of mahimahi's, nor of seconds and Mb/s: {error}") from error
    rate = 8 * BYTES * len(times) / (times[-1] / 1e3)
    fact = f"mahimahi: {len(times)} chances to send in {times[-1] / 1e3:.4g} s, {rate / 1e6:.3g} Mb/s on average"
    return Measurements(rate=rate, trace=tuple(times), facts=(fact,))
