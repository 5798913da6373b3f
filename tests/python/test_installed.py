"""The installed program in an empty folder works as in its repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import earlybird as package
from conftest import HUNG, REPOSITORY, command
from earlybird.paths import SHIPPED, found, shipped_file, templates

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Finished

    Program = Callable[..., Finished]

HEAVY = {"polars", "numpy", "scipy", "vl_convert", "av", "optuna", "distributed", "rich.console"}


def loaded_by(folder: Path, line: list[str], **environment: str) -> str:
    """Run the program and tell which of the heavy packages it loaded."""
    check = (
        f"import sys, atexit; sys.argv = {['earlybird', *line]}; "
        f"atexit.register(lambda: print(sorted({HEAVY} & {{*sys.modules}}), file=sys.stderr)); "
        "from earlybird.cli import main; main()"
    )
    reported = [sys.executable, "-c", check]
    done = subprocess.run(
        reported, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.stdout
    return done.stderr.strip()


@pytest.mark.parametrize(
    "line",
    [["--help"], ["run", "--help"], ["sweep", "--help"], ["study", "--help"], ["plan", "--help"]],
    ids=["program", "run", "sweep", "group", "plan"],
)
def test_help_loads_nothing_heavy(tmp_path: Path, line: list[str]) -> None:
    assert loaded_by(tmp_path, line) == "[]"


@pytest.mark.parametrize(
    ("words", "number"),
    [("earlybird st", 1), ("earlybird run --se", 2), ("earlybird study run ea", 3), ("earlybird plan --profile ", 3)],
    ids=["command", "option", "study", "network"],
)
def test_completion_loads_nothing_heavy(tmp_path: Path, words: str, number: int) -> None:
    asked = {"_EARLYBIRD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
    assert loaded_by(tmp_path, [], **asked) == "[]"


def test_everything_that_is_shipped_is_part_of_the_repository() -> None:
    for folder in ("scenarios", "studies"):
        assert (SHIPPED / folder).resolve() == REPOSITORY / folder
    assert all(path.resolve() == REPOSITORY / "media" / path.name for path in (SHIPPED / "media").iterdir())
    for name in ("CITATION.cff", "LICENSE-APACHE", "LICENSE-MIT"):
        assert (SHIPPED / name).resolve() == REPOSITORY / name


def shipped() -> set[str]:
    """List the files below `SHIPPED`, in links too."""
    return {
        Path(folder, name).relative_to(SHIPPED.parents[2]).as_posix()
        for folder, _, names in os.walk(SHIPPED, followlinks=True)
        for name in names
    }


def test_a_wheel_gets_every_file_that_is_shipped() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["maturin"]
    assert all(set(entry["format"]) == {"sdist", "wheel"} for entry in settings["include"])
    included = {
        path.relative_to(REPOSITORY).as_posix()
        for entry in settings["include"]
        for path in REPOSITORY.glob(entry["path"])
        if path.is_file()
    }
    assert shipped() - included == set()
    assert included - shipped() == set()


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the source distribution, and unpack its package with this one's compiled part."""
    maturin = Path(sys.executable).with_name("maturin")
    if not maturin.exists():
        pytest.skip("maturin is not installed beside this Python")
    folder = tmp_path_factory.mktemp("unpacked")
    line = [str(maturin), "sdist", "--out", str(folder)]
    environment = os.environ | {"CARGO_NET_OFFLINE": "true"}
    subprocess.run(line, cwd=REPOSITORY, env=environment, capture_output=True, check=True, timeout=HUNG)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    python = next(folder.glob("*/python"))
    shutil.copy(str(package._core.__file__), python / "earlybird")
    return python


def test_the_source_distribution_has_every_file_of_the_package(unpacked: Path) -> None:
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "python/earlybird"]
    known = subprocess.run(listed, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout.split()
    expected = {name for name in known if (REPOSITORY / name).is_file()} | shipped()
    packed = {path.relative_to(unpacked.parent).as_posix() for path in unpacked.rglob("*") if path.is_file()}
    assert expected - packed == set()
    assert {name for name in packed - expected if "_core" not in name} == set()


@pytest.mark.parametrize(
    "line",
    [
        "study list",
        "new mine.toml --template dsl",
        "run scenarios/fall-floyd-1996.toml --plot run.png",
        "run scenarios/cellular.toml --set duration=6s",
        "run scenarios/vbr-video.toml --set duration=1s",
        "study run burst-loss --dry-run",
        "plan media/test-clip.mp4 --rate 20Mb/s --rtt 60ms --loss 1% --seeds 2 --duration 10s",
        "transports cubic",
    ],
    ids=lambda line: "-".join(line.split()[:2]).replace("/", "-"),
)
def test_what_is_distributed_works_without_the_repository(unpacked: Path, tmp_path: Path, line: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    done = subprocess.run(
        command(*line.split()),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=HUNG,
    )
    assert done.returncode == 0, done.stderr
    assert str(REPOSITORY) not in done.stdout + done.stderr


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


def test_the_demonstration_ends_with_an_answer_a_picture_and_the_next_command(tmp_path: Path) -> None:
    done = subprocess.run(command("demo"), cwd=tmp_path, capture_output=True, text=True, check=True)
    cubic, bbr, _, answer, picture, _, following = done.stdout.splitlines()[-7:]
    assert "of 10 viewers have stalls" in cubic
    assert re.search(r"BBR +all viewers can watch without stalls if they wait [0-9.]+ s", bbr)
    assert answer.startswith("Answer:  use BBR on the server, and buffer ")
    assert picture.startswith("Picture: reports/demo.gif ")
    assert following.strip().startswith("earlybird plan ")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert (tmp_path / "reports" / "demo.gif").stat().st_size > 10_000
