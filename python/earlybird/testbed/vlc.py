"""VLC through libvlc: decodes in real time and records the time of each picture."""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import time
import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from earlybird.testbed.stalls import stalls

if TYPE_CHECKING:
    from collections.abc import Sequence

Line = tuple[float, str]  # time and text of a log line

STALLED, PLAYING = "is called too late", "Stream buffering done"
"""Its messages for an empty buffer, and for a refilled one."""
LATE: Final = r"picture is too late to be displayed"
DROPPED: Final = r"late frames, dropping frame"
STARVED: Final = r"underflow"
SOUND_LATE: Final = r"buffer too late \(|playback too late \("
"""Its messages for late pictures, of those it does not decode, of a sink that has nothing to play, and of sound that
came too late. VLC 1.1 of 2010 said "late picture skipping" of the first and "audio output is starving" of the third."""
GAP: Final = "discontinuity"
REPORTED: Final = re.compile("|".join((STALLED, PLAYING, LATE, DROPPED, STARVED, SOUND_LATE, GAP)))

OPTIONS: Final = ("--intf=dummy", "--verbose=2", "--no-lua", "--no-osd", "--no-spu", "--no-video-title-show")
CHROMA, PLANES = "I420", 3  # as films are coded, so that nothing is converted
POLL_INTERVAL: Final = 0.05


def watch(
    address: str, *, size: tuple[int, int], caching_ms: int, limit_s: float, sound: str = "pulse"
) -> dict[str, Any]:
    """Play something to its end or the limit; `sound` is VLC's output, ``dummy`` where there is none to be had."""
    vlc = import_module("vlc")
    lines = _listen()
    instance = vlc.Instance([*OPTIONS, f"--aout={sound}", f"--network-caching={caching_ms}"])
    player = instance.media_player_new()
    media = instance.media_new(address)
    player.set_media(media)
    screen = Screen(size)
    screen.attach(vlc, player)
    began = time.monotonic()
    player.play()
    ended = (vlc.State.Ended, vlc.State.Error, vlc.State.Stopped)
    while (state := player.get_state()) not in ended and time.monotonic() < began + limit_s:
        time.sleep(POLL_INTERVAL)
    statistics = vlc.MediaStats()
    media.get_stats(statistics)
    over = time.monotonic()
    player.stop()
    finished = state == vlc.State.Ended
    # A stall after the last picture is the end of the film.
    end = screen.times[-1] if finished and screen.times else over
    return {
        "began": began,
        "ended": over,
        "finished": finished,
        "error": "VLC cannot play it" if state == vlc.State.Error else None,
        "pictures": screen.times,
        "frames_dropped": statistics.lost_pictures,
        **events_of([line for line in lines if line[0] <= end], caching_ms, end),
    }


def events_of(lines: Sequence[Line], caching_ms: int, end: float) -> dict[str, Any]:
    """Parse VLC's log: stalls, late pictures, frames not decoded, late sound, and the growth of its buffer."""
    marks = [(at, PLAYING in text) for at, text in lines if PLAYING in text or STALLED in text]
    grown = [int(found[1]) for _, text in lines if (found := re.search(r"pts_delay increased to (\d+)", text))]
    return {
        "stalls": stalls(marks, end),
        "late_pictures": _count(lines, LATE),
        "frames_skipped": _count(lines, DROPPED),
        "starvations": _count(lines, STARVED),
        "sounds_late": _count(lines, SOUND_LATE),
        "gaps": _count(lines, GAP),
        "buffer_s": max(grown, default=caching_ms) / 1000,
    }


def _count(lines: Sequence[Line], pattern: str) -> int:
    return sum(bool(re.search(pattern, text)) for _, text in lines)


class Screen:
    """A video output that records the time of each picture instead of showing it."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Allocate a buffer for one picture, which is never displayed."""
        self.width, self.height = size
        self.times: list[float] = []
        self._room = ctypes.create_string_buffer(PLANES * self.width * self.height)
        self._callbacks: tuple[Any, ...] = ()
        # By an eighth of its brightness pictures are told apart; edges may be black.
        brightness = self.width * self.height
        self._middle = slice(brightness * 7 // 16, brightness * 9 // 16)
        self._content = 0

    def attach(self, vlc: Any, player: Any) -> None:  # noqa: ANN401, the library has no types
        """Become a player's screen; the callbacks live as long as this."""
        decorators = vlc.CallbackDecorators
        self._callbacks = (decorators.VideoLockCb(self._lock), decorators.VideoDisplayCb(self._show))
        player.video_set_callbacks(self._callbacks[0], None, self._callbacks[1], None)
        player.video_set_format(CHROMA, self.width, self.height, self.width)

    def _lock(self, _: object, planes: Any) -> None:  # noqa: ANN401, a pointer to pointers
        for plane in range(PLANES):
            planes[plane] = ctypes.addressof(self._room) + plane * self.width * self.height

    def _show(self, _: object, __: object) -> None:
        """Record the time of a picture; without a new one, VLC shows the last one again."""
        middle = memoryview(self._room)[self._middle]
        content = zlib.crc32(middle)
        if content != self._content:
            self.times.append(time.monotonic())
        self._content = content


def _listen() -> list[Line]:
    """Read the error stream of this process from now on, and store the relevant lines."""
    lines: list[Line] = []
    reading, writing = os.pipe()
    sys.stderr = os.fdopen(os.dup(2), "w")  # ours goes on where it went
    os.dup2(writing, 2)
    os.close(writing)

    def read() -> None:
        with os.fdopen(reading, errors="replace") as stream:
            lines.extend((time.monotonic(), line) for line in stream if REPORTED.search(line))

    threading.Thread(target=read, daemon=True).start()
    return lines
