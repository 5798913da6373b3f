"""Errors for bad input: one paragraph, exit code 2, never a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]


def complaint(finished: Finished) -> str:
    """Return the one line on the error stream of a run that failed as it should."""
    assert finished.code == 2, finished
    assert finished.out == ""
    assert finished.err.startswith("earlybird: ")
    assert finished.err.count("\n") == 1
    return finished.err


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        pytest.param("duraton=5s", ["duraton", "duration"], id="unknown key"),
        pytest.param("network.dumbbell.bottleneck.delay=5Mb/s", ["delay", "5Mb/s", "ms"], id="wrong unit"),
        pytest.param("duration=5", ["duration", "5", "s"], id="no unit"),
        pytest.param("network.dumbbell.bottleneck.rate=-1Mb/s", ["rate", "-1Mb/s", "Mb/s"], id="negative rate"),
        pytest.param("endpoint.window=0", ["endpoint.window", "0"], id="zero window"),
        pytest.param("transport=sakc", ["sakc", "did you mean `sack`"], id="unknown transport"),
        pytest.param("transport=pert-re", ["pert-re", "did you mean `pert-er`"], id="unknown transport"),
        pytest.param("flows.video.to=nowhere", ["to", "nowhere"], id="unknown node"),
        pytest.param("no-equals-sign", ["no-equals-sign", "key=value"], id="no equals sign"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(
    earlybird: Program, small: Path, setting: str, words: list[str]
) -> None:
    message = complaint(earlybird("run", small, "--set", setting))
    for word in words:
        assert word in message


def test_a_network_without_a_route_is_refused(earlybird: Program, tmp_path: Path) -> None:
    scenario = tmp_path / "islands.toml"
    scenario.write_text(
        """
        duration = "5s"
        endpoint = { transport = "sack" }
        network = { links = [{ from = "a", to = "b", rate = "1Mb/s", delay = "1ms" },
                             { from = "c", to = "d", rate = "1Mb/s", delay = "1ms" }] }
        flows = [{ name = "file", from = "a", to = "d", application = { bulk = {} } }]
        """.replace("\n                ", " "),
        encoding="utf-8",
    )
    message = complaint(earlybird("run", scenario))
    assert "route" in message
    assert "`a`" in message or " a " in message


def test_broken_syntax_is_located(earlybird: Program, tmp_path: Path) -> None:
    scenario = tmp_path / "broken.toml"
    scenario.write_text('duration = "5s\n', encoding="utf-8")
    assert "line 1" in complaint(earlybird("validate", scenario))


def test_a_missing_scenario_is_named(earlybird: Program) -> None:
    assert "cannot read the scenario absent.toml: No such file" in complaint(earlybird("run", "absent.toml"))


def test_a_binary_file_is_no_scenario(earlybird: Program, tmp_path: Path) -> None:
    (tmp_path / "picture.toml").write_bytes(b"\x89PNG\xff")
    assert "not text in UTF-8" in complaint(earlybird("validate", "picture.toml"))


def test_a_folder_is_no_scenario(earlybird: Program, tmp_path: Path) -> None:
    assert "Is a directory" in complaint(earlybird("validate", tmp_path))


@pytest.mark.parametrize("seed", ["-1", str(2**64)])
def test_a_seed_out_of_range_is_refused(earlybird: Program, small: Path, seed: str) -> None:
    assert f"seed = {seed}" in complaint(earlybird("run", small, "--seed", seed))


@pytest.mark.parametrize("sub_command", ["run", "sweep"])
def test_an_output_folder_that_cannot_be_made_is_refused(earlybird: Program, small: Path, sub_command: str) -> None:
    message = complaint(earlybird(sub_command, small, "--output", small / "results"))
    assert "cannot write to the results folder" in message
    assert "a part of the path is a file" in message


@pytest.mark.parametrize("option", ["--trace-out", "--pcap"])
def test_a_trace_that_cannot_be_written_is_refused(earlybird: Program, small: Path, option: str) -> None:
    message = complaint(earlybird("run", small, option, small / "below-a-file"))
    assert "below-a-file" in message


def test_a_trace_on_a_full_disk_is_refused(earlybird: Program, small: Path) -> None:
    assert "No space left" in complaint(earlybird("run", small, "--trace-out", "/dev/full"))


def test_a_traced_flow_that_does_not_exist_is_named(earlybird: Program, small: Path, tmp_path: Path) -> None:
    message = complaint(earlybird("run", small, "--trace-out", tmp_path / "t.csv", "--trace-flow", "vidoe0"))
    assert "vidoe0" in message


def test_an_unknown_sub_command_gets_the_nearest_name(earlybird: Program) -> None:
    finished = earlybird("swep")
    assert finished.code == 2
    assert "Did you mean 'sweep'?" in finished.err


@pytest.mark.parametrize("sub_command", ["run", "report"])
def test_a_study_that_does_not_exist_gets_the_nearest_name(earlybird: Program, sub_command: str) -> None:
    message = complaint(earlybird("study", sub_command, "early-retransmision"))
    assert "did you mean 'early-retransmission'" in message
