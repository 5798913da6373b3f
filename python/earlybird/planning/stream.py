"""The stream: a clip, or a synthetic one of a bit rate, live or stored."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from earlybird.clip import Clip
from earlybird.planning.ladder import NOTICEABLE_SHORTFALL, Ladder
from earlybird.planning.selection import NOTICEABLE_SECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

Goal: TypeAlias = Literal["live", "call", "vod", "hls"]

SEGMENTED: Final = ("vod", "hls")
"""Goals whose films a web server sends in segments (HLS, DASH): stored ones, and those that are made meanwhile."""
SEGMENT_SECONDS: Final = 6.0  # playing time of a segment: Apple, "HLS Authoring Specification", asks for six

FRAMES_PER_SECOND: Final = 25
KEY_FRAME_EVERY: Final = 2.0  # seconds between key frames: Apple, "HLS Authoring Specification", asks for two
KEY_FRAME_SIZE: Final = 5.0  # a key frame ÷ another frame, in the clip of this repository (`media/test-clip.mp4`)
IN_A_CALL: Final = 0.02  # seconds of delay that count in a conversation: half a frame, or a packet of sound
SOUND_PERIOD: Final = 0.02  # seconds of sound in a packet: the usual frame of Opus (RFC 7587 §4.2)
SOUND_RATE: Final = 200e3  # bits per second up to which a conversation is one of sound alone


def synthetic_clip(rate: float, goal: Goal, key_frame: float = KEY_FRAME_SIZE) -> Clip:
    """Make up a film of a bit rate, key frames every two seconds; of a call with little rate sound alone."""
    is_sound = goal == "call" and rate <= SOUND_RATE
    period = SOUND_PERIOD if is_sound else 1 / FRAMES_PER_SECOND
    frames = round(KEY_FRAME_EVERY / period)
    weights = np.ones(frames)
    weights[0] = 1.0 if is_sound else key_frame
    sizes = np.maximum(np.rint(weights * rate * KEY_FRAME_EVERY / 8 / weights.sum()), 1).astype(np.int64)
    kind = "sound" if is_sound else "film"
    return Clip(
        Path(f"made-up {kind}"), "made up", period * np.arange(frames, dtype=np.float64), sizes, KEY_FRAME_EVERY
    )


@dataclasses.dataclass(frozen=True, eq=False)
class StreamSpec:
    """A film on its way to one viewer, who watches `length` seconds of it; a shorter film is repeated."""

    clip: Clip
    goal: Goal
    length: float
    left_out: float = 0.0
    segment: float = SEGMENT_SECONDS
    ladder: Ladder | None = None  # of a film in several renditions, of which the clip is the lowest

    @classmethod
    def of(
        cls,
        clip: Clip,
        goal: Goal,
        length: float,
        segment: float = SEGMENT_SECONDS,
        ladder: Ladder | None = None,
    ) -> StreamSpec:
        """Send so much of a film."""
        return cls(clip.first(length), goal, length, max(clip.length - length, 0.0), segment, ladder)

    @property
    def is_segmented(self) -> bool:
        """Whether a web server sends it in segments."""
        return self.goal in SEGMENTED

    @property
    def run_length(self) -> float:
        """Seconds of a run: the viewing, and for a film in segments the time that its end may be late."""
        return 1.2 * self.length + 5 * self.segment if self.is_segmented else self.length

    @property
    def play_times(self) -> NDArray[np.float64]:
        """The time at which each frame is shown, in seconds after the first one."""
        rounds = math.ceil(self.length / self.clip.length)
        times = (self.clip.times + self.clip.length * np.arange(rounds)[:, np.newaxis]).ravel()
        return times[times < self.length]

    def application(self) -> dict[str, Any]:
        """Write it as the application of a flow."""
        if not self.is_segmented:
            return self.clip.application()
        rates = {"ladder": [f"{round(self.clip.mean_rate)}b/s"]} if self.ladder is None else self.ladder.keys
        segments = {
            **rates,
            "segment": f"{self.segment:g}s",
            "live": self.goal == "hls",
        }
        return {"segments": segments}

    def delivered_frames(self, segments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return when each frame is there, from when each segment of one session is; those not requested never are."""
        numbers = np.floor(self.play_times / self.segment + ROUNDING).astype(np.int64)
        missing = max(int(numbers[-1]) + 1 - len(segments), 0)
        return np.concatenate((segments, np.full(missing, np.inf)))[numbers]

    def segment_times(self, written: NDArray[np.float64], delivered: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return when each segment is there, from the rows of `deliveries`, which has abandoned segments too."""
        numbers = np.rint(written / self.segment).astype(np.int64)
        times = np.full(int(numbers.max(initial=-1)) + 1, np.inf)
        # Of a segment that was requested several times the last row counts.
        times[numbers] = delivered
        return times

    @property
    def margin(self) -> float:
        """The least gain for a change of the sender: seconds of delay, or of several renditions quality."""
        return self.noticeable if self.ladder is None else NOTICEABLE_SHORTFALL

    @property
    def noticeable(self) -> float:
        """Seconds of delay that are worth a change of the sender: half a frame in a conversation."""
        return IN_A_CALL if self.goal == "call" else NOTICEABLE_SECONDS

    @property
    def most_headers(self) -> float:
        """Share of the rate that headers take where each frame is a packet of its own at least."""
        packets = np.ceil(self.clip.sizes / SEGMENT).sum()
        return float(packets * HEADERS / self.clip.sizes.sum())

    @property
    def wire_rate(self) -> float:
        """Bits per second with headers."""
        return self.clip.mean_rate * (1 + self.most_headers)


ROUNDING: Final = 1e-9  # of a segment's length
SEGMENT: Final = 1448  # bytes of payload in a full segment with timestamps over Ethernet (docs/profiles.md)
HEADERS: Final = 52  # bytes of IPv4 and TCP with timestamps
