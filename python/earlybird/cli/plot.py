"""`earlybird plot`: the picture of a run that was kept."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.plain import say, say_aside
from earlybird.result import Result

NAME = "plot"
EXAMPLES = examples(
    "earlybird run scenarios/vbr-video.toml --set measure.series=10ms --set measure.deliveries=true --out results",
    "earlybird plot results/KEY --out run.png",
)


def command(
    result: Annotated[
        Path,
        typer.Argument(metavar="RESULT", help="The folder of a result, as `run --out` names it.", show_default=False),
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="FILE.png|svg|html", help="The file to draw to.")],
) -> None:
    """Draw a run of any world over time: windows, round-trip times, the bottleneck's queue, and arrivals."""
    for lacking in Result.load(result).plot(out):
        say_aside(lacking)
    say(f"Picture written to {out}")
