"""`earlybird run`: one run of one scenario."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.backends import Backend
from earlybird.cli.arguments import Json, ScenarioFile, Seed, Settings, examples, overrides, take_outputs
from earlybird.cli.output import echo, echo_status, show_json
from earlybird.lazy import LateModule
from earlybird.loading import DEFAULT_SEED
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from earlybird import quality, queue_hints, runs, store, window_hints
    from earlybird.cli import display
    from earlybird.result import Result
else:
    display = LateModule("earlybird.cli.display")
    quality = LateModule("earlybird.quality")
    queue_hints = LateModule("earlybird.queue_hints")
    runs = LateModule("earlybird.runs")
    store = LateModule("earlybird.store")
    window_hints = LateModule("earlybird.window_hints")

NAME = "run"
EXAMPLES = examples(
    "earlybird run scenarios/dumbbell.toml",
    "earlybird run scenarios/dumbbell.toml --set pairs=16 --set transport=pert-er --seed 3 --json",
    "earlybird run scenarios/linux-download.toml --backend live --set duration=20s",
    "earlybird run scenarios/linux-download.toml --backend kernel --set duration=20s",
    "earlybird run scenarios/vbr-video.toml --plot run.png",
    "earlybird run scenarios/fall-floyd-1996.toml --set drops=[14,28] --trace-out trace.csv --pcap packets.pcapng",
)


@take_outputs
def command(
    scenario: ScenarioFile,
    *,
    settings: Settings = None,
    seed: Seed = DEFAULT_SEED,
    backend: Annotated[
        Backend | None,
        typer.Option(
            help="The simulator, or in real time the same endpoints (live) or the TCP of Linux (kernel).",
            show_default="the scenario's, else sim",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the result in this folder, as a sub-folder of its own.")
    ] = None,
    json: Json = False,
    outputs: Outputs,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png|svg|html",
            help="Draw windows, round-trip times, the bottleneck's queue and delays over time to this file.",
        ),
    ] = None,
) -> None:
    """Run a scenario once and print its summary."""
    result = runs.run(
        scenario,
        seed=seed,
        overrides=overrides(settings),
        backend=backend,
        output=output,
        outputs=outputs,
        plot=plot,
        progress=True,
    )
    if json:
        show_json(result.summary | media_quality(result))
        return
    display.show_result(result)
    for note in (*window_hints.window_hints(result), *queue_hints.queue_hints(result)):
        echo_status(note)
    if output:
        echo(f"Result kept in {output / store.run_key(result.scenario, result.seed)}")
    for sentence in outputs.written():
        echo(sentence)
    if plot:
        echo(f"Picture written to {plot}")


def media_quality(result: "Result") -> dict[str, object]:
    """Return the quality of each film of a run that kept its deliveries, perhaps of none; else an empty dictionary."""
    if "deliveries" not in result.tables:
        return {}
    return {"quality": [viewing.quality().to_dict() for viewing in quality.shown(result)]}
