"""`earlybird validate`: whether a scenario is valid."""

import json as json_module

from earlybird.backends import check_backend
from earlybird.cli.arguments import Json, ScenarioFile, Settings, examples, overrides
from earlybird.cli.plain import say, show_json
from earlybird.description import resolve, warn_about

NAME = "validate"
EXAMPLES = examples(
    "earlybird validate my-scenario.toml",
    "earlybird validate scenarios/dumbbell.toml --set transport=pert-er --json",
)


def command(scenario: ScenarioFile, *, settings: Settings = None, json: Json = False) -> None:
    """Check a scenario; with --json print it complete, with all parameters and defaults filled in."""
    text = resolve(scenario, overrides(settings))
    check_backend(text)
    warn_about(text)
    resolved = json_module.loads(text)
    if json:
        show_json(resolved)
        return
    groups = [f"{flow.get('count', 1)} × {flow['name']}" for flow in resolved["flows"]]
    say(f"{scenario} is valid: {resolved['duration']} with the flows {', '.join(groups)}.")
