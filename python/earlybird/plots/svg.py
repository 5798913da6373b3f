"""Figures as SVG that sits in a page: its text is text, and its colours follow the page's light or dark scheme."""

import io
import re

from matplotlib.figure import Figure

from earlybird.plots.style import dark_colours, styled

LEAN = (
    (r"<metadata>.*?</metadata>", ""),
    (r"<style.*?</style>", ""),
    (r'(<svg[^>]*?) width="([\d.]+)pt" height="[\d.]+pt"', r'\1 style="max-width: calc(\2rem / 10)"'),
    (r"font: (\d+) ([\d.]+px)[^;\"]*", r"font-weight: \1; font-size: \2"),
    (r"font: ([\d.]+px)[^;\"]*", r"font-size: \1"),
    (r"font-family: [^;\"]*;?", ""),
    (r' transform="rotate\(-0 [^)]*\)"', ""),
    (r" +id=\"[^\"]*_\d+\"", ""),
    (r"\s*\n\s*", " "),
)
"""Patterns in matplotlib's SVG, and what to put in their place."""


def inline_svg(figure: Figure, name: str) -> str:
    """
    Write a figure as an ``svg`` element for a page.

    Parameters
    ----------
    figure
        The figure.
    name
        Unique on the page: leads the identifiers inside, which would clash otherwise.

    Returns
    -------
    str
        The element, with `colour_rules`' classes in place of fixed colours.
    """
    buffer = io.StringIO()
    with styled():
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    element = buffer.getvalue()
    element = _lean(element[element.index("<svg") :])
    element = re.sub(r'(id="|url\(#|href="#)', lambda match: f"{match[1]}{name}-", element)
    return _coloured(element)


def _lean(element: str) -> str:
    """Leave out what a page has no use for: sizes, fonts, style sheets, needless digits and white space."""
    for pattern, replacement in LEAN:
        element = re.sub(pattern, replacement, element, flags=re.DOTALL)
    # Only places and sizes, which stand inside of tags; what can be read keeps its digits.
    return re.sub(r"<[^>]*>", lambda tag: _rounded(tag[0]), element)


def _rounded(tag: str) -> str:
    return re.sub(r"\d+\.\d{3,}", lambda match: f"{float(match[0]):.2f}", tag)


def colour_rules() -> tuple[str, str]:
    """
    Write the CSS variables that the figures' colours come from.

    Returns
    -------
    tuple
        Declarations for the light and the dark scheme.
    """
    colours = dark_colours()
    light = "".join(f"{_variable(colour)}:{colour};" for colour in colours)
    dark = "".join(f"{_variable(colour)}:{other};" for colour, other in colours.items())
    return light, dark


def _coloured(element: str) -> str:
    for colour in dark_colours():
        element = element.replace(colour, f"var({_variable(colour)})")
    return element


def _variable(colour: str) -> str:
    return f"--plot-{colour.removeprefix('#')}"
