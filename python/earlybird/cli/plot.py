"""`earlybird plot`: the picture of a run that was kept, or of what a relay or an emulated network was at."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import echo_status, show_outcome
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import result as results
    from earlybird.plots import states
else:
    states = LateModule("earlybird.plots.states")
    results = LateModule("earlybird.result")

NAME = "plot"
EXAMPLES = examples(
    "earlybird run scenarios/vbr-video.toml --set measure.series=10ms --set measure.deliveries=true --output results",
    "earlybird plot results/KEY --output run.png",
    "earlybird plot results/KEY --flow video3 --flow file0 --output run.png",
    "earlybird plot states.jsonl --output stream.html",
)


def command(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="A result's folder, as `run --output` prints it, or the --statistics of `transmit` or `emulate`.",
            show_default=False,
        ),
    ],
    *,
    output: Annotated[Path, typer.Option(metavar="FILE.png|svg|html", help="The file to draw to.")],
    flow: Annotated[
        list[str] | None,
        typer.Option(metavar="FLOW", help="A flow to draw; may be given several times.", show_default="four that last"),
    ] = None,
    json: Json = False,
) -> None:
    """Draw a run of any backend over time: windows, round-trip times, the bottleneck's queue, and arrivals."""
    lacking: tuple[str, ...] = ()
    if result.is_file():
        states.save(result, output)
    else:
        lacking = results.Result.load(result).plot(output, flows=flow).lacking
    for sentence in lacking:
        echo_status(sentence)
    show_outcome({"path": str(output), "lacking": lacking}, f"Picture written to {output}", json=json)
