"""Studies go through rooms, one way: each imports only from those before it, and nothing behind a reader's back."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STUDY: Final = REPOSITORY / "python" / "earlybird" / "study"
ROOMS: Final = ("language", "runs", "reductions", "statements", "search", "evaluation", "archive")


def room_of(module: str) -> str:
    """Name the room of a module of studies; nothing for any other."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["earlybird", "study"] and len(parts) > 2 else ""


def files() -> Iterator[tuple[str, Path, ast.Module]]:
    """List the files of the rooms; the front of the package, which names what others may use, belongs to none."""
    for path in STUDY.rglob("*.py"):
        inside = path.relative_to(STUDY)
        if inside.as_posix() != "__init__.py":
            yield inside.parts[0].removesuffix(".py"), path, ast.parse(path.read_text(encoding="utf-8"))


def test_every_room_is_known() -> None:
    assert {room for room, _, _ in files()} == set(ROOMS)


def test_a_room_imports_only_from_those_before_it() -> None:
    for room, path, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                # Reports are made of studies, not studies of reports; an archive has both.
                assert room == "archive" or not node.module.startswith("earlybird.report"), path
                other = room_of(node.module)
                if other:
                    assert ROOMS.index(other) <= ROOMS.index(room), (path, node.module)


def test_nothing_is_imported_within_a_function() -> None:
    for _, path, tree in files():
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            assert not [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)], path
