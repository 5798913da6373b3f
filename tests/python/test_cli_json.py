"""Output of the sub-commands as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from earlybird.cli.application import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Finished

    Program = Callable[..., Finished]

OTHERS = {"top", "web", "kernel run", "kernel watch"}
"""One draws a table that moves, one serves pages, one has the output of another program, and one prints only JSON."""
STUDY = "how-long"
DELIVERIES = "measure.deliveries=true"


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401, click has no stubs here
    for word, command in getattr(group, "commands", {}).items():
        yield from commands(command, f"{name} {word}".strip())
    if not hasattr(group, "commands"):
        yield name, group


def test_every_sub_command_prints_json_if_asked_to() -> None:
    without = {
        name
        for name, command in commands(get_command(application))
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == OTHERS


def test_a_new_scenario_and_a_picture_are_printed_as_json(earlybird: Program) -> None:
    assert json.loads(earlybird("new", "mine.toml", "--json").out) == {"path": "mine.toml", "template": "dsl"}
    kept = earlybird("run", "mine.toml", "--set", "duration=12s", "--set", DELIVERIES, "--output", "results")
    folder = kept.out.partition("Result kept in ")[2].split()[0]
    drawn = json.loads(earlybird("plot", folder, "--output", "run.svg", "--json").out)
    assert drawn["path"] == "run.svg"
    assert any("measure.series" in sentence for sentence in drawn["lacking"])


def test_the_schema_is_json_with_and_without_the_option(earlybird: Program) -> None:
    assert json.loads(earlybird("schema", "--json").out) == json.loads(earlybird("schema").out)


def test_runs_and_verdicts_of_a_study_are_printed_as_json(earlybird: Program) -> None:
    costs = json.loads(earlybird("study", "run", STUDY, "--dry-run", "--json").out)
    assert [row["study"] for row in costs] == [STUDY, "together"]
    made = json.loads(earlybird("study", "run", STUDY, "--jobs", 1, "--json").out)
    counts = {"runs": costs[0]["runs"], "made": costs[0]["runs"], "awaited": 0}
    assert made == {"studies": [STUDY], "scale": "smoke", "output": "results", **counts}
    (report,) = json.loads(earlybird("study", "report", STUDY, "--json").out)
    assert (report["study"], report["missing"]) == (STUDY, 0)
    assert report["page"] == f"reports/{STUDY}-smoke/index.html"
    assert {row["holds"] for row in report["verdicts"]} <= {
        "yes",
        "no",
        "undecided",
        "not testable",
        "reported",
        "not run",
    }


@pytest.mark.slow
def test_the_site_and_the_publication_are_printed_as_json(earlybird: Program) -> None:
    earlybird("study", "run", STUDY, "--jobs", 1)
    for line, page in ((("report", "all"), "reports/all-smoke/index.html"), (("publish",), "docs/results/README.md")):
        printed = json.loads(earlybird("study", *line, "--scale", "smoke", "--json").out)
        assert printed["page"] == page
        assert any(row["study"] == STUDY and row["verdict"] != "not run" for row in printed["verdicts"])
