"""`earlybird validate`: whether a scenario is valid."""

from earlybird.cli.arguments import Json, ScenarioFile, Settings, examples, overrides
from earlybird.cli.output import show_outcome
from earlybird.loading import resolve, warn_about

NAME = "validate"
EXAMPLES = examples(
    "earlybird validate my-scenario.toml",
    "earlybird validate scenarios/dumbbell.toml --set transport=pert-er --json",
)


def command(scenario: ScenarioFile, *, settings: Settings = None, json: Json = False) -> None:
    """Check a scenario; with --json print it complete, with all parameters and defaults filled in."""
    resolved = resolve(scenario, overrides(settings))
    resolved.check_backend()
    warn_about(resolved)
    groups = ", ".join(f"{count} × {name}" for name, count in resolved.flow_groups)
    summary = f"{scenario} is valid: {resolved.duration} with the flows {groups}."
    show_outcome(resolved.to_dict(), summary, json=json)
