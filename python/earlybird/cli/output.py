"""
What the sub-commands print without tables: messages, and JSON for programs.

With `print` and not with `typer.echo`, which writes UTF-8 to a stream whose encoding is ASCII.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird.cli.streams import is_unicode
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import files
else:
    files = LateModule("earlybird.files")


def say(message: str) -> None:
    """Print one message."""
    print(message, flush=True)


def say_rest(awaited: int, output: Path) -> None:
    """Print how many runs of other shards are missing, and how results are merged."""
    if awaited:
        say(
            f"{awaited} runs of other shards have no result in {output} yet; results made elsewhere are copied into "
            "it. The same command without --shard shows all, and makes what is missing."
        )
    else:
        say(f"All other shards are in {output} too: the same command without --shard shows all.")


def say_aside(message: str) -> None:
    """Print one message on the error stream, beside what programs read."""
    print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """Print one message on the error stream."""
    say_aside(f"earlybird: {message}")


def show_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print a document, or rows, as JSON."""
    clean = files.finite(document) if isinstance(document, dict) else [files.finite(row) for row in document]
    say(json.dumps(clean, indent=2, ensure_ascii=not is_unicode(sys.stdout.encoding)))
