"""Parse rates and durations with units, as in scenarios: ``"300kb/s"``, ``"26.7ms"``."""

from __future__ import annotations

from earlybird import _core
from earlybird.errors import InputError, ScenarioError


def parse_rate(text: str, what: str = "rate") -> float:
    """Return bits per second of a number above 0 with a unit; `what` begins the error."""
    try:
        return float(_core.rate(text))
    except ScenarioError as error:
        raise InputError(f"{what}: {error}") from error


def parse_duration(text: str) -> float | None:
    """Parse a duration with its unit, as in scenarios; return None if it is not one."""
    try:
        return _core.duration(text)
    except ScenarioError:
        return None


def complete_rate(text: str) -> str:
    """Complete the short form of a rate, as mahimahi and iperf have it: ``15M``."""
    return f"{text}b/s" if text[-1:] in ("k", "M", "G") else text


def parse_share(value: str | float, what: str = "share") -> float:
    """Parse a share from 0 to 1: ``0.01`` or ``"1%"``; `what` begins the error."""
    text = str(value).strip()
    number = text.removesuffix("%")
    try:
        found = float(number) / (100 if number != text else 1)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        meant = f" Did you mean {text}%?" if number == text and 1 < found <= 100 else ""
        raise InputError(
            f"{what} = {value}: a share from 0 to 1, as a number or in per cent, such as 0.01 or 1%.{meant}"
        )
    return found
