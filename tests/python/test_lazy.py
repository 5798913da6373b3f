"""Modules that are loaded when a name of them is asked for."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from pathlib import Path


def test_a_late_module_is_loaded_by_its_first_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_load.py").write_text("answer = 42\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    late = LateModule("slow_to_load")
    assert "slow_to_load" not in sys.modules
    assert late.answer == 42
    assert "slow_to_load" in sys.modules
    monkeypatch.delitem(sys.modules, "slow_to_load")


def test_a_late_module_that_is_missing_is_so_when_it_is_asked_for() -> None:
    late = LateModule("nowhere_to_be_found")
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        _ = late.answer


def test_a_name_that_a_late_module_has_not_is_missing_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        _ = LateModule("json").nonsense


@pytest.mark.parametrize("package", ["earlybird", "earlybird.study", "earlybird.planning", "earlybird.models"])
def test_completion_listed_only_what_was_loaded(package: str) -> None:
    check = f"import sys, {package} as package; print(*dir(package)); print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    listed, is_loaded = done.stdout.splitlines()
    assert is_loaded == "False"
    public = import_module(package).__all__
    assert [name for name in listed.split() if not name.startswith("__")] == sorted(set(public) - {"__version__"})
    assert all(hasattr(import_module(package), name) for name in public)
