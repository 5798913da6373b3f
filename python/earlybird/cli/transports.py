"""`earlybird transports`: which transports there are."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import show_json
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import transports as register
    from earlybird.cli import display
else:
    display = LateModule("earlybird.cli.display")
    register = LateModule("earlybird.transports")

NAME = "transports"
EXAMPLES = examples("earlybird transports", "earlybird transports cubic", "earlybird transports --json")


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Show the parameters of this one.", show_default=False)
    ] = None,
    *,
    json: Json = False,
) -> None:
    """List the transports: what each is, where it is described, and its parameters."""
    if name is None and json:
        lists = ([asdict(one) for one in register.transports()], [asdict(one) for one in register.recoveries()])
        show_json(dict(zip(("transports", "recoveries"), lists, strict=True)))
    elif name is None:
        display.show_transports(register.transports(), register.recoveries())
    elif json:
        show_json(asdict(register.transport(name)))
    else:
        display.show_transport(register.transport(name))
