"""How numbers are written for people at the terminal and in pictures."""

from __future__ import annotations

import math


def seconds(value: float) -> str:
    """Write seconds: two digits after the point below ten, one above."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "never"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def delay(value: float) -> str:
    """Write seconds with their unit, so that what is written alike is alike to a viewer."""
    return f"{seconds(value)} s" if math.isfinite(value) else seconds(value)


def share(value: float) -> str:
    """Write a share in percent so that small ones can be told from none."""
    if math.isnan(value):
        return "–"
    if value == 0:
        return "none"
    percent = 100 * value
    return f"{percent:.1f} %" if percent >= 10 else f"{percent:.2f} %" if percent >= 0.1 else f"{percent:#.2g} %"


def number(value: float) -> str:
    """Write a mean number of events."""
    return "–" if math.isnan(value) else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rate(bits_per_second: float) -> str:
    """Write a rate."""
    return f"{bits_per_second / 1e3:.0f} kb/s" if bits_per_second < 1e6 else f"{bits_per_second / 1e6:.2f} Mb/s"
