"""
Write docs/gallery.md from the notebooks of docs/notebooks; without ``--check`` run them too, for their pictures.

A notebook is read and run as what it is, cells of Markdown and Python: no other program is needed.
"""

import ast
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from earlybird.notebook import Picture
from generated import REPOSITORY, write_or_check

DOCS = REPOSITORY / "docs"
HEAD = """\
# Gallery

Written by `make gallery` from the notebooks of `docs/notebooks`, which tests run. Jupyter runs each without changes, in
any folder; scenarios and film are part of the program.
"""


class Cell(NamedTuple):
    """A cell of a notebook."""

    is_code: bool
    text: str


def main() -> int:
    """Write the pictures and the page, or with ``--check`` compare the page; return the exit code."""
    if "--check" not in sys.argv:
        for path in notebooks():
            draw(path)
    return write_or_check(DOCS / "gallery.md", "\n".join([HEAD, *map(section, notebooks())]), "make gallery")


def notebooks() -> list[Path]:
    """List the notebooks."""
    return sorted((DOCS / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[Cell]:
    """Read a notebook."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return [Cell(cell["cell_type"] == "code", "".join(cell["source"])) for cell in document["cells"]]


def shown(path: Path) -> Iterator[object]:
    """Run a notebook in the working folder; yield what each of its cells shows."""
    names: dict[str, object] = {}
    for cell in (cell for cell in cells(path) if cell.is_code):
        *body, last = ast.parse(cell.text).body
        if not isinstance(last, ast.Expr):
            raise TypeError(f"{path.name}: a cell shows nothing: {cell.text}")
        exec(compile(ast.Module(body, []), path.name, "exec"), names)
        yield eval(compile(ast.Expression(last.value), path.name, "eval"), names)


def draw(path: Path) -> None:
    """Run a notebook in a folder of its own, and keep the picture with which it ends."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        *_, last = shown(path)
        os.chdir(REPOSITORY)
    if not isinstance(last, Picture):
        raise TypeError(f"{path.name} does not end with a picture")
    (DOCS / picture(path)).write_bytes(last._repr_png_())


def picture(path: Path) -> str:
    """Return the path of a notebook's picture below docs/."""
    return f"images/gallery-{path.stem}.png"


def section(path: Path) -> str:
    """Write a notebook as a part of the page."""
    # A notebook's title stands below that of the page.
    parts = [
        f"```python\n{cell.text}\n```" if cell.is_code else re.sub("^# ", "## ", cell.text) for cell in cells(path)
    ]
    title = cells(path)[0].text.splitlines()[0].lstrip("# ")
    end = f"![{title}]({picture(path)})\n\nThe notebook: [{path.name}](notebooks/{path.name})."
    return "\n\n".join([*parts, end]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
