"""The program and its sub-commands."""

from typing import Annotated

import typer

from earlybird import __version__
from earlybird.cli import (
    assess,
    bench,
    compare,
    demo,
    emulate,
    kernel,
    new,
    plan,
    plot,
    quality,
    run,
    schema,
    serve,
    study,
    sweep,
    testbed,
    top,
    transmit,
    transports,
    validate,
    web,
)
from earlybird.cli.arguments import examples, take_plugins
from earlybird.cli.error_boundary import guarded

application = typer.Typer(
    name="earlybird",
    help="Simulates live video over TCP and measures the benefit of early retransmission.",
    epilog=examples(
        "earlybird run scenarios/dumbbell.toml --set pairs=28 --set transport=sack-er",
        "earlybird study run early-retransmission --scale smoke",
        "earlybird plan media/test-clip.mp4 --rate 20Mb/s --rtt 60ms --loss 1%",
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help is plain text: drawing it would load 200 modules
    context_settings={"help_option_names": ["-h", "--help"]},
)

SIMULATING = (run, plan, sweep, validate, transports, compare, assess)
"""Sub-commands that take ``--plugin``."""

for module in (
    demo,
    new,
    run,
    plan,
    web,
    plot,
    quality,
    sweep,
    validate,
    schema,
    transports,
    compare,
    assess,
    emulate,
    transmit,
    serve,
    top,
    bench,
):
    taken = take_plugins(module.command) if module in SIMULATING else module.command
    application.command(module.NAME, epilog=module.EXAMPLES)(guarded(taken))
application.add_typer(study.application)
application.add_typer(kernel.application)
application.add_typer(testbed.application)


def _print_version(wanted: bool) -> None:  # noqa: FBT001, typer's form of a callback
    if wanted:
        typer.echo(f"earlybird {__version__}")
        raise typer.Exit


@application.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Parse the options before a sub-command."""
