"""Read frame sizes and times from video files.

Nothing is decoded. The packets of the container say how many bytes each coded frame has and when a decoder needs it:
all that the network sees of a film.
"""

from __future__ import annotations

import json
import math
import warnings
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

import av
import numpy as np

from earlybird.clip import Clip, MediaError
from earlybird.errors import ScenarioWarning
from earlybird.film_files import check_is_no_manifest, check_is_readable
from earlybird.paths import found

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.stream import VideoStream
    from numpy.typing import NDArray

__all__ = ["Clip", "MediaError", "read_clip"]

STILL_FORMATS: Final = ("tty", "image2")
"""Formats whose reader makes a "video" of any text file or of a numbered row of pictures."""

MISSING_SECONDS: Final = 0.5
MISSING_SHARE: Final = 0.02
"""A file is truncated if more than both of these are missing of the length that its header states."""


LONGEST: Final = 3600.0
"""Seconds of film that a scenario takes: each frame is a unit of the run and a number of the scenario."""

UNEVEN: Final = 1.5
"""Largest ratio of the longest to the usual frame interval at a constant frame rate."""


class Frame(NamedTuple):
    """A packet of the container; times in seconds."""

    size: int
    decode: float | None
    presentation: float | None
    duration: float
    is_corrupt: bool
    is_key: bool

    @classmethod
    def of(cls, packet: Packet[Stream]) -> Frame:
        """Copy the description without the data."""
        unit = float(packet.time_base or 0)
        decode, presentation = (None if stamp is None else stamp * unit for stamp in (packet.dts, packet.pts))
        return cls(
            packet.size, decode, presentation, (packet.duration or 0) * unit, packet.is_corrupt, packet.is_keyframe
        )

    @property
    def time(self) -> float | None:
        """Time at which it is needed, if stated."""
        return self.decode if self.decode is not None else self.presentation

    @property
    def end(self) -> float:
        """Time at which it has been presented; 0 if not stated."""
        start = self.presentation if self.presentation is not None else self.decode
        return 0.0 if start is None else start + self.duration


