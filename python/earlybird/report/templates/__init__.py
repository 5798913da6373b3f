"""The templates of pages, and how they are filled."""

import json
from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from earlybird.plots.style import dark_colours
from earlybird.report.statements import PLURAL, SYMBOLS, WORDS, item_anchor


def rendered(template: str, context: Mapping[str, object]) -> str:
    """
    Fill a template.

    Parameters
    ----------
    template
        The file's name.
    context
        What it speaks of.

    Returns
    -------
    str
        HTML.
    """
    environment = Environment(
        loader=PackageLoader("earlybird.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        words=WORDS, plural=PLURAL, symbols=SYMBOLS, anchor=item_anchor, dark_colours=as_json(dark_colours())
    )
    return environment.get_template(template).render(context)


def as_json(value: object) -> Markup:
    """Write JSON so that it can stand in a page's script element."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))
