"""Models of a player: late frames and stalls, from delivery times.

Two views of one log. *Constrained*: playback never pauses, and a frame that is not there when its time comes is late.
*Rebuffering*: playback pauses until the frame is there, and everything after it is shown later.

Both count the startup delay from the moment the source writes the first frame. Times are in seconds; a frame counts as
delivered when its last byte is, in order; one that was never delivered has the time infinity.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

REFILL_SECONDS: Final = 0.5
"""Media that a player buffers before it resumes after a stall (our choice; players use 0 to 5 s)."""

LATE_SHARE_ALLOWED: Final = 1e-4  # a stream succeeds if fewer of its frames than this share are late


class Timeliness:
    """
    Late frames against the startup delay, when playback never pauses; times are in seconds.

    A frame whose deadline lies after the end of the run is not judged. One that is still missing at the end counts as
    having taken until then.
    """

    def __init__(self, written: NDArray[np.float64], delivered: NDArray[np.float64], end: float) -> None:
        self._delays = np.sort(np.minimum(delivered, end) - written)
        self._remaining = np.sort(end - written)

    @property
    def frames(self) -> int:
        """Number of frames written."""
        return len(self._delays)

    def judged(self, startup_delay: float) -> int:
        """Count the frames whose deadline is before the end of the run, for a startup delay in seconds."""
        return self.frames - int(np.searchsorted(self._remaining, startup_delay))

    def late(self, startup_delay: float) -> int:
        """Count the frames delivered after their deadline, for a startup delay in seconds."""
        return self.frames - int(np.searchsorted(self._delays, startup_delay, side="right"))

    def late_share(self, startup_delay: float) -> float:
        """Divide the late frames by those judged; not a number where none is."""
        judged = self.judged(startup_delay)
        return self.late(startup_delay) / judged if judged else math.nan

    def needed_for(self, allowed_share: float = 0.0) -> float:
        """Return the smallest startup delay in seconds with fewer late frames than `allowed_share` (0: with none)."""
        return float(self._delays[-1 - self.allowed(allowed_share)])

    def allowed(self, share: float) -> int:
        """Return the largest number of late frames that is less than `share` of all (0 if `share` is 0)."""
        return max(math.ceil(self.frames * share) - 1, 0)


@dataclasses.dataclass(frozen=True)
class Playback:
    """The playback of a player that stalls: the seconds of each pause and where in the film, and of film shown."""

    stalls: tuple[float, ...]
    positions: tuple[float, ...]
    played: float

    @property
    def stalled(self) -> float:
        """Seconds spent in pauses."""
        return math.fsum(self.stalls)

    @property
    def mean_stall(self) -> float:
        """Mean length of a pause in seconds; not a number if there was none."""
        return self.stalled / len(self.stalls) if self.stalls else math.nan

    @property
    def stall_ratio(self) -> float:
        """Share of the time since startup that was spent in pauses."""
        total = self.stalled + self.played
        return self.stalled / total if total else 0.0

    def stall_starts(self, first: float) -> NDArray[np.float64]:
        """Return when each pause began, for the time `first` at which the first frame was shown."""
        starts: NDArray[np.float64] = first + np.array(self.positions) + np.cumsum((0.0, *self.stalls))[:-1]
        return starts

    def shown(self, written: NDArray[np.float64], startup_delay: float) -> NDArray[np.float64]:
        """Return when each frame is shown: infinity for those that a pause to the end of the run keeps back."""
        offsets = written - written[0]
        pauses = np.cumsum((0.0, *self.stalls))[np.searchsorted(self.positions, offsets, side="right")]
        times: NDArray[np.float64] = np.where(offsets > self.played, np.inf, written + startup_delay + pauses)
        return times


def play(
    written: NDArray[np.float64],
    delivered: NDArray[np.float64],
    *,
    startup_delay: float,
    end: float,
    refill: float = REFILL_SECONDS,
) -> Playback:
    """Play a film from `startup_delay` on (seconds), paused from a missing frame until `refill` seconds are there."""
    shift, frame = startup_delay, 0
    stalls: list[float] = []
    positions: list[float] = []
    while (missing := next_missing(written, delivered, shift, frame)) < len(written):
        missed = float(written[missing]) + shift
        if missed >= end:
            break
        ready, frame = refilled(written, delivered, missing, refill)
        stalls.append(min(ready, end) - missed)
        positions.append(float(written[missing] - written[0]))
        if ready >= end:
            return Playback(tuple(stalls), tuple(positions), positions[-1])
        shift = ready - float(written[missing])
    return Playback(tuple(stalls), tuple(positions), max(end - shift - float(written[0]), 0.0))


def next_missing(written: NDArray[np.float64], delivered: NDArray[np.float64], shift: float, first: int) -> int:
    """Find the first frame from `first` on that is not there `shift` after it was written; their number if all are."""
    missing = delivered[first:] > written[first:] + shift
    return first + int(missing.argmax()) if missing.any() else len(written)


def refilled(
    written: NDArray[np.float64], delivered: NDArray[np.float64], frame: int, refill: float
) -> tuple[float, int]:
    """Return when `refill` seconds from `frame` on (or the rest) are delivered, and the frame after them."""
    following = max(int(np.searchsorted(written, written[frame] + refill)), frame + 1)
    return float(delivered[following - 1]), following
