"""The conversion of errors into one paragraph and an exit code."""

from __future__ import annotations

import errno
import functools
import warnings
from typing import TYPE_CHECKING, ParamSpec

import typer

from earlybird import _core
from earlybird.cli.output import complain
from earlybird.cli.signals import is_terminated
from earlybird.errors import EarlybirdError, InternalError, ScenarioError, ScenarioWarning, because
from earlybird.extras import missing_package

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 2
INTERNAL = 70  # the exit code of a bug (`EX_SOFTWARE` of sysexits.h)
INTERRUPTED = 130
TERMINATED = 143  # exit codes by the convention of shells: 128 and the signal's number

Arguments = ParamSpec("Arguments")


def guarded(command: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Wrap a sub-command: what a person can put right becomes a message and an exit code; bugs pass through."""

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
        except InternalError as error:
            raise _leave(str(error), INTERNAL) from error
        except _core.PanicException as error:
            raise _leave(f"this is a bug in earlybird: {error}.", INTERNAL) from error

    return guarded_command


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _about(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{because(error)}."


def _leave(message: str, code: int = FAILED) -> typer.Exit:
    complain(message)
    return typer.Exit(code)
