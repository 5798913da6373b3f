"""What the program needs comes with it: in an empty folder it works as in its repository."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY, command
from earlybird.paths import SHIPPED, found, shipped_file, templates

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

HEAVY = {"polars", "numpy", "scipy", "matplotlib", "plotly", "av", "optuna", "distributed", "rich.console"}


@pytest.mark.parametrize(
    "line", [["--help"], ["sweep", "--help"], ["study", "--help"]], ids=["program", "command", "group"]
)
def test_help_loads_nothing_heavy(tmp_path: Path, line: list[str]) -> None:
    check = (
        f"import sys, atexit; sys.argv[1:] = {line}; "
        f"atexit.register(lambda: print({HEAVY} & {{*sys.modules}}, file=sys.stderr)); "
        "from earlybird.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_everything_that_is_shipped_is_part_of_the_repository() -> None:
    for folder in ("scenarios", "studies"):
        assert (SHIPPED / folder).resolve() == REPOSITORY / folder
    assert all(path.resolve() == REPOSITORY / "media" / path.name for path in (SHIPPED / "media").iterdir())


def test_a_file_of_ones_own_comes_before_one_that_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = tmp_path / "scenarios" / "dumbbell.toml"
    assert found(name.relative_to(tmp_path)) == shipped_file("scenarios", "dumbbell.toml")
    name.parent.mkdir()
    name.touch()
    assert found(name.relative_to(tmp_path)) == name.relative_to(tmp_path)
    assert found(tmp_path / "media" / "test-clip.mp4") == tmp_path / "media" / "test-clip.mp4"


def test_the_examples_work_in_an_empty_folder(earlybird: Program) -> None:
    done = earlybird("validate", "scenarios/cellular.toml")
    assert (done.code, done.err) == (0, "")
    assert "is valid" in done.out


@pytest.mark.parametrize("name", templates())
def test_a_new_scenario_is_valid_and_runs(earlybird: Program, name: str) -> None:
    assert earlybird("new", "mine.toml", "--template", name).code == 0
    assert earlybird("validate", "mine.toml").err == ""
    ran = earlybird("run", "mine.toml", "--set", "duration=12s", "--json")
    assert (ran.code, ran.err) == (0, "")
    swept = earlybird("sweep", "mine.toml", "--set", "duration=12s", "--set", "sweep.seeds=1", "--jobs", 1)
    assert swept.code == 0, swept.err


def test_a_new_scenario_replaces_nothing(earlybird: Program, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("mine", encoding="utf-8")
    done = earlybird("new", "mine.toml")
    assert (done.code, done.out) == (2, "")
    assert "mine.toml is there already and is not overwritten" in done.err
    assert (tmp_path / "mine.toml").read_text(encoding="utf-8") == "mine"


def test_a_template_that_is_none_is_named_beside_those_there_are(earlybird: Program, tmp_path: Path) -> None:
    done = earlybird("new", "--template", "adsl")
    assert (done.code, list(tmp_path.iterdir())) == (2, [])
    assert "template = adsl: there is no such template; there are call, dsl, dumbbell, lte." in done.err


@pytest.mark.slow
def test_the_demonstration_makes_a_report_and_a_picture(tmp_path: Path) -> None:
    done = subprocess.run(command("demo"), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Take " in done.stdout
    assert (tmp_path / "reports" / "compare.png").is_file()
    assert (tmp_path / "reports" / "early-retransmission-smoke" / "index.html").is_file()
