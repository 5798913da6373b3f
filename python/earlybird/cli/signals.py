"""The request to end, which the program answers as it answers Ctrl-C: workers end, half-written files go."""

import signal
from types import FrameType


class Terminated(KeyboardInterrupt):
    """The system, or a person, asked the program to end (SIGTERM)."""


def end_on_request() -> None:
    """Handle SIGTERM as an interruption."""
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: int | FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # cleaning up is under way
    raise Terminated


def is_terminated(error: BaseException | None) -> bool:
    """Return whether an interruption was caused by SIGTERM, directly or through other errors."""
    while error is not None:
        if isinstance(error, Terminated):
            return True
        error = error.__cause__ or error.__context__
    return False
