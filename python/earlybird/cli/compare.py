"""`earlybird compare`: your own film under several transports."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Jobs, Json, examples
from earlybird.paths import RESULTS

if TYPE_CHECKING:
    from earlybird.compare import Comparison

NAME = "compare"
EXAMPLES = examples(
    "earlybird compare --media media/test-clip.mp4",
    "earlybird compare --media film.mp4 --transport sack --transport sack-er-fg --seeds 5",
    "earlybird compare --media film.mkv --scale-to clip --network scenarios/dumbbell.toml --duration 200s --json",
)


def command(
    *,
    media: Annotated[Path, typer.Option(metavar="CLIP", help="The film: any file with a video stream.")],
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="The network: any scenario with a group of flows named `video`. The film takes the place of their "
            "application and is repeated to the end; all else stays.",
            show_default="scenarios/compare.toml",
        ),
    ] = None,
    transport: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A transport of the video flows. May be given several times.",
            show_default="sack, sack-er, pert, pert-er",
        ),
    ] = None,
    scale_to: Annotated[
        str, typer.Option(metavar="RATE", help="Scale the frames to this mean rate; `clip` leaves them as they are.")
    ] = "300kb/s",
    pairs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Video flows, and file transfers beside them: the parameter `pairs`."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time, such as 300s.", show_default="the network's")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs of each transport.", show_default="the network's, or 1")
    ] = None,
    jobs: Jobs = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the runs and the picture.")] = RESULTS,
    json: Json = False,
) -> None:
    """Stream a film through the same network under several transports, and say what its viewers would see."""
    from earlybird.compare import DEFAULT_TRANSPORTS, compare_media

    comparison = compare_media(
        media,
        network=network,
        transports=transport or DEFAULT_TRANSPORTS,
        scale_to=scale_to,
        pairs=pairs,
        duration=duration,
        seeds=seeds,
        jobs=jobs,
        out=out,
        progress=True,
    )
    show(comparison, save_picture(comparison, network, out), json=json)


def save_picture(comparison: "Comparison", network: Path | None, out: Path) -> list[Path]:
    """Draw the comparison below the results folder, named after the film and the network."""
    from earlybird.compare_plot import save_plot

    name = comparison.source.path.stem + (f"-{network.stem}" if network else "")
    return save_plot(comparison, out / "compare" / name)


def show(comparison: "Comparison", pictures: list[Path], *, json: bool) -> None:
    """Print the comparison, for people or for programs."""
    from earlybird.cli.display import say, show_json

    if json:
        show_json({**comparison.to_dict(), "pictures": [str(picture) for picture in pictures]})
        return
    from rich.console import Console

    from earlybird.compare_view import render

    Console().print(render(comparison))
    say(f"picture: {' and '.join(str(picture) for picture in pictures)}")
