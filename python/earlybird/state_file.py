"""Files of states, written once a second by one program and followed by others (Linux, macOS)."""

from __future__ import annotations

import csv
import fcntl
import io
import json
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import takewhile
from typing import IO, TYPE_CHECKING, Any

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PER_CONNECTION = ("address", "caller", "age_s")
"""The values that each of the ``connections`` of a state has and the state itself has not."""


def stamped(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with the time of day, ISO 8601 in UTC, as its first value; SRT's name."""
    if "timepoint" in state:
        return state
    return {"timepoint": datetime.now(UTC).isoformat(timespec="milliseconds"), **state}


LONGEST = 1 << 20
"""Characters of a line; those of networks and relays have some hundred for each link or receiver."""


class StateFile:
    """A writer of states, whose errors do not stop the program and leave no partial line."""

    def __init__(self, file: io.FileIO, text_of: Callable[[dict[str, Any]], str]) -> None:
        self._file, self._text_of = file, text_of
        self.error: str | None = None

    def __call__(self, state: dict[str, Any]) -> None:
        """Write a state."""
        if self.error:
            return
        try:
            _write_whole(self._file, self._text_of(stamped(state)).encode())
        except OSError as error:
            self.error = error.strerror or str(error)


def _write_whole(file: io.FileIO, line: bytes) -> None:
    begin = file.seek(0, io.SEEK_CUR) if file.seekable() else None
    try:
        while line:
            line = line[file.write(line) :]
    except OSError:
        if begin is not None:
            with suppress(OSError):
                file.truncate(begin)
        raise


@contextmanager
def states_to(path: Path) -> Iterator[StateFile]:
    """Open a file for states, JSON lines or CSV by its name, locked until this process is gone."""
    text_of = _Rows() if path.suffix == ".csv" else _json_line
    with path.open("wb", buffering=0) as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield StateFile(file, text_of)


def _json_line(state: dict[str, Any]) -> str:
    return json.dumps(state) + "\n"


class _Rows:
    """A writer of states as CSV rows below a header: of the whole, and one for each connection, with its address."""

    def __init__(self) -> None:
        self._is_first = True

    def __call__(self, state: dict[str, Any]) -> str:
        whole = {key: value for key, value in state.items() if key != "connections"}
        if "connections" in state:
            whole |= dict.fromkeys(PER_CONNECTION, "")
        same = {key: whole[key] for key in ("timepoint", "time_s")}
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, whole, restval="")
        if self._is_first:
            writer.writeheader()
        writer.writerows([whole, *(same | connection for connection in state.get("connections", ()))])
        self._is_first = False
        return text.getvalue()


def follow(path: Path) -> Iterator[dict[str, Any] | None]:
    """Read states until their writer has ended; yields None where there is no newer one, to wait."""
    with path.open(encoding="utf-8", errors="replace") as file:
        rest, is_over = "", False
        while not is_over:
            is_over = not _is_written(file)  # asked first: what is written until then is read below
            while piece := file.read(LONGEST):
                *lines, rest = (rest + piece).split("\n")
                for line in lines:
                    yield _state(path, line)
                if len(rest) > LONGEST:
                    raise _no_states(path)
            yield None


def written(path: Path) -> list[dict[str, Any]]:
    """Read the states that there are now; raises as `follow` does."""
    return [state for state in takewhile(lambda state: state is not None, follow(path)) if state]


def _is_written(file: IO[str]) -> bool:
    """Return whether a writer holds the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _state(path: Path, line: str) -> dict[str, Any]:
    try:
        state = json.loads(line)
    except (ValueError, RecursionError):
        state = None
    if isinstance(state, dict) and "time_s" in state:
        return state
    raise _no_states(path)


def _no_states(path: Path) -> InputError:
    return InputError(f"{path}: this is no file of `--statistics FILE.jsonl` of `emulate` or `transmit`.")
