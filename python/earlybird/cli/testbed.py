"""`earlybird testbed`: real players over this machine's TCP."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Json, Parallel, examples
from earlybird.cli.error_boundary import FAILED, guarded
from earlybird.cli.output import complain, echo, echo_status, show_json
from earlybird.lazy import LateModule
from earlybird.paths import RESULTS

if TYPE_CHECKING:
    from earlybird.cli import display
    from earlybird.plots import run as run_plot
    from earlybird.testbed import batch, definition, picture, report
    from earlybird.testbed import needs as bed_needs
else:
    display = LateModule("earlybird.cli.display")
    run_plot = LateModule("earlybird.plots.run")
    batch = LateModule("earlybird.testbed.batch")
    definition = LateModule("earlybird.testbed.definition")
    bed_needs = LateModule("earlybird.testbed.needs")
    picture = LateModule("earlybird.testbed.picture")
    report = LateModule("earlybird.testbed.report")

application = typer.Typer(
    name="testbed",
    help="Play films with VLC and Chromium over this machine's TCP and emulated links.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def run(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The test bed, as TOML.", show_default=False)],
    *,
    output: Annotated[
        Path, typer.Option(metavar="DIR", help="Results folder; plays that are there are not repeated.")
    ] = (RESULTS),
    parallel: Parallel = 1,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png|svg|html", help="Draw the windows and the stalls to this file.")
    ] = None,
    json: Json = False,
) -> None:
    """
    Play a film over every sender with every client, several times.

    A control run over a link without limits comes first. Plays are kept as they
    are made: after an interruption the same command resumes.
    """
    if plot:
        run_plot.check_ending(plot)
    done = batch.run_testbed(file, parallel=parallel, output=output, progress=True, report=echo_status)
    if json:
        show_json({"cells": report.rows(done.plays), "plays": done.plays.runs.to_dicts(), "problems": done.problems})
    else:
        display.show_testbed(report.rows(done.plays))
        echo(f"{len(done.plays.planned)} plays, {done.plays.made} of them made now. Results kept in {output}")
    for problem in done.problems:
        complain(f"warning: {problem}")
    if plot:
        picture.draw(done.plays, plot)


def check(*, json: Json = False) -> None:
    """List the programs that this machine lacks for a test bed, and how to install them."""
    found = [*bed_needs.needs(definition.CLIENTS), bed_needs.rights(), bed_needs.senders()]
    if json:
        show_json([need._asdict() for need in found])
    else:
        for need in found:
            echo(f"{'ok     ' if need.is_there else 'missing'}  {need.name}: {need.why}")
        for hint in dict.fromkeys(need.hint for need in found if not need.is_there):
            echo(f"hint: {hint}")
    if not all(need.is_there for need in found):
        raise typer.Exit(FAILED)


application.command(
    "run",
    epilog=examples("earlybird testbed run studies/kernel-testbed/film.toml --output my-results"),
)(guarded(run))
application.command("check", epilog=examples("earlybird testbed check"))(guarded(check))
