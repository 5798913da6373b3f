"""Where errors become one paragraph and an exit code."""

from __future__ import annotations

import errno
import functools
import warnings
from typing import TYPE_CHECKING, ParamSpec

import typer

from earlybird.cli.plain import complain
from earlybird.cli.signals import is_terminated
from earlybird.errors import EarlybirdError, ScenarioError, ScenarioWarning, because
from earlybird.extras import missing_package

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 2
INTERRUPTED = 130
TERMINATED = 143
"""What shells report of a program that SIGINT or SIGTERM ended: 128 and the signal's number."""

Arguments = ParamSpec("Arguments")


def guarded(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """
    Let a sub-command end with a message where it would end with an error.

    Parameters
    ----------
    command
        The sub-command.

    Returns
    -------
    Callable
        The same, which leaves with code 2 after an error that a person can put right, with 130 after Ctrl-C and with
        143 after SIGTERM. Anything else is a fault of the program and passes through.
    """

    @functools.wraps(command)
    def guarded_command(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", ScenarioWarning)
                warnings.showwarning = _show_warning
                command(*args, **kwargs)
        except KeyboardInterrupt as error:
            code = TERMINATED if is_terminated(error) else INTERRUPTED
            raise _leave(str(error) or "interrupted.", code) from error
        except (EarlybirdError, ScenarioError) as error:
            raise _leave(str(error)) from error
        except ModuleNotFoundError as error:
            raise (_leave(str(missing)) if (missing := missing_package(error)) else error) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader of a pipe is gone, which is no error
                raise
            raise _leave(_about(error)) from error

    return guarded_command


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _about(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{because(error)}."


def _leave(message: str, code: int = FAILED) -> typer.Exit:
    complain(message)
    return typer.Exit(code)
