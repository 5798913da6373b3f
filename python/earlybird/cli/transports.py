"""`earlybird transports`: which transports there are."""

from dataclasses import asdict
from typing import Annotated

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.plain import show_json

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
    from earlybird.cli.display import show_transport, show_transports
    from earlybird.transports import recoveries, transport, transports

    if name is None and json:
        lists = ([asdict(one) for one in transports()], [asdict(one) for one in recoveries()])
        show_json(dict(zip(("transports", "recoveries"), lists, strict=True)))
    elif name is None:
        show_transports(transports(), recoveries())
    elif json:
        show_json(asdict(transport(name)))
    else:
        show_transport(transport(name))
