"""Makes published plots small: what takes room in pictures and tables, and nobody sees, goes."""

import re
from collections import Counter
from collections.abc import Mapping
from math import floor, inf, log10
from pathlib import Path

import polars as pl

DIGITS = 6
"""Significant digits of numbers without an interval."""
INTERVAL = ("value", "low", "high")
"""Columns of a number and of its interval, whose half-width decides how many digits mean something."""

NO_TURN = re.compile(r' transform="rotate\(-0 [^"]*\)"')
METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)
NAME = re.compile(r' id="([^"]*)"')
REFERENCE = re.compile(r'(?<=href="#)[^"]+|(?<=url\(#)[^)]+')
PATH = re.compile(r'(?<= d=")[^"]*')
STYLE = re.compile(r' style="([^"]*)"')
HUNDREDTHS = re.compile(r'(\d\.\d)\d+(?=[ "])')
"""Places in an SVG: tenths of a point are seen, hundredths are not."""
PLAIN_GROUP = re.compile(r"<g>((?:(?!</?g\b).)*)</g>")


def make_smaller(folder: Path) -> None:
    """
    Make the pictures and tables of a folder, and of those in it, smaller.

    Parameters
    ----------
    folder
        Of a publication.
    """
    for path in sorted(folder.rglob("*.svg")):
        path.write_text(smaller_picture(path.read_text(encoding="utf-8")), encoding="utf-8")
    for path in sorted(folder.rglob("*.csv")):
        table = pl.read_csv(path, infer_schema_length=None, raise_if_empty=False)
        if table.width:
            rounded(table).write_csv(path)


def smaller_picture(picture: str) -> str:
    """
    Write an SVG of matplotlib's shorter: it looks the same.

    Parameters
    ----------
    picture
        An SVG.

    Returns
    -------
    str
        Each style said once, short names for what is referred to, no group of which nothing is said, one line.
    """
    for without in (NO_TURN, METADATA):
        picture = without.sub("", picture)
    picture = re.sub(r"\s*\n\s*", " ", re.sub(r">\s+<", "><", picture))
    picture = HUNDREDTHS.sub(r"\1", _styled_once(_named_shortly(picture)))
    picture = PATH.sub(lambda path: _shorter_path(path[0]), picture)
    while (fewer := PLAIN_GROUP.sub(r"\1", picture)) != picture:
        picture = fewer
    return picture


def _named_shortly(picture: str) -> str:
    """Return what is referred to short names, and nothing else. `href` alone is SVG 2, which every browser reads."""
    names = {name: f"r{number}" for number, name in enumerate(dict.fromkeys(REFERENCE.findall(picture)))}
    picture = NAME.sub(lambda name: f' id="{names[name[1]]}"' if name[1] in names else "", picture)
    return REFERENCE.sub(lambda name: names[name[0]], picture).replace("xlink:href", "href")


def _shorter_path(path: str) -> str:
    """Write a path without spaces around commands, and, where all is straight, without saying so at each corner."""
    path = re.sub(r"\s*([A-Za-z])\s*", r"\1", path.replace(".0 ", " ")).strip()
    is_straight = not re.search(r"[^-MLz0-9. ]", path)
    return path.replace("L", " ") if is_straight else path


def _styled_once(picture: str) -> str:
    """Give each style that several elements have a class."""
    counted = Counter(STYLE.findall(picture)).most_common()
    names = {style: f"c{number}" for number, (style, count) in enumerate(counted) if count > 1}
    rules = "".join(f".{name}{{{style}}}" for style, name in names.items())

    def named(style: re.Match[str]) -> str:
        return f' class="{names[style[1]]}"' if style[1] in names else style[0]

    return STYLE.sub(named, picture).replace("</style>", f"{rules}</style>", 1)


def rounded(table: pl.DataFrame) -> pl.DataFrame:
    """
    Round the numbers of a table to what they say.

    Parameters
    ----------
    table
        Any; the columns `value`, `low` and `high` belong together, where all are there.

    Returns
    -------
    pl.DataFrame
        Numbers with an interval end with the second digit of its half-width, all others with the sixth of their own.
    """
    numbers = [name for name, kind in table.schema.items() if kind.is_float()]
    if not all(name in numbers for name in INTERVAL):
        return table.with_columns(pl.col(numbers).round_sig_figs(DIGITS))
    told = pl.struct(INTERVAL).map_elements(_within, return_dtype=pl.Struct(dict.fromkeys(INTERVAL, pl.Float64)))
    others = pl.col([name for name in numbers if name not in INTERVAL]).round_sig_figs(DIGITS)
    return table.with_columns(others, *(told.struct.field(name).alias(name) for name in INTERVAL))


def _within(told: Mapping[str, float | None]) -> dict[str, float | None]:
    """Round a number and its interval."""
    low, high = told["low"], told["high"]
    half = (high - low) / 2 if low is not None and high is not None else 0.0
    return {name: None if number is None else _shorter(number, half) for name, number in told.items()}


def _shorter(number: float, half: float) -> float:
    """Round a number whose interval reaches so far to each side, or that has none."""
    return round(number, 1 - floor(log10(half))) if 0.0 < half < inf else float(f"{number:.{DIGITS}g}")
