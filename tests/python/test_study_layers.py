"""The layers of `study/`: each imports only from those before it, and only at module level."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STUDY: Final = REPOSITORY / "python" / "earlybird" / "study"
LAYERS: Final = ("language", "runs", "reductions", "statements", "search", "evaluation", "archive")


def layer_of(module: str) -> str:
    """Return the layer of a module of studies; the empty string for any other module."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["earlybird", "study"] and len(parts) > 2 else ""


def files() -> Iterator[tuple[str, Path, ast.Module]]:
    """Yield layer, path and syntax tree of each file but the package's `__init__.py`, which exports names."""
    for path in STUDY.rglob("*.py"):
        inside = path.relative_to(STUDY)
        if inside.as_posix() != "__init__.py":
            yield inside.parts[0].removesuffix(".py"), path, ast.parse(path.read_text(encoding="utf-8"))


def test_every_layer_is_listed() -> None:
    assert {layer for layer, _, _ in files()} == set(LAYERS)


def test_a_layer_imports_only_from_those_before_it() -> None:
    for layer, path, tree in files():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                # Reports depend on studies, not the reverse; an archive contains both.
                assert layer == "archive" or not node.module.startswith("earlybird.report"), path
                other = layer_of(node.module)
                if other:
                    assert LAYERS.index(other) <= LAYERS.index(layer), (path, node.module)


def test_nothing_is_imported_within_a_function() -> None:
    for _, path, tree in files():
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            assert not [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)], path
