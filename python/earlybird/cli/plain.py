"""What the sub-commands print without tables: messages, and JSON for programs."""

import json
from typing import Any

import typer

from earlybird.files import finite


def say(message: str) -> None:
    """Print one message."""
    typer.echo(message)


def show_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print a document, or rows, as JSON."""
    clean = finite(document) if isinstance(document, dict) else [finite(row) for row in document]
    typer.echo(json.dumps(clean, indent=2, ensure_ascii=False))
