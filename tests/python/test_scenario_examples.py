"""Each example of the scenario reference is one."""

from __future__ import annotations

import json
import sys
import tomllib
from typing import TYPE_CHECKING, Any, Final

import pytest

from conftest import REPOSITORY
from earlybird import schema
from earlybird.loading import resolve

sys.path.insert(0, str(REPOSITORY / "tools"))

from scenario_reference import examples, written

if TYPE_CHECKING:
    from pathlib import Path

BASE: Final = tomllib.loads("""
duration = "60s"
endpoint.profile = "linux"
network.dumbbell.bottleneck = { rate = "20Mb/s", delay = "15ms", queue = { packets = 50 } }
network.dumbbell.access = { rate = "1Gb/s", delay = "1ms" }

[[flows]]
name = "film"
from = "left"
to = "right"
application = { cbr = { rate = "96kb/s", packet = 200 } }
""")
"""Parts that examples leave out."""

FILES: Final = {
    "frames.txt": "9000\n1200\n1500\n",
    "times.txt": "0 I 0 9000\n1 P 40 1200\n2 P 80 1500\n",
    "opportunities.txt": "1\n2\n4\n",
}
"""Files that examples name."""


def alternatives(node: dict[str, Any]) -> list[str]:
    """List the words and keys between which a choice is made."""
    choices = node.get("oneOf", [])
    keys = [key for choice in choices for key in choice.get("properties", {})]
    return [*keys, *(choice["const"] for choice in choices if "const" in choice)]


def whole(part: dict[str, Any]) -> dict[str, Any]:
    """Put a part of a scenario into a whole one; what it leaves out of a dumbbell is taken from there too."""
    network = part.get("network", {})
    if "dumbbell" in network:
        network = {"dumbbell": {**BASE["network"]["dumbbell"], **network["dumbbell"]}}
    return {**BASE, **part, "network": network or BASE["network"]}


@pytest.mark.parametrize("name", examples())
def test_an_example_is_part_of_a_scenario(name: str, tmp_path: Path) -> None:
    for file, content in FILES.items():
        (tmp_path / file).write_text(content, encoding="utf-8")
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(whole(tomllib.loads(examples()[name]))), encoding="utf-8")
    assert resolve(scenario) != resolve(BASE)


def test_every_table_and_choice_has_an_example() -> None:
    document = json.loads(schema())
    # A plugin that another test has loaded into this process has a table.
    assert sorted(examples()) == sorted({*document["$defs"], "Scenario"} - {"PluginTable"})


def test_an_example_has_a_key_or_a_word_of_its_table() -> None:
    document = json.loads(schema())
    for name, node in {**document["$defs"], "Scenario": document}.items():
        words = [*node.get("properties", {}), *alternatives(node)]
        assert not words or name not in written() or any(word in written()[name] for word in words), name
