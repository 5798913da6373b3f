"""`earlybird top`: watch what runs in another terminal."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.signals import is_terminated
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import console, state_file
    from earlybird.cli import live
else:
    live = LateModule("earlybird.cli.live")
    state_file = LateModule("earlybird.state_file")
    console = LateModule("earlybird.console")

NAME = "top"
EXAMPLES = examples(
    "earlybird emulate --rate 15M --delay 45ms --statistics links.jsonl --internet -- bash",
    "earlybird top links.jsonl",
)
POLL_INTERVAL = 0.2  # seconds between two looks at the file, which grows once a second


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.jsonl",
            help="The file that `emulate` or `transmit` writes with --statistics.",
            show_default=False,
        ),
    ],
) -> None:
    """Show the state of a relay or an emulated network that runs in another terminal, until it ends or Ctrl-C."""
    try:
        with live.Screen(file.name, console.Console(), hint="Ctrl-C leaves; what is watched goes on.") as screen:
            for state in state_file.follow(file):
                if state:
                    screen.add(state)
                else:
                    screen.show()
                    time.sleep(POLL_INTERVAL)
    except KeyboardInterrupt as interruption:
        if is_terminated(interruption):
            raise
