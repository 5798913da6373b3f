"""Where errors become one paragraph and an exit code."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from earlybird.errors import EarlybirdError, ScenarioError, because

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 2
INTERRUPTED = 130


class Rim(TyperGroup):
    """The outermost command: what is raised inside ends here."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401, typer keeps the context's type to itself
        """Run the sub-command."""
        return at_the_rim(lambda: super(Rim, self).invoke(ctx))


def at_the_rim(work: Callable[[], Any]) -> Any:  # noqa: ANN401, whatever the work returns
    """
    Do the work; turn what can go wrong into a message.

    Raises
    ------
    typer.Exit
        With 2 after an error a person can put right, 130 after Ctrl-C. Anything else is a fault of the program and
        passes through.
    """
    try:
        return work()
    except KeyboardInterrupt as error:
        raise _fail(str(error) or "interrupted.", INTERRUPTED) from error
    except (EarlybirdError, ScenarioError) as error:
        raise _fail(str(error)) from error
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        raise _fail(_about(error)) from error


def _about(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{because(error)}."


def _fail(message: str, code: int = FAILED) -> typer.Exit:
    typer.echo(f"earlybird: {message}", err=True)
    return typer.Exit(code)
