"""The notebooks of the gallery run from beginning to end, and show something."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from earlybird.notebook import Picture

sys.path.insert(0, str(REPOSITORY / "tools"))

from gallery import DOCS, notebooks, picture, shown

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_runs_in_whatever_folder_and_ends_with_a_picture(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    *tables, last = shown(path)
    assert all(hasattr(table, "_repr_html_") for table in tables)
    assert isinstance(last, Picture)
    assert last.lacking == ()
    assert (DOCS / picture(path)).exists()


@pytest.mark.parametrize("path", notebooks(), ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_gave(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
