"""`earlybird testbed`: real players over this machine's TCP."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import AtOnce, Json, examples
from earlybird.cli.plain import complain, say, say_aside, show_json
from earlybird.cli.rim import FAILED, guarded
from earlybird.paths import RESULTS

application = typer.Typer(
    name="testbed",
    help="Play films with VLC and Chromium over this machine's TCP and emulated links.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The test bed, as TOML.", show_default=False)],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results folder; plays that are there are not repeated.")] = (
        RESULTS
    ),
    at_once: AtOnce = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the windows and the stalls; .png, .svg or .html.")
    ] = None,
    json: Json = False,
) -> None:
    """
    Play a film over every sender with every client, several times.

    A control run over a link without limits comes first. Plays are kept as they
    are made: after an interruption the same command goes on where it stopped.
    """
    from earlybird.testbed.bed import run_testbed
    from earlybird.testbed.report import rows

    if plot:
        from earlybird.plots.run import check_ending

        check_ending(plot)
    batch = run_testbed(file, at_once=at_once, out=out, progress=True, say=say_aside)
    if json:
        show_json({"cells": rows(batch.plays), "plays": batch.plays.runs.to_dicts(), "problems": batch.problems})
    else:
        from earlybird.cli.display import show_testbed

        show_testbed(rows(batch.plays))
        say(f"{len(batch.plays.planned)} plays, {batch.plays.made} of them made now. Results kept in {out}")
    for problem in batch.problems:
        complain(f"warning: {problem}")
    if plot:
        from earlybird.testbed.picture import draw

        draw(batch.plays, plot)


def check(*, json: Json = False) -> None:
    """Say what this machine lacks for a test bed, and what installs it."""
    from earlybird.testbed.definition import CLIENTS
    from earlybird.testbed.needs import needs, rights, senders

    found = [*needs(CLIENTS), rights(), senders()]
    if json:
        show_json([need._asdict() for need in found])
    else:
        for need in found:
            say(f"{'ok     ' if need.is_there else 'missing'}  {need.name}: {need.why}")
        for hint in dict.fromkeys(need.hint for need in found if not need.is_there):
            say(f"hint: {hint}")
    if not all(need.is_there for need in found):
        raise typer.Exit(FAILED)


application.command(
    "run",
    epilog=examples("earlybird testbed run studies/kernel-testbed/film.toml --out my-results"),
)(guarded(run))
application.command("check", epilog=examples("earlybird testbed check"))(guarded(check))
