"""Films and animated pictures, encoded with PyAV: the same pictures give the same bytes."""

from __future__ import annotations

import dataclasses
import tempfile
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Final, cast

import av
from av.filter import Graph

from earlybird.errors import InputError, because
from earlybird.files import temporary_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import numpy as np
    from av.filter.context import FilterContext
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

    Image = NDArray[np.uint8]


@dataclasses.dataclass(frozen=True)
class Format:
    """The encoding of a kind of file: pictures per second, pixels for a unit of the layout, and FFmpeg's options."""

    container: str
    codec: str
    pixels: str
    rate: int
    scale: float
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    container_options: Mapping[str, str] = dataclasses.field(default_factory=dict)


MADE_BY: Final = "earlybird plan --watch"  # comment of an MP4, by which it may be replaced

README_WIDTH: Final = 0.625  # 800 pixels for two panels: the width of a README's column

FORMATS: Final = {
    # One thread, as x264's output depends on their number; 4:2:0 and the index in front, as browsers want them.
    ".mp4": Format(
        "mp4",
        "libx264",
        "yuv420p",
        25,
        1.0,
        {"crf": "20", "preset": "veryfast", "threads": "1"},
        {"movflags": "+faststart"},
    ),
    ".gif": Format("gif", "gif", "pal8", 10, README_WIDTH),
    ".webp": Format("webp", "libwebp_anim", "yuv420p", 10, README_WIDTH, {"quality": "80"}, {"loop": "0"}),
    ".png": Format("apng", "apng", "rgb24", 10, README_WIDTH, {"pred": "mixed"}, {"plays": "0"}),
}
"""By the ending of a file's name."""


def write(path: Path, pictures: Iterable[Image], palette_from: Iterable[Image]) -> None:
    """Encode pictures by the ending of the name; a GIF has the 256 colours that suit `palette_from` best."""
    temporary = temporary_place(path)
    try:
        _encode(temporary, FORMATS[path.suffix], pictures, palette_from)
        temporary.replace(path)
    except (OSError, av.error.FFmpegError) as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check(path: Path) -> None:
    """Raise InputError for another ending, a folder that takes no file, or a film that earlybird did not write."""
    if path.suffix not in FORMATS:
        endings = [*FORMATS]
        raise InputError(f"watch = {path}: the name of the film ends in {', '.join(endings[:-1])} or {endings[-1]}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from error
    if path.suffix == ".mp4" and path.is_file() and path.stat().st_size and _comment(path) != MADE_BY:
        raise InputError(
            f"watch = {path}: the file is there and is not one that earlybird wrote. Choose another file, or delete it "
            "first."
        )


def _unwritable(path: Path, error: Exception) -> InputError:
    reason = because(error) if isinstance(error, OSError) else str(error)
    return InputError(f"watch = {path}: cannot be written: {reason}. Choose another file.")


def _comment(path: Path) -> str:
    try:
        with av.open(str(path), metadata_errors="replace") as container:
            return container.metadata.get("comment", "")
    except av.error.FFmpegError:
        return ""


def _encode(path: Path, form: Format, pictures: Iterable[Image], palette_from: Iterable[Image]) -> None:
    frames = _numbered(pictures, form.rate)
    if form.pixels == "pal8":
        frames = _with_palette(frames, _palette(_numbered(palette_from, form.rate)))
    with av.open(str(path), "w", format=form.container, options=dict(form.container_options)) as container:
        container.metadata["comment"] = MADE_BY
        stream = cast("VideoStream", container.add_stream(form.codec, rate=form.rate, options=dict(form.options)))
        for frame in frames:
            if not stream.codec_context.is_open:
                stream.width, stream.height, stream.pix_fmt = frame.width, frame.height, form.pixels
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))


def _numbered(pictures: Iterable[Image], rate: int) -> Iterator[av.VideoFrame]:
    for number, picture in enumerate(pictures):
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts, frame.time_base = number, Fraction(1, rate)
        yield frame


def _palette(frames: Iterable[av.VideoFrame]) -> av.VideoFrame:
    """Return the 256 colours that suit frames best."""
    graph, source = Graph(), None
    for frame in frames:
        if source is None:
            source = _source(graph, frame)
            graph.link_nodes(source, graph.add("palettegen"), graph.add("buffersink")).configure()
        source.push(frame)
    if source is None:
        raise ValueError("a palette of no frame")
    source.push(None)
    return graph.vpull()


def _with_palette(frames: Iterator[av.VideoFrame], palette: av.VideoFrame) -> Iterator[av.VideoFrame]:
    """Replace the colours of frames by those of a palette; only what changes from one to the next is dithered anew."""
    graph, source = Graph(), None
    for frame in frames:
        if source is None:
            source, colours = _source(graph, frame), _source(graph, palette)
            mapper = graph.add("paletteuse", "dither=bayer:bayer_scale=5:diff_mode=rectangle")
            colours.link_to(mapper, 0, 1)
            graph.link_nodes(source, mapper, graph.add("buffersink")).configure()
            colours.push(palette)
            colours.push(None)
        source.push(frame)
        yield from _ready(graph)
    if source is not None:
        source.push(None)
        yield from _ready(graph)


def _source(graph: Graph, frame: av.VideoFrame) -> FilterContext:
    """Add an input for frames like this one."""
    return graph.add_buffer(
        width=frame.width, height=frame.height, format=frame.format, time_base=frame.time_base or Fraction(1, 25)
    )


def _ready(graph: Graph) -> Iterator[av.VideoFrame]:
    """Take the frames that a graph has ready."""
    with suppress(av.error.BlockingIOError, av.error.EOFError):
        while True:
            yield graph.vpull()
