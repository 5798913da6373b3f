"""Files of JSON lines that one program writes, a state each second, and that others follow meanwhile."""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def states_to(path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Open a file for states; yields what writes one. A lock says, until this process is gone, that more may come."""
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield lambda state: print(json.dumps(state), file=file, flush=True)


def follow(path: Path) -> Iterator[dict[str, Any] | None]:
    """
    Read states as they are written, until their writer has ended.

    Parameters
    ----------
    path
        The file.

    Yields
    ------
    dict or None
        A state; nothing where there is none that is newer, so that the caller can wait.

    Raises
    ------
    InputError
        If a line is no state.
    OSError
        If the file cannot be read.
    """
    with path.open(encoding="utf-8") as file:
        rest, is_over = "", False
        while not is_over:
            is_over = not _is_written(file)  # asked first: what is written until then is read below
            *lines, rest = (rest + file.read()).split("\n")
            for line in lines:
                yield _state(path, line)
            yield None


def _is_written(file: IO[str]) -> bool:
    """Tell whether somebody holds the lock that writers have."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _state(path: Path, line: str) -> dict[str, Any]:
    try:
        state = json.loads(line)
    except ValueError:
        state = None
    if isinstance(state, dict) and "time_s" in state:
        return state
    raise InputError(f"{path}: this is no file of `--statistics FILE.jsonl` of `emulate` or `transmit`.")
