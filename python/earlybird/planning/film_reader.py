"""The pictures of a film, by the number of the frame."""

from __future__ import annotations

from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Final

import av
import numpy as np

from earlybird.media import unreadable, video_stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from earlybird.planning.canvas import Image

NEAR: Final = 50  # pictures ahead up to which reading on is quicker than a jump to a key frame
WARM_UP: Final = 100
"""Pictures that are decoded before the first one of a jump: after a key frame some may refer to what was before it."""


class FilmReader:
    """
    Reads pictures of a film in rising order, from any of them on.

    The number of a picture is its place in the order of presentation: a player that shows the k-th picture when the
    k-th frame in the order of decoding is due delays all pictures by the same time.
    """

    def __init__(self, path: Path, width: int, height: int) -> None:
        self._path, self._box = path, (width, height)
        self._open()
        stamps = [packet.pts for packet in self._container.demux(self._stream) if packet.size]
        self._stamps = sorted(stamp for stamp in stamps if stamp is not None)
        self._has_stamps = len(self._stamps) == len(stamps)
        self._number, self._picture = len(stamps), np.zeros((height, width, 3), np.uint8)
        self._frames: Iterator[tuple[int, av.VideoFrame]] = iter(())

    def picture(self, number: int) -> Image:
        """Return a picture, rows × columns × red, green and blue, with black borders where its shape differs."""
        if number != self._number:
            if not self._number < number <= self._number + NEAR:
                self._frames = self._read_from(number)
            self._picture = self._fitted(next((frame for at, frame in self._frames if at >= number), None))
            self._number = number
        return self._picture

    def _read_from(self, number: int) -> Iterator[tuple[int, av.VideoFrame]]:
        """Decode from some pictures before this one on, or from the beginning if the file has no index for a jump."""
        if self._has_stamps and number > WARM_UP:
            with suppress(av.error.FFmpegError):
                self._container.seek(self._stamps[number - WARM_UP], stream=self._stream)
            frames = self._decode()
            first = next(frames, None)
            if first is not None and first[0] <= number:
                return chain([first], frames)
        self._container.close()
        self._open()
        return self._decode()

    def _open(self) -> None:
        try:
            self._container = av.open(str(self._path), metadata_errors="replace")
        except av.error.FFmpegError as error:
            raise unreadable(self._path, error) from error
        self._stream = video_stream(self._path, self._container)
        self._stream.thread_type = "AUTO"

    def _decode(self) -> Iterator[tuple[int, av.VideoFrame]]:
        """Go through the pictures and their numbers; players skip what is damaged."""
        count = 0
        for packet in self._container.demux(self._stream):
            with suppress(av.error.InvalidDataError):
                for frame in packet.decode():
                    if self._has_stamps and frame.pts is not None:
                        count = int(np.searchsorted(self._stamps, frame.pts))
                    yield count, frame
                    count += 1

    def _fitted(self, frame: av.VideoFrame | None) -> Image:
        """Scale a picture into the middle of the box, upright; without one the picture before stays."""
        if frame is None:
            return self._picture
        turns = round(frame.rotation / 90) % 4
        aspect = float(self._stream.display_aspect_ratio or frame.width / frame.height)
        width, height = inside(self._box, 1 / aspect if turns % 2 else aspect)
        size = (height, width) if turns % 2 else (width, height)
        picture = np.rot90(frame.to_ndarray(format="rgb24", width=size[0], height=size[1]), turns)
        top, left = (self._box[1] - height) // 2, (self._box[0] - width) // 2
        whole = np.zeros_like(self._picture)
        whole[top : top + height, left : left + width] = picture
        return whole


def inside(box: tuple[int, int], aspect: float) -> tuple[int, int]:
    """Return the largest width and height of an aspect ratio that fit a box."""
    width, height = box
    if width / height > aspect:
        return max(round(height * aspect), 1), height
    return width, max(round(width / aspect), 1)
