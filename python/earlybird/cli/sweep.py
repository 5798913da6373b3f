"""`earlybird sweep`: all runs of a scenario's grid and seeds."""

from typing import TYPE_CHECKING

from earlybird.cli.arguments import (
    Dask,
    Jobs,
    Json,
    Output,
    Parallel,
    ScenarioFile,
    Settings,
    ShardOption,
    examples,
    overrides,
)
from earlybird.cli.output import echo, rest_text, show_json
from earlybird.lazy import LateModule
from earlybird.paths import RESULTS

if TYPE_CHECKING:
    from earlybird import sweeps
    from earlybird.cli import display
else:
    display = LateModule("earlybird.cli.display")
    sweeps = LateModule("earlybird.sweeps")

NAME = "sweep"
EXAMPLES = examples(
    'earlybird sweep scenarios/dumbbell.toml --set \'sweep.grid.transport=["sack","sack-er"]\' --set sweep.seeds=5',
    "earlybird sweep my-scenario.toml --jobs 2 --output my-results",
    "earlybird sweep my-scenario.toml --shard 2/4",
    "earlybird sweep my-scenario.toml --dask tcp://10.0.0.1:8786",
)


def command(
    scenario: ScenarioFile,
    *,
    settings: Settings = None,
    jobs: Jobs = None,
    parallel: Parallel = 1,
    output: Output = RESULTS,
    shard: ShardOption = None,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """
    Simulate every combination of a scenario's sweep.grid with every one of its sweep.seeds.

    Results are kept as they come. After an interruption the same command resumes.
    """
    result = sweeps.sweep(
        scenario,
        overrides=overrides(settings),
        jobs=jobs,
        parallel=parallel,
        output=output,
        progress=True,
        shard=shard,
        dask=dask,
    )
    if json:
        show_json(result.runs.to_dicts())
        return
    if shard is None:
        display.show_sweep(result)
    echo(f"{len(result.planned)} runs, {result.made} of them made now. Results kept in {output}")
    if shard is not None:
        echo(rest_text(result.awaited, output))
