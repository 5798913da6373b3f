"""Files that a run writes: none of them may replace what something else wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

HTML: Final = "<!DOCTYPE html><!-- drawn by earlybird -->\n"
"""How our pages begin, by which they are told from those of others."""

SCENARIO: Final = b"# Written by `earlybird plan`."
"""How our scenarios begin, by which they are told from those that people wrote."""

BEGINNINGS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "trace": (b"time,event,seq,",),
    "link-trace": (b"time,event,flow,seq,bytes",),
    "qlog": (b'{"qlog_version":',),
    "pcap": (b"\x0a\x0d\x0d\x0a",),
    "statistics": (b'{"time_s": ', b"time_s,"),
    "plot": (b"\x89PNG", b"<?xml", HTML.encode()),
    "scenario": (SCENARIO,),
}
"""How the files of each kind begin: one that begins so may be replaced, and an empty one."""


def check_outputs(files: Mapping[str, str | Path | None], inputs: Mapping[str, str | Path | None]) -> None:
    """
    Make sure that files can be written without harm, before anything is run.

    Parameters
    ----------
    files
        By what it is (a key of `BEGINNINGS`, for plots with the suffix in brackets), where each file goes, if it is
        asked for.
    inputs
        By what it is, what the run reads.

    Raises
    ------
    InputError
        If one would replace another, an input, or something else than what an earlier run wrote.
    """
    taken = {Path(path).resolve(): f"the {what} itself" for what, path in inputs.items() if path is not None}
    for what, path in files.items():
        if path is None:
            continue
        place = Path(path).resolve()
        if place in taken:
            raise InputError(f"{what} = {path}: this would overwrite {taken[place]}. Choose another file.")
        if place.is_file() and not _may_be_replaced(place, what.split(" ", maxsplit=1)[0]):
            raise InputError(
                f"{what} = {path}: the file is there and is not one that earlybird wrote. Choose another file, or "
                "delete it first."
            )
        if not place.exists() or place.is_file():  # many may write to one device
            taken[place] = f"what {what} writes"


def _may_be_replaced(path: Path, kind: str) -> bool:
    with path.open("rb") as file:
        beginning = file.read(max(map(len, BEGINNINGS[kind])))
    return not beginning or beginning.startswith(BEGINNINGS[kind])
