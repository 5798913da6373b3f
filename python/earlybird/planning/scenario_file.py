"""A plan's line and film as a scenario, to change and to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from earlybird.emulation import RANDOM
from earlybird.loading import toml_value
from earlybird.outputs import SCENARIO, write_output
from earlybird.planning.session import scenario

if TYPE_CHECKING:
    from pathlib import Path

    from earlybird.planning.planner import Plan


def text(plan: Plan) -> str:
    """Write the session of the chosen sender as a scenario in TOML, with what was found in front."""
    candidate = plan.choice.candidate
    document = scenario(plan.path, plan.stream, candidate, plan.choice.sender_delay if candidate.has_deadline else None)
    if len(plan.path.starts(plan.stream.run_length)) > 1:
        document["network"]["links"][0]["trace-start"] = RANDOM
    facts = [f"# {fact}" for fact in plan.path.facts]
    lines = [f"{key} = {toml_value(value)}" for key, value in document.items()]
    return "\n".join([SCENARIO.decode(), *facts, *lines, ""])


def write(plan: Plan, path: str | Path) -> None:
    """Write the scenario to a file."""
    write_output(path, text(plan))
