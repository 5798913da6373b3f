"""Video clips as frame sizes and decode times."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from earlybird.errors import InputError

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray


class MediaError(InputError):
    """Raised if a file cannot be used as a clip: the `problem` follows the path, the `hint` is a correction."""

    def __init__(self, path: str | PathLike[str], problem: str, hint: str) -> None:
        super().__init__(f"{path} {problem}. {hint}")
        self.path, self.problem, self.hint = Path(path), problem, hint


@dataclasses.dataclass(frozen=True, eq=False)
class Clip:
    """The frames of a video in decoding order."""

    path: Path
    codec: str
    times: NDArray[np.float64]  # decoding time of each frame, in seconds from the first; never decreasing
    sizes: NDArray[np.int64]  # bytes of each frame
    length: float  # seconds from the first frame to the end of the last
    audio: NDArray[np.int64] | None = None  # bytes of each frame that are its sound
    kinds: str = ""  # a letter per frame, if known: I for key frames, B for those shown before one decoded earlier, P
    sound: tuple[NDArray[np.float64], NDArray[np.int64]] | None = None  # decoding time and bytes of each packet
    tracks: int = 1  # video tracks of the file, of which this is the first
    states_length: bool = True

    @property
    def frames(self) -> int:
        """Number of frames."""
        return len(self.sizes)

    @property
    def largest_frame(self) -> int:
        """Bytes of the largest frame."""
        return int(self.sizes.max())

    @property
    def mean_rate(self) -> float:
        """Bits per second over the whole clip."""
        return 8 * float(self.sizes.sum()) / self.length

    @property
    def audio_rate(self) -> float:
        """Bits per second of sound in `mean_rate`."""
        return 0.0 if self.audio is None else 8 * float(self.audio.sum()) / self.length

    @property
    def peak_rate(self) -> float:
        """Bits per second in the busiest second that starts with a frame (over the whole clip if that is shorter)."""
        window = min(1.0, self.length)
        ends = np.searchsorted(self.times, self.times + window - 1e-9)
        total = np.concatenate(([0], np.cumsum(self.sizes)))
        return 8 * float((total[ends] - total[:-1]).max()) / window

    def scaled_to(self, rate: float) -> Clip:
        """Scale the frames to a mean of `rate` bits per second; none gets smaller than one byte."""
        # Rounding the running total instead of each size keeps the mean exact.
        total = np.rint(np.cumsum(self.sizes) * (rate / self.mean_rate)).astype(np.int64)
        factor = rate / self.mean_rate
        audio = None if self.audio is None else np.rint(self.audio * factor).astype(np.int64)
        sound = (
            None
            if self.sound is None
            else (self.sound[0], np.maximum(np.rint(self.sound[1] * factor), 1).astype(np.int64))
        )
        return dataclasses.replace(self, sizes=np.maximum(np.diff(total, prepend=0), 1), audio=audio, sound=sound)

    def first(self, seconds: float) -> Clip:
        """Return the frames of the first `seconds`, or the film itself if it is no longer."""
        if self.length <= seconds:
            return self
        kept = int(np.searchsorted(self.times, seconds))
        sound = self.sound
        if sound is not None:
            times, sizes = sound
            sound = times[times < seconds], sizes[times < seconds]
        return dataclasses.replace(
            self,
            times=self.times[:kept],
            sizes=self.sizes[:kept],
            length=seconds,
            audio=None if self.audio is None else self.audio[:kept],
            kinds=self.kinds[:kept],
            sound=sound,
        )

    def application(self) -> dict[str, Any]:
        """Write the clip as the `application` of a scenario's flow, which repeats it to the end of the run."""
        times = np.round(self.times, 9).tolist()
        return {"media": {"times": times, "sizes": self.sizes.tolist(), "length": round(self.length, 9)}}

    def film(self) -> dict[str, Any]:
        """Write the clip as the `media` of a live stream: frames by type, and the sound separately."""
        sizes = self.sizes if self.audio is None else self.sizes - self.audio
        document = {**self.application()["media"], "sizes": np.maximum(sizes, 1).tolist(), "kinds": self.kinds}
        if self.sound is not None:
            times, sound = self.sound
            document["audio"] = {"times": np.round(times, 9).tolist(), "sizes": sound.tolist()}
        return document
