"""
Output of the sub-commands other than tables: messages, and JSON for programs.

With `print` and not with `typer.echo`, which writes UTF-8 to a stream whose encoding is ASCII.
"""

import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird.cli.streams import is_unicode
from earlybird.formatting import visible
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import files
else:
    files = LateModule("earlybird.files")


def echo(message: str) -> None:
    """Print one message."""
    print(message, flush=True)


def rest_text(awaited: int, output: Path) -> str:
    """Return a message of how many runs of other shards are missing, and how results are merged."""
    if not awaited:
        return f"All other shards are in {output} too: the same command without --shard shows all."
    return (
        f"{awaited} runs of other shards have no result in {output} yet; results made elsewhere are copied into "
        "it. The same command without --shard shows all, and makes what is missing."
    )


def echo_status(message: str) -> None:
    """Print one message on the error stream, beside what programs read."""
    print(message, file=sys.stderr, flush=True)


def complain(message: str) -> None:
    """Print one message on the error stream."""
    echo_status(f"earlybird: {visible(message)}")


def show_outcome(document: dict[str, Any], *messages: str, json: bool) -> None:
    """Print what a sub-command did: with ``--json`` as a document, else as messages."""
    if json:
        show_json(document)
    else:
        echo("\n".join(messages))


def show_json(document: dict[str, Any] | list[dict[str, Any]]) -> None:
    """Print a document, or rows, as JSON."""
    clean = files.finite(document) if isinstance(document, dict) else [files.finite(row) for row in document]
    echo(json_module.dumps(clean, indent=2, ensure_ascii=not is_unicode(sys.stdout.encoding)))
