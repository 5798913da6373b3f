"""`earlybird web`: the plan in a browser."""

from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.cli.arguments import examples
from earlybird.cli.output import complain, echo
from earlybird.cli.signals import is_terminated
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird.web import server
else:
    server = LateModule("earlybird.web.server")

NAME = "web"
EXAMPLES = examples("earlybird web --open")


def command(
    *,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to serve at; others can reach any but 127.0.0.1.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="Port; 0 takes a free one.")] = 8600,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """
    Make plans in a browser.

    A page on this machine asks for a film and a line, on which measurement files can be dropped, and shows what
    `earlybird plan` prints and draws; settings and scenario can be downloaded. Ctrl-C ends it.
    """
    if not server.is_loopback(host):
        complain(f"warning: host = {host}: whoever reaches this address can use this machine to compute plans.")
    try:
        server.serve(host, port, opens=open_browser, report=_report)
    except KeyboardInterrupt as interruption:
        if is_terminated(interruption):
            raise


def _report(address: str) -> None:
    echo(f"Plans at {address} (Ctrl-C ends it)")