def read_clip(path: str | PathLike[str], *, takes_sound: bool = False) -> Clip:
    """Read the first video stream of any file that FFmpeg opens, cut off or not, with its first audio stream."""
    path = found(Path(path))
    check_is_readable(path)
    check_is_no_manifest(path)
    try:
        # Metadata in another encoding than UTF-8 keeps no player from playing a film.
        with av.open(str(path), metadata_errors="replace") as container:
            if takes_sound and not films_in(container) and container.streams.audio:
                return read_sound(path, container)
            return read_container(path, container)
    except (av.error.FFmpegError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error


def media_document(path: str | PathLike[str]) -> str:
    """Read a video file as the table `media` of an application, in JSON: each frame with its sound."""
    return json.dumps(film_of(path).application()["media"])


def film_document(path: str | PathLike[str]) -> str:
    """Read a video file as the `media` of a live stream, in JSON: frames by type, and the sound separately."""
    return json.dumps(film_of(path).film())


def film_of(path: str | PathLike[str], *, takes_sound: bool = False) -> Clip:
    """Read a video for a scenario, with remarks about it; or sound without a video, if that is taken."""
    path = found(Path(path))
    check_is_readable(path)
    state = path.stat()
    clip = _read_once(path, state.st_mtime_ns, state.st_size, takes_sound)
    if clip.length > LONGEST:
        hint = f"Cut it: `ffmpeg -i {quote(path.name)} -t {LONGEST:.0f} -c copy NEW{quote(path.suffix)}`."
        raise MediaError(path, f"lasts {clip.length / 60:.0f} min, more than the hour that a scenario takes", hint)
    if clip.tracks > 1:
        hint = f"Keep one: `ffmpeg -i {quote(path.name)} -map 0:v:0 -map 0:a:0? -c copy NEW{quote(path.suffix)}`."
        raise MediaError(path, f"has {clip.tracks} video tracks, and one is sent", hint)
    for remark in remarks_on(clip):
        warnings.warn(f"{path} {remark}", ScenarioWarning, stacklevel=2)
    return clip


@lru_cache(maxsize=8)
def _read_once(path: Path, _modified: int, _bytes: int, takes_sound: bool) -> Clip:  # noqa: FBT001 - keys of the cache
    """Read a video once for all runs of a sweep; a file that has changed is read again."""
    return read_clip(path, takes_sound=takes_sound)


def remarks_on(clip: Clip) -> Iterator[str]:
    """Return remarks on a video: a variable frame rate, a missing duration."""
    gaps = np.diff(clip.times)
    usual, longest = float(np.median(gaps)), float(gaps.max())
    if longest > UNEVEN * usual:
        span = f"{1e3 * float(gaps.min()):.0f} to {1e3 * longest:.0f} ms from frame to frame"
        yield f"has a variable frame rate ({span}): each frame is sent at its own time."
    if not clip.states_length:
        yield f"states no duration: it ends with its last frame, after {clip.length:.1f} s."


def unreadable(path: Path, error: Exception) -> MediaError:
    """Return the error of a file that FFmpeg cannot read."""
    reason = getattr(error, "strerror", None) or "unreadable header"
    hint = "If `ffprobe` cannot open it either, copy it again; an MP4 cut off before its index at the end is lost."
    return MediaError(path, f"is not a video, or is damaged ({reason[:1].lower()}{reason[1:]})", hint)


def read_container(path: Path, container: InputContainer) -> Clip:
    """Read an opened file."""
    stream = video_stream(path, container)
    sound = next((stream.index for stream in container.streams.audio), None)
    streams, begin, end = demultiplex(container, stream.index, sound)
    frames = streams[stream.index]
    check_is_film(path, frames)
    check_is_whole(path, container, frames[-1], end - begin)
    times = decode_times(path, frames)
    sizes = np.array([frame.size for frame in frames], dtype=np.int64)
    last = frames[-1].duration or float(times[-1]) / (len(times) - 1)
    start, length = min(frame.time for frame in frames if frame.time is not None), float(times[-1]) + last
    packets = None if sound is None else packets_of_sound(streams[sound], start, length)
    audio = None if packets is None else sound_of_frames(times, *packets)
    if audio is not None:
        sizes += audio
    return Clip(
        path,
        stream.codec_context.name,
        times,
        sizes,
        length,
        audio,
        kinds_of(frames),
        packets,
        tracks=len(films_in(container)),
        states_length=bool(container.duration or stream.duration),
    )


def read_sound(path: Path, container: InputContainer) -> Clip:
    """Read the first audio stream of an opened file without a video: each packet is a unit of its own."""
    stream = container.streams.audio[0]
    frames = demultiplex(container, stream.index)[0][stream.index]
    check_is_film(path, frames)
    times = decode_times(path, frames)
    last = frames[-1].duration or float(times[-1]) / (len(times) - 1)
    sizes = np.array([frame.size for frame in frames], dtype=np.int64)
    return Clip(path, stream.codec_context.name, times, sizes, float(times[-1]) + last)


def packets_of_sound(
    packets: list[Frame], start: float, length: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """Return when packets of sound are needed after the film's first frame, within the film, and their bytes."""
    arrivals = sorted((packet.time - start, packet.size) for packet in packets if packet.time is not None)
    if not arrivals:
        return None
    arrival_times, sizes = zip(*arrivals, strict=True)
    return np.clip(np.array(arrival_times, dtype=np.float64), 0, length), np.array(sizes, dtype=np.int64)


def sound_of_frames(
    times: NDArray[np.float64], arrival_times: NDArray[np.float64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Add up the bytes of sound that are needed by each frame's time, and not by that of the frame before."""
    places = np.minimum(np.searchsorted(times, arrival_times), len(times) - 1)
    return np.bincount(places, weights=sizes, minlength=len(times)).astype(np.int64)


def kinds_of(frames: list[Frame]) -> str:
    """Write a letter for each frame: key frames are marked, and B frames are shown before one decoded earlier."""
    latest = -math.inf
    letters = []
    for frame in frames:
        shown = frame.presentation if frame.presentation is not None else math.inf
        letters.append("I" if frame.is_key else "B" if shown < latest else "P")
        latest = max(latest, shown) if math.isfinite(shown) else latest
    return "".join(letters)


def video_stream(path: Path, container: InputContainer) -> VideoStream:
    """Find the first video stream that is not a record's cover picture."""
    films = films_in(container)
    if films and not container.format.name.startswith(STILL_FORMATS):
        return films[0]
    kinds = sorted({stream.type for stream in container.streams} - {"video"})
    found = f"only {' and '.join(kinds)}" if kinds else container.format.long_name
    hint = "Give a file with moving pictures, such as an MP4 or Matroska film."
    raise MediaError(path, f"has no video stream ({found})", hint)


def films_in(container: InputContainer) -> list[VideoStream]:
    """List the video streams that are no record's cover picture."""
    return [stream for stream in container.streams.video if not is_cover(stream)]


def is_cover(stream: VideoStream) -> bool:
    """Return whether the stream is a picture attached to music."""
    return bool(stream.disposition & type(stream.disposition).attached_pic)


def demultiplex(container: InputContainer, *wanted: int | None) -> tuple[dict[int, list[Frame]], float, float]:
    """Return streams' frames in the order of decoding, and when all packets begin and end, in seconds."""
    frames: dict[int, list[Frame]] = {stream: [] for stream in wanted if stream is not None}
    # Some containers state the start of the first packet, which need not be shown first.
    begin, end = (container.start_time or 0) / av.time_base, 0.0
    for packet in container.demux():
        if packet.size > 0:
            frame = Frame.of(packet)
            begin = min(begin, frame.end - frame.duration) if frame.time is not None else begin
            end = max(end, frame.end)
            if packet.stream.index in frames:
                frames[packet.stream.index].append(frame)
    return frames, begin, end


def check_is_film(path: Path, frames: list[Frame]) -> None:
    """Reject a stream that does not move."""
    if len(frames) < 2:
        what = "is a single picture, not a film" if frames else "has a video stream without frames"
        raise MediaError(path, what, "Give a file with at least two frames.")


def check_is_whole(path: Path, container: InputContainer, last: Frame, length: float) -> None:
    """Reject a file that is shorter than its header states."""
    stated = (container.duration or 0) / av.time_base
    found = max(length, 0)
    hint = "Copy or download it again, or keep what there is: `ffmpeg -i FILE -c copy NEW.mp4`."
    if stated - found > max(MISSING_SECONDS, MISSING_SHARE * stated) and has_stamp(last):
        problem = f"is truncated: its header states {stated:.1f} s, its data end after {found:.1f} s"
        raise MediaError(path, problem, hint)
    if last.is_corrupt:
        raise MediaError(path, "is truncated: its last frame is incomplete", hint)


def has_stamp(frame: Frame) -> bool:
    """Return whether the container has the time of the frame."""
    return frame.decode is not None or frame.presentation is not None


def decode_times(path: Path, frames: list[Frame]) -> NDArray[np.float64]:
    """Return when the decoder needs each frame: of presentation times alone, the i-th frame the i-th smallest."""
    times = complete([frame.decode for frame in frames]) or sorted(complete([frame.presentation for frame in frames]))
    if not times:
        hint = "Put the bare stream into a container at its frame rate: `ffmpeg -r 25 -i FILE -c copy NEW.mp4`."
        raise MediaError(path, "has frames without time stamps", hint)
    if times[-1] <= times[0] or any(later < earlier for earlier, later in pairwise(times)):
        hint = "Write them anew: `ffmpeg -fflags +genpts -i FILE -c copy NEW.mp4`."
        raise MediaError(path, "has time stamps that do not rise", hint)
    return np.array(times, dtype=np.float64) - times[0]


def complete(times: list[float | None]) -> list[float]:
    """Return the times if none is missing, else nothing."""
    known = [time for time in times if time is not None]
    return known if len(known) == len(times) else []
