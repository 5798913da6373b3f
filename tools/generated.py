"""Files that are written from the JSON schema or from results, and kept in the repository."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def write_or_check(target: Path, text: str, command: str) -> int:
    """Write a generated file; with ``--check`` return 1 if it is out of date, and say the command that helps."""
    if "--check" not in sys.argv:
        target.write_text(text, encoding="utf-8")
    elif not target.exists() or text != target.read_text(encoding="utf-8"):
        print(f"{target} is not what it is written from: run `{command}`", file=sys.stderr)
        return 1
    return 0


def row(*cells: str) -> str:
    """Write one row of a table in Markdown."""
    return "| " + " | ".join(cell.replace("\n", " ").replace("|", "\\|") for cell in cells) + " |"
