"""`earlybird sweep`: all runs of a scenario's grid and seeds."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import AtOnce, Jobs, Json, ScenarioFile, Settings, examples, overrides
from earlybird.cli.plain import say, show_json
from earlybird.paths import RESULTS
from earlybird.sweeps import sweep

NAME = "sweep"
EXAMPLES = examples(
    'earlybird sweep scenarios/dumbbell.toml --set \'sweep.grid.transport=["sack","sack-er"]\' --set sweep.seeds=5',
    "earlybird sweep my-scenario.toml --jobs 2 --out my-results",
)


def command(
    scenario: ScenarioFile,
    *,
    settings: Settings = None,
    jobs: Jobs = None,
    at_once: AtOnce = 1,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder; runs that are there are not repeated.")] = (
        RESULTS
    ),
    json: Json = False,
) -> None:
    """
    Simulate every combination of a scenario's sweep.grid with every one of its sweep.seeds.

    Results are kept as they come. After an interruption the same command goes on where it stopped.
    """
    result = sweep(scenario, overrides=overrides(settings), jobs=jobs, at_once=at_once, out=out, progress=True)
    if json:
        show_json(result.runs.to_dicts())
        return
    from earlybird.cli.display import show_sweep

    show_sweep(result)
    say(f"{len(result.planned)} runs, {result.made} of them made now. Results kept in {out}")
