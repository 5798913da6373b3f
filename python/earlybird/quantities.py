"""Rates and durations written with their unit, as in scenarios: ``"300kb/s"``, ``"26.7ms"``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

RATE_UNITS: Final = {"b/s": 1.0, "kb/s": 1e3, "Mb/s": 1e6, "Gb/s": 1e9}
TIME_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


def bits_per_second(text: str, what: str = "rate") -> float:
    """
    Read a rate.

    Parameters
    ----------
    text : str
        A number above 0 with a unit: b/s, kb/s, Mb/s or Gb/s (bits, not bytes).
    what : str
        What it is the rate of, to begin the error with.

    Returns
    -------
    float
        Bits per second.

    Raises
    ------
    InputError
        If it is not a rate.
    """
    rate = _number_with_unit(text, RATE_UNITS)
    if not rate:
        raise InputError(
            f"{what} = {text!r} is not a rate above zero. Write a number and a unit, such as 300kb/s or 2.5Mb/s."
        )
    return rate


def seconds(text: str) -> float | None:
    """Read a duration with one of the units ns, us, ms, s, min; nothing if it is not one."""
    return _number_with_unit(text, TIME_UNITS)


def _number_with_unit(text: str, units: Mapping[str, float]) -> float | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([^\d.]+)", text.strip())
    return float(match[1]) * units[match[2]] if match and match[2] in units else None
