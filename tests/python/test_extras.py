"""Without the optional packages `transmit` and `run` work, and what needs one says which extra to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import pytest

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird.extras import EXTRAS, MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

OPTIONAL: Final = sorted(EXTRAS)
SCENARIO: Final = """
duration = "2s"
network.dumbbell.bottleneck = { rate = "5Mb/s", delay = "15ms", queue = { packets = 30 } }
network.dumbbell.access = { rate = "10Mb/s", delay = "5ms" }
flows = [{ name = "file", from = "left", to = "right", transport = "sack", application.bulk = {} }]
"""


def without_extras(
    folder: Path, *arguments: str, missing: Sequence[str] = OPTIONAL
) -> subprocess.CompletedProcess[str]:
    """Run the program in a Python that finds none of the optional packages, or not those that are `missing`."""
    code = f"import sys\nfor name in {[*missing]!r}: sys.modules[name] = None\nfrom earlybird.cli import main\nmain()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=60)


def test_every_extra_is_one_of_the_project() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])
    required = {entry.split(">")[0].split("[")[0] for entry in project["dependencies"]}
    assert not required & {"av", "jinja2", "optuna", "plotly", "scipy", "vl-convert-python"}


def test_a_run_needs_no_extra(tmp_path: Path) -> None:
    (tmp_path / "file.toml").write_text(SCENARIO, encoding="utf-8")
    done = without_extras(tmp_path, "run", "file.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Scenario" in done.stdout


def test_transmit_needs_no_extra(tmp_path: Path) -> None:
    (tmp_path / "clip.ts").write_bytes(bytes([0x47, *bytes(187)]) * 70)
    done = without_extras(tmp_path, "transmit", "file:clip.ts", "file:copy.ts")
    assert "not installed" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["plan", str(REPOSITORY / "media" / "test-clip.mp4"), "--rate", "20Mb/s", "--rtt", "60ms"], "media"),
        (["run", "file.toml", "--plot", "run.png"], "plots"),
        (["study", "report", "all"], "studies"),
        (["web"], "web"),
    ],
)
def test_a_command_that_lacks_a_package_names_its_extra(tmp_path: Path, arguments: list[str], extra: str) -> None:
    (tmp_path / "file.toml").write_text(SCENARIO, encoding="utf-8")
    done = without_extras(tmp_path, *arguments)
    assert done.returncode == 2
    assert f"pip install 'earlybird[{extra}]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_film_without_the_drawing_package_is_refused_before_any_session(tmp_path: Path) -> None:
    film = ["plan", "--bitrate", "1Mb/s", "--rate", "20Mb/s", "--rtt", "60ms", "--watch", "seen.gif"]
    done = without_extras(tmp_path, *film, missing=["vl_convert"])
    assert done.returncode == 2
    assert "`pip install 'earlybird[plots]'` installs it" in " ".join(done.stderr.split())
    assert "sessions" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(find_spec("pandas") is not None, reason="pandas is installed")
def test_tables_without_pandas_reported_a_package_of_arrow() -> None:
    result = earlybird.run(SMALL)
    with pytest.raises(MissingPackageError, match=r"needs the package pandas, .* `pip install pandas` installs it"):
        result.to_pandas()


def test_tables_for_pandas_take_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pandas.py").write_text("DataFrame = dict\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    result = earlybird.run(SMALL)
    columns = result.to_pandas("lateness")
    assert [*columns] == result.lateness.columns
    assert columns["group"].tolist() == result.lateness["group"].to_list()
    monkeypatch.delitem(sys.modules, "pandas")
