"""Files that a run writes besides its tables: which there are, and that none of them replaces another's file."""

from __future__ import annotations

import dataclasses
import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HTML: Final = "<!DOCTYPE html><!-- drawn by earlybird -->\n"  # first bytes of our pages

SCENARIO: Final = b"# Written by `earlybird plan`."  # first bytes of our scenarios

SETTINGS: Final = b"#!/bin/sh\n# Written by `earlybird plan`"  # first bytes of our settings of servers


def write_output(path: str | Path, content: bytes | str) -> None:
    """Write a file. Any error names it, also that of a disk that is full; what was written of it does not stay."""
    try:
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            Path(path).unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error


@dataclasses.dataclass(frozen=True)
class OutputFile:
    """One kind of file that a run can write: its option, and the first bytes by which it may be replaced."""

    title: str
    option: str
    metavar: str
    help: str
    magic: tuple[bytes, ...]


def _file(title: str, option: str, metavar: str, text: str, *magic: bytes) -> Any:  # noqa: ANN401, as dataclasses.field
    return dataclasses.field(default=None, metadata={"file": OutputFile(title, option, metavar, text, magic)})


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outputs:
    """
    Files that a run writes besides its tables; a field that is None writes none.

    A new file is a field here and in `earlybird_experiment::Outputs`; the command line and the checks follow.

    Attributes
    ----------
    trace : path
        Every event of the traced flows, as CSV. Of the kernel's senders, the events that the links see.
    qlog : path
        Segments, ACKs and decisions of the senders of the traced flows, in the format qlog, for qvis. Of the kernel's
        senders, segments and ACKs.
    link_trace : path
        Every packet that the bottleneck accepts or drops, as CSV.
    pcap : path
        The packets in the format pcapng, for Wireshark: as seen by the hosts that open connections; in real time at
        both ends of the emulated links.
    trace_flows : sequence of str
        The flows of `trace` and `qlog` (default: all but web flows).
    """

    trace: str | Path | None = _file(  # noqa: RUF009, as dataclasses.field
        "Trace",
        "--trace-out",
        "FILE.csv",
        "Write every event of the traced flows to this file.",
        b"time,event,seq,",
    )
    qlog: str | Path | None = _file(  # noqa: RUF009, as dataclasses.field
        "qlog",
        "--qlog",
        "FILE.qlog",
        "Write segments, ACKs and decisions of the traced flows to this file, for qvis.",
        b'{"qlog_version":',
    )
    link_trace: str | Path | None = _file(  # noqa: RUF009, as dataclasses.field
        "Trace of the bottleneck",
        "--link-trace-out",
        "FILE.csv",
        "Write every packet that the bottleneck accepts or drops to this file.",
        b"time,event,flow,seq,bytes",
    )
    pcap: str | Path | None = _file(  # noqa: RUF009, as dataclasses.field
        "Packets",
        "--pcap",
        "FILE.pcapng",
        "Write the packets to this file, as pcapng, for Wireshark.",
        b"\x0a\x0d\x0d\x0a",
    )
    trace_flows: Sequence[str] = ()

    @classmethod
    def kinds(cls) -> dict[str, OutputFile]:
        """Return the kinds of files by the name of their field."""
        fields = dataclasses.fields(cls)
        return {field.name: field.metadata["file"] for field in fields if "file" in field.metadata}

    @property
    def files(self) -> dict[str, str]:
        """The path of each file that is written, by the name of its field."""
        return {name: os.fspath(path) for name in self.kinds() if (path := getattr(self, name)) is not None}

    @property
    def flows(self) -> list[str]:
        """The flows to trace."""
        return list(self.trace_flows)

    def written(self) -> Iterator[str]:
        """Yield a sentence for each file that was written."""
        for name, path in self.files.items():
            yield f"{self.kinds()[name].title} written to {path}"


NO_OUTPUTS: Final = Outputs()

MAGIC: Final[Mapping[str, tuple[bytes, ...]]] = {
    **{name: kind.magic for name, kind in Outputs.kinds().items()},
    "statistics": (b'{"time_s": ', b"time_s,"),
    "plot": (b"\x89PNG", b"<?xml", HTML.encode()),
    "html": (HTML.encode(), HTML.encode().strip()),
    "junit": (b"<?xml",),
    "scenario": (SCENARIO,),
    "settings": (SETTINGS,),
    "watch": (b"GIF89a", b"RIFF", b"\x89PNG", b"\0\0\0\x20ftypisom"),  # of MP4s, `watch_file` checks the comment
}
"""First bytes of the files of each kind: a file that begins so, or is empty, may be replaced."""


def check_outputs(files: Mapping[str, str | Path | None], inputs: Mapping[str, str | Path | None]) -> None:
    """Check before a run that its files, by kind or ``plot``, replace no other, no input, and nothing unknown."""
    taken = {Path(path).resolve(): f"the {what} itself" for what, path in inputs.items() if path is not None}
    for what, path in files.items():
        if path is None:
            continue
        name, place = what.replace("_", "-"), Path(path).resolve()
        if place in taken:
            raise InputError(f"{name} = {path}: this would overwrite {taken[place]}. Choose another file.")
        if place.is_file() and not _may_be_replaced(place, what.split(" ", maxsplit=1)[0]):
            raise InputError(
                f"{name} = {path}: the file is there and is not one that earlybird wrote. Choose another file, or "
                "delete it first."
            )
        if not place.exists() or place.is_file():  # several outputs may go to one device, such as /dev/null
            taken[place] = f"what {name} writes"


def _may_be_replaced(path: Path, kind: str) -> bool:
    with path.open("rb") as file:
        beginning = file.read(max(map(len, MAGIC[kind])))
    return not beginning or beginning.startswith(MAGIC[kind])
