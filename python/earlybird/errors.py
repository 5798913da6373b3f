"""Errors for the user, each in one paragraph."""

import errno
import os

from earlybird._core import ScenarioError

__all__ = [
    "EarlybirdError",
    "InputError",
    "InternalError",
    "Interrupted",
    "ScenarioError",
    "ScenarioWarning",
    "StoreError",
    "WorkerError",
    "because",
]


class EarlybirdError(Exception):
    """An error that a user can correct; its text names the problem, its place and a correction."""


class InputError(EarlybirdError):
    """An argument that makes no sense: a missing file, an unknown study, a table that was not measured."""


class StoreError(EarlybirdError):
    """A results folder that cannot be written, or a result in it that cannot be read."""


class WorkerError(EarlybirdError):
    """A worker process that died, and died again when its run was repeated."""


class InternalError(Exception):
    """A bug in earlybird: the compiled part panicked."""


class ScenarioWarning(UserWarning):
    """A scenario that can be run but is probably not meant; `str()` is one paragraph."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with word of what is kept."""


def because(error: OSError) -> str:
    """Return why an operation of the system failed, with a hint where one is known."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    hint = {
        errno.ENOSPC: "; free some space and repeat the command",
        errno.EDQUOT: "; free some space and repeat the command",
        errno.ENOTDIR: "; a part of the path is a file, choose another folder",
        errno.EACCES: "; choose a place you may write to, or change its rights",
        errno.EPERM: "; choose a place you may write to, or change its rights",
        errno.EROFS: "; choose a place on another disk",
    }.get(error.errno or 0, "")
    return reason + hint
