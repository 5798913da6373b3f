"""Examples of docstrings, which the page of the Python API shows, and the names on that page."""

from __future__ import annotations

import doctest
import importlib
import re
from typing import TYPE_CHECKING

import pytest

import earlybird
from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = REPOSITORY / "python" / "earlybird"
PAGE = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
WITH_EXAMPLES = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    """Return the name of the module of a file."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("name", [module_of(path) for path in WITH_EXAMPLES])
def test_an_example_of_a_docstring_gave_another_result(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.attempted > 0
    assert result.failed == 0


def test_a_public_name_was_missing_on_the_page_of_the_python_api() -> None:
    shown = set(re.findall(r"^::: earlybird\.(\w+)", PAGE, re.MULTILINE))
    assert shown == set(earlybird.__all__) - {"Scenario", "__version__"}
