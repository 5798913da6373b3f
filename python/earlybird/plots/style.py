"""
One look for all pictures: a transport has the same colour, line and marker in every one of them.

The hue says which family a transport belongs to, that is its congestion control. Shade, marker and line say how it
finds losses: by three duplicates, by early retransmission (``-er``: dashed, mostly squares), or by RACK-TLP (``-rack``:
darker, triangles). A fine-grained timer (``-fg``) hollows the marker.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from earlybird import _core

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INK: Final = "#20242a"  # text and paper's points
MUTED: Final = "#6b7280"  # axes and their labels
GRID: Final = "#dfe3e8"
PAPER: Final = "#fefefe"  # inside of hollow markers

DARK: Final = {INK: "#e6e8eb", MUTED: "#9aa3ae", GRID: "#2e343c", PAPER: "#15181c"}
"""Their replacements on a dark background."""


@dataclass(frozen=True, slots=True)
class Style:
    """The look of a line and its points."""

    colour: str
    dark: str  # the colour on a dark background
    dashes: str  # a key of `DASHES`
    marker: str  # as matplotlib names it
    is_hollow: bool = False


SOLID, DASHED, DOTTED, DASH_DOTTED, LONG = "solid", "dash", "dot", "dashdot", "longdash"
DASHES: Final[Mapping[str, list[float]]] = {
    SOLID: [],
    DASHED: [10, 3.5],
    DOTTED: [2, 2.8],
    DASH_DOTTED: [12, 3.2, 2, 3.2],
    LONG: [18, 4.5],
}
"""Pixels that are drawn and left out in turn."""
FONT: Final = "DejaVu Sans, Verdana, sans-serif"
"""Verdana is as wide: where it replaces the other, as in an SVG on another computer, nothing overlaps."""

TRANSPORT_STYLES: Final = {
    "sack": Style("#b8431a", "#f08a5d", SOLID, "o"),
    "sack-er": Style("#b57f00", "#e8b93c", DASHED, "s"),
    "sack-rack": Style("#7d2408", "#d96a45", DASH_DOTTED, "<"),
    "ns2-sack": Style("#8c5a3c", "#c9977a", SOLID, "v"),
    "ns2-sack-er": Style("#a98467", "#dcb99b", DASHED, "s"),
    "pert": Style("#0b5fa5", "#6cb4f2", SOLID, "^"),
    "pert-er": Style("#00805e", "#3fcfa5", DASHED, "D"),
    "pert-rack": Style("#083b6e", "#4a8fd0", DASH_DOTTED, "<"),
    "cubic": Style("#7a4b9d", "#c39ae0", SOLID, "P"),
    "cubic-er": Style("#a678c8", "#dcbdf0", DASHED, "s"),
    "cubic-rack": Style("#4b2a70", "#9c78c4", DASH_DOTTED, ">"),
    "bbr": Style("#c2257a", "#f27fb8", SOLID, "X"),
    "bbr-er": Style("#e0609f", "#f7aed2", DASHED, "s"),
    "bbr-rack": Style("#8a0f50", "#d4589a", DASH_DOTTED, "v"),
    "bbr3": Style("#d12a5c", "#f5849f", SOLID, "X"),
    "bbr3-er": Style("#ea6a86", "#f9b8c6", DASHED, "s"),
    "bbr3-rack": Style("#97153b", "#dd5f80", DASH_DOTTED, "v"),
    "bbr1": Style("#9c1f8f", "#e07fd6", SOLID, "X"),
    "bbr1-er": Style("#b34aa8", "#eba6e3", DASHED, "s"),
    "bbr1-rack": Style("#66125e", "#b95fb0", DASH_DOTTED, "v"),
    "reno": Style("#5c6b00", "#b3c24a", SOLID, ">"),
    "reno-er": Style("#5c6b00", "#b3c24a", DASHED, "D"),
    "newreno": Style("#3d4d00", "#93a337", LONG, "^"),
    "newreno-er": Style("#3d4d00", "#93a337", DASHED, "P"),
    "tahoe": Style("#7c8a2e", "#cddb74", DOTTED, "h"),
    "vegas": Style("#00757f", "#45c4cf", LONG, "h"),
    "prague": Style("#1f8fa3", "#6ad6e6", SOLID, "D"),
    "prague-er": Style("#1f8fa3", "#6ad6e6", DASHED, "p"),
    "prague-rack": Style("#0e5a68", "#3fa3b3", DASH_DOTTED, ">"),
    "udp": Style("#50565f", "#c3c9d1", DOTTED, "x"),
    "tfrc": Style("#50565f", "#c3c9d1", DASH_DOTTED, "+"),
    "srt": Style("#b57f00", "#e8b93c", LONG, "D"),
    "earlybird-rt": Style("#3d7a00", "#8fd14a", SOLID, "p"),
    "mtcp": Style("#00757f", "#45c4cf", DOTTED, "^"),
    "mtcp-er": Style("#00757f", "#45c4cf", DASHED, "X"),
    "mtcp-rack": Style("#00454b", "#2d9aa4", DASH_DOTTED, "<"),
    "tcp-rtm": Style("#b57f00", "#e8b93c", SOLID, "v"),
    "tcp-rtm-er": Style("#8a6100", "#c79c30", DASHED, "s"),
    "tltcp": Style("#0b5fa5", "#6cb4f2", LONG, "o"),
    "tltcp-er": Style("#0b5fa5", "#6cb4f2", DASHED, "s"),
    "tltcp-rack": Style("#0b5fa5", "#6cb4f2", DASH_DOTTED, "<"),
    "tcp-rc": Style("#c2257a", "#f27fb8", LONG, "P"),
    "tcp-rc-er": Style("#c2257a", "#f27fb8", DASHED, "s"),
    "tcp-rc-rack": Style("#c2257a", "#f27fb8", DASH_DOTTED, "<"),
    "mtp": Style("#b8431a", "#f08a5d", DOTTED, "D"),
    "mtp-er": Style("#b8431a", "#f08a5d", DASHED, "s"),
    "mtp-rack": Style("#b8431a", "#f08a5d", DASH_DOTTED, "<"),
    "limited-buffer": Style("#50565f", "#c3c9d1", SOLID, "o"),
    "limited-buffer-er": Style("#50565f", "#c3c9d1", DASHED, "s"),
    "limited-buffer-rack": Style("#50565f", "#c3c9d1", DASH_DOTTED, "<"),
    "copa": Style("#6d1b3b", "#d67a9f", SOLID, "h"),
    "copa-er": Style("#6d1b3b", "#d67a9f", DASHED, "s"),
    "copa-rack": Style("#6d1b3b", "#d67a9f", DASH_DOTTED, "<"),
    "hollywood": Style("#8c5a3c", "#c9977a", DOTTED, "p"),
    "hollywood-er": Style("#8c5a3c", "#c9977a", DASHED, "X"),
    "hollywood-rack": Style("#8c5a3c", "#c9977a", DASH_DOTTED, "<"),
    "quic": Style("#1b5e20", "#66bb6a", SOLID, "o"),
    "quic-streams": Style("#1b5e20", "#66bb6a", DASHED, "^"),
    "quic-datagrams": Style("#1b5e20", "#66bb6a", DOTTED, "D"),
    "cubic+rto-min": Style("#a678c8", "#dcbdf0", DOTTED, "v"),
}
"""
Transports but for those with a fine-grained timer, and senders of plans and studies that are more than one. Those that
the register has besides get the next free colour and marker.
"""

FINE_GRAINED: Final = "-fg"

OTHERS: Final = (
    Style("#0b5fa5", "#6cb4f2", SOLID, "o"),
    Style("#b8431a", "#f08a5d", DASHED, "s"),
    Style("#00805e", "#3fcfa5", DOTTED, "^"),
    Style("#7a4b9d", "#c39ae0", DASH_DOTTED, "D"),
    Style("#b57f00", "#e8b93c", SOLID, "v"),
    Style("#50565f", "#c3c9d1", DASHED, "P"),
    Style("#c2257a", "#f27fb8", DOTTED, "X"),
    Style("#00757f", "#45c4cf", DASH_DOTTED, "o"),
    Style("#5c6b00", "#b3c24a", SOLID, "s"),
    Style("#8c5a3c", "#c9977a", DASHED, "^"),
)
"""For lines that are no transports."""

PLAIN: Final = Style(MUTED, DARK[MUTED], SOLID, ".")  # for marks of no sender, such as a queue, and for backgrounds
STAR: Final = Style(MUTED, DARK[MUTED], SOLID, "*")  # a number of a paper, in no line's colour
HOLDS: Final = Style("#00805e", "#3fcfa5", SOLID, "o")
FAILS: Final = Style("#b8431a", "#f08a5d", SOLID, "X")
OPEN: Final = Style(MUTED, DARK[MUTED], SOLID, "D", is_hollow=True)  # undecided


def transport_style(name: str, position: int = 0) -> Style:
    """Return how a line is drawn: a transport the same in every picture, else by its position among the lines."""
    plain = name.removesuffix(FINE_GRAINED)
    known = TRANSPORT_STYLES.get(plain) or _unlisted().get(plain)
    if known is None:
        return OTHERS[position % len(OTHERS)]
    if plain == name:
        return known
    return replace(known, dashes=DOTTED if known.dashes == SOLID else DASH_DOTTED, is_hollow=True)


def transport_styles(names: Sequence[str]) -> dict[str, Style]:
    """Return how the lines of one picture are drawn, those that are no transports unlike those that are."""
    known = {name: transport_style(name) for name in names if is_transport(name)}
    taken = {(each.colour, each.marker) for each in known.values()}
    free = [each for each in OTHERS if (each.colour, each.marker) not in taken]
    others = (name for name in names if name not in known)
    drawn = known | {name: free[position % len(free)] for position, name in enumerate(others)}
    return {name: drawn[name] for name in names}


def is_transport(name: str) -> bool:
    """Return whether a name is one of the register, or that of a sender with a look of its own."""
    plain = name.removesuffix(FINE_GRAINED)
    return plain in TRANSPORT_STYLES or plain in _unlisted()


@cache
def _unlisted() -> Mapping[str, Style]:
    """Return the looks of transports without an entry in `LOOKS`."""
    return next_styles([row["names"] for row in json.loads(_core.transports())])


def next_styles(families: Iterable[Sequence[str]]) -> Mapping[str, Style]:
    """
    Return looks for the names that `LOOKS` lacks: a colour for each family, and markers that are free in it.

    `families`: the names of a transport with each of its ends, in the order of the register. The order decides, so that
    a transport which is added at its end changes no other.
    """
    free = {shade.colour: [*POLYGONS] for shade in OTHERS}
    for each in (*TRANSPORT_STYLES.values(), *OTHERS):
        free[each.colour] = [marker for marker in free.get(each.colour, ()) if marker != each.marker]
    unlisted = [missing for names in families if (missing := [name for name in names if name not in TRANSPORT_STYLES])]
    shades = [OTHERS[number % len(OTHERS)] for number in range(len(unlisted))]
    return {
        name: replace(shade, dashes=dashes, marker=free[shade.colour].pop(0))
        for names, shade in zip(unlisted, shades, strict=True)
        for name, dashes in zip(names, (SOLID, DASHED, DASH_DOTTED), strict=False)
    }


def dark_colours() -> Mapping[str, str]:
    """Return the colour on a dark background for every colour that pictures use."""
    return DARK | {each.colour: each.dark for each in (*TRANSPORT_STYLES.values(), *OTHERS)}


POLYGONS: Final[Mapping[str, tuple[int, float, float, float]]] = {
    "^": (3, -90, 1, 1.5),
    "v": (3, 90, 1, 1.5),
    "<": (3, 180, 1, 1.5),
    ">": (3, 0, 1, 1.5),
    "D": (4, 0, 1, 1.25),
    "s": (4, 45, 1, 1.25),
    "p": (5, -90, 1, 1.15),
    "h": (6, -90, 1, 1.1),
    "*": (5, -90, 0.42, 1.25),
    "P": (4, -90, 0.45, 1.5),
    "X": (4, 45, 0.45, 1.5),
}
"""
Markers with corners: how many, the direction of the first in degrees, how far those between them lie, and the radius
with which they are as large as a circle.
"""
STROKED: Final[Mapping[str, str]] = {"x": "M-1,-1L1,1M-1,1L1,-1", "+": "M-1,0L1,0M0,-1L0,1", "_": "M-1,0L1,0"}
"""Markers that are lines."""
CIRCLE: Final = "M{0},0A{0},{0},0,1,1,-{0},0A{0},{0},0,1,1,{0},0Z"


def shape(marker: str, scale: float = 1.0) -> str:
    """Return the path of a marker with that radius, as SVG has it."""
    if marker in STROKED:
        return STROKED[marker].replace("1", f"{scale:g}")
    if marker not in POLYGONS:
        return CIRCLE.format(f"{scale:g}")
    corners, first, between, larger = POLYGONS[marker]
    radii = (1.0,) if between == 1 else (1.0, between)
    parts = corners * len(radii)
    around = []
    for part in range(parts):
        length, turn = radii[part % len(radii)] * scale * larger, math.radians(first + 360 * part / parts)
        around.append(f"{length * math.cos(turn):.3g},{length * math.sin(turn):.3g}")
    return f"M{'L'.join(around)}Z"
