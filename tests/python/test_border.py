"""Scenarios and errors across the border to Rust."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest
import typer

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird import InternalError, ScenarioError, _core
from earlybird.cli.error_boundary import INTERNAL, guarded
from earlybird.loading import resolve
from earlybird.outputs import Outputs
from earlybird.runs import panics

if TYPE_CHECKING:
    from pathlib import Path


class ParseCounter:
    """Stands in for `_core.ResolvedScenario` and counts the scenarios that are parsed."""

    def __init__(self) -> None:
        self.count = 0
        self._class = _core.ResolvedScenario

    def __call__(self, *arguments: Any) -> _core.ResolvedScenario:  # noqa: ANN401, as of the class
        """Parse."""
        self.count += 1
        return self._class(*arguments)


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> ParseCounter:
    """Count the scenarios that are parsed."""
    counter = ParseCounter()
    monkeypatch.setattr("earlybird.loading.parsed", counter)
    return counter


def test_a_run_parses_its_scenario_once(parses: ParseCounter, tmp_path: Path) -> None:
    outputs = Outputs(trace=tmp_path / "trace.csv", qlog=tmp_path / "run.qlog")
    earlybird.run(SMALL, outputs=outputs, plot=tmp_path / "run.svg", output=tmp_path / "results")
    assert parses.count == 1


def test_a_sweep_parses_a_scenario_per_point(parses: ParseCounter, tmp_path: Path) -> None:
    earlybird.sweep(SMALL, grid={"pairs": [1, 2]}, seeds=2, jobs=1, output=tmp_path)
    assert parses.count == 3, "the scenario with its grid, and each point"


def test_every_shipped_scenario_survives_its_json_and_a_pickle() -> None:
    for path in sorted((REPOSITORY / "scenarios").glob("*.toml")):
        scenario = resolve(path)
        copy = pickle.loads(pickle.dumps(scenario))
        assert copy == scenario
        assert hash(copy) == hash(scenario)
        assert copy.to_json() == scenario.to_json() == resolve(scenario.to_dict()).to_json()


def test_equal_scenarios_are_one_key() -> None:
    first, same, other = resolve(SMALL), resolve(SMALL), resolve(SMALL, {"pairs": 3})
    assert len({first, same, other}) == 2


def test_an_error_names_the_file_and_the_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    lines = SMALL.splitlines()
    number = next(place for place, line in enumerate(lines, 1) if line.startswith("duration"))
    lines[number - 1] = 'duration = "5 parsecs"'
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"^.*broken\.toml:\d+: duration: `5 parsecs`") as raised:
        resolve(path)
    assert f":{number}: " in str(raised.value)
    assert raised.value.path == "duration"


def test_a_value_of_the_command_line_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "fine.toml"
    path.write_text(SMALL, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"^duration: `5 parsecs`"):
        resolve(path, {"duration": "5 parsecs"})


def test_runs_write_no_unknown_file() -> None:
    class Unknown:
        files, flows = {"diary": "diary.txt"}, list[str]()

    with pytest.raises(ValueError, match="runs write no file `diary`"):
        resolve(SMALL).output_warnings(Unknown())


def test_every_output_is_known_to_rust(tmp_path: Path) -> None:
    for name in Outputs.kinds():
        resolve(SMALL).estimate(1e12, Outputs(**{name: tmp_path / name}))  # type: ignore[arg-type]


def test_a_panic_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match=r"^this is a bug in earlybird: requested panic\.$"), panics():
        _core._panic()


def test_a_panic_ends_the_program_with_a_message_and_a_code(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as raised:
        guarded(_core._panic)()
    assert raised.value.exit_code == INTERNAL
    assert "earlybird: this is a bug in earlybird: requested panic." in capfd.readouterr().err
