"""Make `cellular.mahi`, a link of changing rate in mahimahi's format: one line per chance to send 1500 bytes, in ms.

A made-up mobile link: the rate swings between about 1 and 11 Mb/s within seconds and fails for half a second in every
ten.

    python media/make_trace.py [OUTPUT.mahi]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Final

LENGTH: Final = 10_000
"""Milliseconds after which the trace starts again."""
FADE: Final = range(6_000, 6_500)
"""When nothing can be sent."""
CHANCE_BITS: Final = 12_000


def rate(millisecond: int) -> float:
    """Return the bits per second at one time."""
    if millisecond in FADE:
        return 0
    seconds = millisecond / 1000
    return 1e6 * (6 + 3.5 * math.sin(2 * math.pi * seconds / 5) + 1.5 * math.sin(2 * math.pi * seconds / 1.25))


def chances() -> list[int]:
    """Return a time for every 12,000 bits that the rate adds up to; the last one ends the round."""
    times, bits = [], 0.0
    for millisecond in range(1, LENGTH + 1):
        bits += rate(millisecond) / 1000
        while bits >= CHANCE_BITS:
            bits -= CHANCE_BITS
            times.append(millisecond)
    return [*times, LENGTH] if times[-1] < LENGTH else times


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("cellular.mahi")
    output.write_text("".join(f"{time}\n" for time in chances()), encoding="ascii")
