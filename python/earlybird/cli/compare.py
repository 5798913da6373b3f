"""`earlybird compare`: what the viewers of a film see under several transports."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Jobs, Json, Output, Settings, examples, overrides
from earlybird.cli.output import echo, show_json
from earlybird.lazy import LateModule
from earlybird.outputs import check_outputs
from earlybird.paths import REPORTS, RESULTS

if TYPE_CHECKING:
    from earlybird import compare, compare_plot, compare_view
    from earlybird.cli import display
    from earlybird.compare import Comparison
    from earlybird.plots import run as run_plot
else:
    display = LateModule("earlybird.cli.display")
    compare = LateModule("earlybird.compare")
    compare_plot = LateModule("earlybird.compare_plot")
    compare_view = LateModule("earlybird.compare_view")
    run_plot = LateModule("earlybird.plots.run")

NAME = "compare"
EXAMPLES = examples(
    "earlybird compare --media media/test-clip.mp4",
    "earlybird compare --media holiday.mkv --set rate=16Mb/s --transport cubic-rack --transport bbr-rack",
    "earlybird compare --media holiday.mkv --scale-to 300kb/s --set endpoint.profile=ns2 --transport sack-er",
    "earlybird compare --media holiday.mkv --network my-network.toml --duration 300s --seeds 5 --json",
)


def command(
    *,
    media: Annotated[
        list[Path],
        typer.Option(
            metavar="CLIP",
            help="The film: any video file that FFmpeg reads, sound included. May be given several times.",
        ),
    ],
    network: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.toml",
            help="Any scenario with flows named `video`: the film, repeated to the end, replaces their application. "
            "May be given several times.",
            show_default="scenarios/compare.toml, a line that gives each long flow 1.4 times what the film needs",
        ),
    ] = None,
    transport: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A transport to compare. May be given several times.",
            show_default="cubic-rack, cubic-er, pert-er, bbr-rack",
        ),
    ] = None,
    scale_to: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Mean rate to scale the film to, such as 300kb/s.", show_default="the film's own"
        ),
    ] = None,
    pairs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Video flows, and as many file transfers beside them.")
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Simulated time, such as 300s.", show_default="the film's, 5 to 20 min"),
    ] = None,
    settings: Settings = None,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="Runs per transport.")] = None,
    jobs: Jobs = None,
    output: Output = RESULTS,
    plot: Annotated[Path, typer.Option(metavar="FILE.png|svg", help="Draw the comparison to this file.")] = (
        REPORTS / "compare.png"
    ),
    json: Json = False,
) -> None:
    """
    Stream your own film under several transports, print what its viewers would see, and recommend one.

    Of several films and networks, each is compared with each.
    """
    lines: list[Path | None] = [*network] if network else [None]
    cases = [(film, line) for line in lines for film in media]
    pictures = [_picture(plot, film, line, is_only=len(cases) == 1) for film, line in cases]
    _check_pictures(pictures, media, network or [])
    documents = []
    for (film, line), picture in zip(cases, pictures, strict=True):
        comparison = compare.compare_media(
            film,
            network=line,
            transports=transport or compare.DEFAULT_TRANSPORTS,
            scale_to=scale_to or compare.DEFAULT_RATE,
            pairs=pairs,
            duration=duration,
            overrides=overrides(settings),
            seeds=seeds,
            jobs=jobs,
            output=output,
            progress=True,
        )
        if json:
            documents.append(comparison.to_dict())
        else:
            show_comparison(comparison, picture)
    if json:
        show_json(documents[0] if len(documents) == 1 else documents)


def show_comparison(comparison: "Comparison", picture: Path) -> None:
    """Print the table of a comparison and draw its picture."""
    display.show(compare_view.render(comparison))
    compare_plot.save_plot(comparison, picture)
    echo(f"Picture written to {picture}")


def _picture(plot: Path, film: Path, network: Path | None, *, is_only: bool) -> Path:
    """Name the picture of one of several cases by its film and network."""
    parts = [] if is_only else [film.stem, *([network.stem] if network else [])]
    return plot.with_stem("-".join([plot.stem, *parts]))


def _check_pictures(pictures: Sequence[Path], films: Sequence[Path], networks: Sequence[Path]) -> None:
    """Check that no picture replaces one of its inputs, or another picture."""
    for picture in pictures:
        run_plot.check_ending(picture, compare_plot.ENDINGS)
    files = {f"plot ({number})": picture for number, picture in enumerate(pictures, 1)}
    inputs = {f"film {film}": film for film in films} | {f"network {network}": network for network in networks}
    check_outputs(files, inputs)
