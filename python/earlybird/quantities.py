"""Rates and durations written with their unit, as in scenarios: ``"300kb/s"``, ``"26.7ms"``."""

from __future__ import annotations

from earlybird import _core
from earlybird.errors import InputError, ScenarioError


def bits_per_second(text: str, what: str = "rate") -> float:
    """
    Read a rate.

    Parameters
    ----------
    text : str
        A number above 0 with a unit, as in scenarios.
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
    try:
        return float(_core.rate(text))
    except ScenarioError as error:
        raise InputError(f"{what}: {error}") from error


def seconds(text: str) -> float | None:
    """Read a duration with its unit, as in scenarios; nothing if it is not one."""
    try:
        return _core.duration(text)
    except ScenarioError:
        return None
