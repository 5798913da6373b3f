"""`earlybird compare`: what the viewers of a film see under several transports."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import Jobs, Json, Settings, examples, overrides
from earlybird.cli.plain import say, show_json
from earlybird.paths import REPORTS, RESULTS

NAME = "compare"
EXAMPLES = examples(
    "earlybird compare --media media/test-clip.mp4",
    "earlybird compare --media holiday.mkv --scale-to clip --pairs 8 --transport sack --transport pert-er",
    "earlybird compare --media holiday.mkv --set endpoint.profile=rfc --transport cubic --transport bbr-rack",
    "earlybird compare --media holiday.mkv --network my-network.toml --duration 300s --seeds 5 --json",
)


def command(
    *,
    media: Annotated[Path, typer.Option(metavar="CLIP", help="The film: any video file that FFmpeg reads.")],
    network: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="Any scenario with flows named `video`: the film, repeated to the end, replaces their application.",
            show_default="scenarios/compare.toml",
        ),
    ] = None,
    transport: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A transport to compare. May be given several times.",
            show_default="sack, sack-er, pert, pert-er",
        ),
    ] = None,
    scale_to: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Mean rate to scale the film to, or `clip` for its own.", show_default="300kb/s"
        ),
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Video flows, and as many file transfers beside them.")
    ] = None,
    duration: Annotated[str | None, typer.Option(metavar="TIME", help="Simulated time, such as 300s.")] = None,
    settings: Settings = None,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="Runs per transport.")] = None,
    jobs: Jobs = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder; runs that are there are not repeated.")] = (
        RESULTS
    ),
    plot: Annotated[Path, typer.Option(metavar="FILE", help="Where the picture goes, without its suffix.")] = (
        REPORTS / "compare"
    ),
    json: Json = False,
) -> None:
    """Stream your own film under several transports, and print what its viewers would see."""
    from earlybird.compare import DEFAULT_RATE, DEFAULT_TRANSPORTS, compare_media

    comparison = compare_media(
        media,
        network=network,
        transports=transport or DEFAULT_TRANSPORTS,
        scale_to=scale_to or DEFAULT_RATE,
        pairs=pairs,
        duration=duration,
        overrides=overrides(settings),
        seeds=seeds,
        jobs=jobs,
        out=out,
        progress=True,
    )
    if json:
        show_json(comparison.to_dict())
        return
    from earlybird.cli.display import show
    from earlybird.compare_plot import save_plot
    from earlybird.compare_view import render

    show(render(comparison))
    say(f"Picture: {', '.join(map(str, save_plot(comparison, plot)))}")
