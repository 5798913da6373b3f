"""Make `film-1080p.txt`, the sizes of a film's pictures in bytes, one per line.

A made-up film with the numbers that the PERT-video paper gives of its own: 210 s at 24 pictures per second, 286.5 MB,
at most 25 Mb/s over half a second. How much there is to see changes every three quarters of a second on average, so
that a link of 15 Mb/s that loses nothing carries it with less than a second of delay; beneath that, groups of twelve
pictures repeat.

    python media/make_film.py [OUTPUT.txt]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Final

PICTURES: Final = 210 * 24
TOTAL: Final = 286_500_000
"""Bytes."""
PEAK: Final = 25e6 / 8 * 0.5
"""Bytes of the largest half second."""
GROUP: Final = (4.0, 0.6, 0.6, 1.3, 0.6, 0.6, 1.3, 0.6, 0.6, 1.3, 0.6, 0.6)
"""Relative sizes of the pictures between two that stand for themselves: I, P and B pictures."""
SHORTEST: Final = 0.5
"""Seconds of the shortest scene."""
SPREAD: Final = 0.25
"""Mean of what a scene is longer, in seconds."""
UNEVEN: Final = 0.15
"""Deviation of the logarithm of a picture's size within its scene."""


def main(output: Path) -> None:
    """Write the sizes."""
    random = Random(1)
    detail = scenes(random)
    shapes = [GROUP[i % len(GROUP)] * math.exp(UNEVEN * normal(random)) for i in range(PICTURES)]
    sizes = scaled(detail, shapes, contrast(detail, shapes))
    header = "# Bytes per picture of a made-up film of 210 s, 24 pictures per second; made by make_film.py.\n"
    output.write_text(header + "".join(f"{round(size)}\n" for size in sizes), encoding="utf-8")


def normal(random: Random) -> float:
    """Draw from the standard normal distribution."""
    return NormalDist().inv_cdf(max(random.random(), 1e-12))


def scenes(random: Random) -> list[float]:
    """Return for each picture the logarithm of how much there is to see in its scene."""
    detail: list[float] = []
    while len(detail) < PICTURES:
        length = SHORTEST - SPREAD * math.log(1 - random.random())
        detail += [normal(random)] * round(24 * length)
    return detail[:PICTURES]


def scaled(detail: list[float], shapes: list[float], contrast: float) -> list[float]:
    """Return the pictures' sizes at a contrast between scenes; their sum is given."""
    sizes = [shape * math.exp(contrast * level) for shape, level in zip(shapes, detail, strict=True)]
    factor = TOTAL / sum(sizes)
    return [factor * size for size in sizes]


def contrast(detail: list[float], shapes: list[float]) -> float:
    """Find the contrast at which the largest half second is as large as it should be."""
    low, high = 0.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        sizes = scaled(detail, shapes, middle)
        largest = max(sum(sizes[i : i + 12]) for i in range(PICTURES - 11))
        low, high = (middle, high) if largest < PEAK else (low, middle)
    return low


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("film-1080p.txt"))
