"""Format numbers and texts for the terminal and for plots."""

from __future__ import annotations

import math
import unicodedata
from typing import Final

KEPT: Final = "\n\t"
FORMATTED: Final = {"\u200c", "\u200d"}  # joiners, which Persian and emoji need


def format_seconds(value: float) -> str:
    """Format seconds: two decimals below ten, one above."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "never"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def format_delay(value: float) -> str:
    """Format seconds with their unit, so that values a viewer cannot distinguish print identically."""
    return f"{format_seconds(value)} s" if math.isfinite(value) else format_seconds(value)


def format_share(value: float) -> str:
    """Format a share in percent, so that small values differ from zero."""
    if math.isnan(value):
        return "–"
    if value == 0:
        return "none"
    percent = 100 * value
    return f"{percent:.1f} %" if percent >= 10 else f"{percent:.2f} %" if percent >= 0.1 else f"{percent:#.2g} %"


def format_number(value: float) -> str:
    """Format a mean number of events."""
    return "–" if math.isnan(value) else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def format_rate(bits_per_second: float) -> str:
    """Format a rate."""
    return f"{bits_per_second / 1e3:.0f} kb/s" if bits_per_second < 1e6 else f"{bits_per_second / 1e6:.2f} Mb/s"


def visible(text: str) -> str:
    r"""Write control characters, such as the escape that begins a terminal's commands, as ``\x1b``."""
    return "".join(map(_visible_sign, text)) if not text.isprintable() else text


def _visible_sign(sign: str) -> str:
    is_control = unicodedata.category(sign) in ("Cc", "Cf") and sign not in FORMATTED and sign not in KEPT
    return sign.encode("unicode_escape").decode() if is_control else sign
