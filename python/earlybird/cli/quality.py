"""`earlybird quality`: how good the films of a run were for their viewers."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import echo, show_json
from earlybird.errors import InputError, because
from earlybird.lazy import LateModule
from earlybird.quantities import parse_duration

if TYPE_CHECKING:
    from earlybird import quality
    from earlybird import result as results
else:
    quality = LateModule("earlybird.quality")
    results = LateModule("earlybird.result")

NAME = "quality"
EXAMPLES = examples(
    "earlybird run scenarios/obs-ingest.toml --output results",
    "earlybird quality results/KEY",
    "earlybird quality results/KEY --json --cmcd cmcd.json --p1203 p1203.json",
)


def command(
    result: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="A result's folder, as `run --output` names it, of a run with `measure.deliveries`.",
            show_default=False,
        ),
    ],
    *,
    startup_delay: Annotated[
        str, typer.Option(metavar="TIME", help="From the writing of the first frame to its playing.")
    ] = "2s",
    resolution: Annotated[
        str, typer.Option(metavar="WxH", help="Picture size, for P.1203; runs have none.")
    ] = "1920x1080",
    cmcd: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write what players would report each second (CTA-5004).")
    ] = None,
    p1203: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the input of ITU-T P.1203, mode 0.")
    ] = None,
    score: Annotated[
        bool, typer.Option("--score", help="Score by ITU-T P.1203, if its reference software is installed.")
    ] = False,
    json: Json = False,
) -> None:
    """Print startup delay, stalls, live latency, bit rate and switches of every film of a run that was kept."""
    check_resolution(resolution)
    shown = quality.viewings(results.Result.load(result), startup_delay=duration_of(startup_delay))
    inputs = {viewing.flow: viewing.p1203(resolution=resolution) for viewing in shown}
    rows = [viewing.quality().to_dict() for viewing in shown]
    if score:
        rows = [{**row, "p1203_o46": round(quality.score(inputs[row["flow"]]), 3)} for row in rows]
    if json:
        show_json(rows)
    else:
        show(rows)
    for what, file, content in (
        ("CMCD", cmcd, {viewing.flow: viewing.cmcd() for viewing in shown} if cmcd else None),
        ("Input of P.1203", p1203, inputs),
    ):
        if file:
            write(file, content)
            if not json:
                echo(f"{what} written to {file}")


def duration_of(text: str) -> float:
    """Read a duration."""
    length = parse_duration(text)
    if length is None:
        raise InputError(
            f"startup-delay: `{text}` is no duration; allowed: a number with its unit, such as 2s or 500ms."
        )
    return length


def check_resolution(text: str) -> None:
    """Raise InputError if a text is no picture size."""
    parts = text.split("x")
    if len(parts) != 2 or not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise InputError(f"resolution: `{text}` is no picture size; allowed: width and height, such as 1920x1080.")


def show(rows: list[dict[str, Any]]) -> None:
    """Print a line per flow, with the latency beside a score."""
    for row in rows:
        stalls = f"{row['stalls']} stalls, {row['stalled_s']:.2f} s ({100 * row['stall_ratio']:.1f} %)"
        rate = "no bit rate" if row["bitrate_bps"] is None else f"{row['bitrate_bps'] / 1e6:.2f} Mb/s"
        latency = "none" if row["live_latency_s"] is None else f"{row['live_latency_s']:.2f} s"
        text = (
            f"{row['flow']}: startup delay {row['startup_delay_s']:.2f} s; {stalls}; live latency {latency}; {rate}, "
            f"{row['switches']} switches; {row['frames_dropped']} frames dropped"
        )
        echo(text + (f"; P.1203 {row['p1203_o46']:.2f} at that latency" if "p1203_o46" in row else ""))


def write(file: Path, content: object) -> None:
    """Write JSON, or report why that is impossible."""
    try:
        file.write_text(json_module.dumps(content, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {file}: {because(error)}.") from error
