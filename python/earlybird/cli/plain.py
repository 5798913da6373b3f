"""
What the sub-commands print without tables: messages, and JSON for programs.

With `print` and not with `typer.echo`, which writes UTF-8 to a stream whose encoding is ASCII.
"""

import json
import sys
from typing import Any

from earlybird.cli.streams import is_unicode
from earlybird.files import finite


def say(message: str) -> None:
    """Print one message."""
    print(message, flush=True)


def say_aside(message: str) -> None:
    """Print one message on the error stream, beside what programs read."""
    print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """Print one message on the error stream."""
    say_aside(f"earlybird: {message}")


def show_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print a document, or rows, as JSON."""
    clean = finite(document) if isinstance(document, dict) else [finite(row) for row in document]
    say(json.dumps(clean, indent=2, ensure_ascii=not is_unicode(sys.stdout.encoding)))
