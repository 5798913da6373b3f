"""Write docs/conformance.md, what the tests compared with the literature, from the notes that the tests leave."""

import json
import os
import sys
from itertools import groupby
from pathlib import Path

from generated import REPOSITORY, write_or_check

NOTES = Path(os.environ.get("EARLYBIRD_CONFORMANCE", REPOSITORY / "target" / "conformance"))
"""Folder of the tests' notes: one JSON object per file."""

HEAD = """# Conformance

What the tests compare with the literature, written by the tests themselves: each line stands here because a test that
makes the comparison passed. `make test` fails if this page does not fit what the tests found.
"""

COLUMNS = ("algorithm", "source", "compared", "result")


def main() -> int:
    """Write or check the page."""
    notes = [json.loads(path.read_text(encoding="utf-8")) for path in NOTES.glob("*.json")]
    notes.sort(key=lambda note: (note["area"], *(note[column] for column in COLUMNS)))
    page = [HEAD]
    for area, group in groupby(notes, key=lambda note: note["area"]):
        page.append(f"\n## {area}\n\n| algorithm | source | what was compared | result |\n| --- | --- | --- | --- |\n")
        page.extend(row(note) for note in group)
    return write_or_check(REPOSITORY / "docs" / "conformance.md", "".join(page), "python tools/conformance.py")


def row(note: dict[str, str]) -> str:
    """Return a note's line of the table."""
    return "| " + " | ".join(note[column].replace("|", "\\|") for column in COLUMNS) + " |\n"


if __name__ == "__main__":
    sys.exit(main())
