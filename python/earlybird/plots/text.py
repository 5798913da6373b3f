"""How wide words are when matplotlib writes them, and where to break them so that they fit."""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

NUMBER: Final = re.compile(r"[0-9.]+")
BETWEEN: Final = 5.0
"""Points between neighbouring labels."""


@cache
def width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Return how wide a line of text is, in points."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if is_bold else "normal")
    across, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(across)


def folded(text: str, room: float, size: float, *, is_bold: bool = False) -> str:
    """Break lines between words where they are wider than there is room."""
    return "\n".join(_folded(line, room, size, is_bold=is_bold) for line in text.split("\n"))


def _folded(text: str, room: float, size: float, *, is_bold: bool) -> str:
    first, *others = text.split(" ")
    lines = [first]
    for word in others:
        longer = f"{lines[-1]} {word}"
        if width(longer, size, is_bold=is_bold) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def lines(text: str) -> int:
    """Count the lines of a text."""
    return text.count("\n") + 1 if text else 0


def side_by_side(labels: dict[float, str], room: float, size: float) -> dict[float, str] | None:
    """
    Break labels at places in points so that neighbours have room, or return None where that is impossible.

    Of numbers those are left out that have no room.
    """
    places = sorted(labels)
    if all(NUMBER.fullmatch(text) for text in labels.values()):
        return _thinned(labels, places, size)
    least = min((right - left for left, right in pairwise(places)), default=room) - BETWEEN
    broken = {place: folded(labels[place], least, size) for place in places}
    longest = max(width(line, size) for text in broken.values() for line in text.split("\n"))
    return broken if longest <= least else None


def _thinned(labels: dict[float, str], places: list[float], size: float) -> dict[float, str]:
    """Leave out labels that would touch one before them."""
    kept: dict[float, str] = {}
    end = -BETWEEN
    for place in places:
        half = width(labels[place], size) / 2
        has_room = place - half >= end + BETWEEN or not kept
        kept[place] = labels[place] if has_room else ""
        end = place + half if has_room else end
    return kept
