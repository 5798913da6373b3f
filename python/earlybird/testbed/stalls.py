"""Stalls of a player, from its own events."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def stalls(marks: Iterable[tuple[float, bool]], end: float) -> list[tuple[float, float]]:
    """Pair a player's marks, True where it plays and False where it waits; before the first True it starts."""
    found, since, has_begun = list[tuple[float, float]](), 0.0, False
    for at, is_playing in marks:
        if is_playing:
            if since:
                found.append((since, at))
            since, has_begun = 0.0, True
        elif has_begun:
            since = since or at
    return [*found, (since, end)] if since else found
