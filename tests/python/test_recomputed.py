"""The tables of a run are what its packets say: every column is computed a second time, by other code."""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from recomputation import compare, draw, runs

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = REPOSITORY / "tests" / "python" / "recomputation"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [-1, 7, 22])
def test_every_column_is_what_the_packets_give(seed: int, tmp_path: Path) -> None:
    found = list(compare.deviations(runs.run(draw.scenario(seed), abs(seed), tmp_path)))
    assert not [one for one in found if not one.is_allowed]
    assert len({(one.table, one.column) for one in found}) > 40


def test_the_second_computation_uses_no_code_of_the_package() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [name for name in names if name.split(".")[0] == "earlybird"], path


def test_a_column_is_computed_a_second_time_or_has_a_reason() -> None:
    register = tomllib.loads((REPOSITORY / "python" / "earlybird" / "metrics.toml").read_text(encoding="utf-8"))
    tables = {"summary": register["summary"], **register["tables"]}
    for name, described in compare.described().items():
        assert set(tables[name]["entries"]) == set(described), f"recomputation/columns.toml, table {name}"
        assert all(("how" in one) != ("reason" in one) for one in described.values())
    # Tables of one study, and of runs in real time.
    assert set(tables) - set(compare.described()) == {"bursts", "added_delay"}


def test_a_deviation_is_seen(tmp_path: Path) -> None:
    run = runs.run(draw.scenario(23), 23, tmp_path)
    assert not [one for one in compare.deviations(run) if not one.is_allowed]
    links = run.tables["links"]
    run.tables["links"] = links.with_columns(packets_in=links["packets_in"] + 1)
    assert {one.column for one in compare.deviations(run) if not one.is_allowed} == {"packets_in"}
