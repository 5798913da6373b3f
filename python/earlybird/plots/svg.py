"""Figures as SVG that sits in a page: its text is text, and its colours follow the page's light or dark scheme."""

import io
import re

from matplotlib.figure import Figure

from earlybird.plots.style import dark_colours, styled


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
    element = element[element.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'(id="|url\(#|href="#)', lambda match: f"{match[1]}{name}-", element)
    element = re.sub(r'font: (?:(\w+) )?([\d.]+)px[^;"]*', _font, element)
    return _coloured(re.sub(r'width="[\d.]+pt" height="[\d.]+pt" ', "", element, count=1))


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


def _font(match: re.Match[str]) -> str:
    """Keep weight and size of a font; its family is the page's."""
    weight = f"font-weight: {match[1]}; " if match[1] else ""
    return f"{weight}font-size: {match[2]}px"


def _coloured(element: str) -> str:
    for colour in dark_colours():
        element = element.replace(colour, f"var({_variable(colour)})")
    return element


def _variable(colour: str) -> str:
    return f"--plot-{colour.removeprefix('#')}"
