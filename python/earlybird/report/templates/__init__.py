"""The templates of pages, and how they are filled."""

import json
import re
from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from earlybird.plots.style import dark_colours
from earlybird.report.statements import PLURAL, SYMBOLS, WORDS, item_anchor
from earlybird.study.language.names import spaced
from earlybird.study.runs.plan import seeds_text

MARKDOWN = re.compile(r"[\\`*_|\[\]<>~$]")  # characters with a meaning in Markdown, as GitHub renders it
ENTITIES = {"<": "&lt;", ">": "&gt;"}  # characters that the documentation's site shows with their backslash


def rendered(template: str, context: Mapping[str, object]) -> str:
    """Fill a template of HTML or Markdown, by its suffix before ``.j2``, with the context escaped."""
    environment = Environment(
        loader=PackageLoader("earlybird.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=as_markdown if template.endswith(".md.j2") else None,
    )
    environment.globals.update(
        words=WORDS,
        plural=PLURAL,
        symbols=SYMBOLS,
        anchor=item_anchor,
        spaced=spaced,
        seeds_text=seeds_text,
        dark_colours=as_json(dark_colours()),
    )
    return environment.get_template(template).render(context)


def as_markdown(value: object) -> Markup:
    """Write a value in one line of Markdown that shows it as it is; what is `Markup` already stays."""
    if isinstance(value, Markup):
        return value
    plain = str(value).replace("\n", " ")
    return Markup(MARKDOWN.sub(lambda found: ENTITIES.get(found[0], f"\\{found[0]}"), plain))


def as_json(value: object) -> Markup:
    """Write JSON so that it can stand in a page's script element."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))
