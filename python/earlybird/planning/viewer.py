"""The viewer of one session: the frame on the screen, the pauses and the buffer over time."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from earlybird.planning.session import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from earlybird.planning.planner import CandidateResult
    from earlybird.planning.session import Session


@dataclasses.dataclass(frozen=True, eq=False)
class Viewer:
    """The viewer of one sender; times are in seconds since the viewer pressed play, which is when the film begins."""

    result: CandidateResult
    delay: float  # from pressing play to the first frame
    due: NDArray[np.float64]  # of each frame of the film
    arrived: NDArray[np.float64]  # arrival of each frame and of all before it that are waited for
    shown: NDArray[np.float64]  # infinity for a frame that is not shown
    freezes: tuple[tuple[float, float], ...]  # start and length of each span in which the picture does not change
    waits: bool  # for what is late; otherwise the picture before stays, and the film goes on

    @classmethod
    def of(cls, result: CandidateResult, session: Session, delay: float) -> Viewer:
        """Play a session with a player that starts after `delay`, by the rule of the sender."""
        waits = not result.candidate.has_deadline
        arrived = np.maximum.accumulate(np.where(session.awaited, session.delivered, 0.0))
        shown = np.full(len(session.due), np.inf)
        if waits:
            playback = session.playback(delay)
            shown[session.awaited] = playback.shown(session.due[session.awaited], delay)
            starts = playback.stall_starts(float(session.due[0]) + delay)
            freezes = tuple(zip(starts.tolist(), playback.stalls, strict=True))
        else:
            on_time = session.delivered <= session.due + delay + ROUNDING
            shown[on_time] = session.due[on_time] + delay
            freezes = _runs(on_time, session.due + delay, session.end)
        return cls(result, delay, session.due, arrived, shown, freezes, waits)

    def frame(self, now: float) -> int | None:
        """Return the number of the frame on the screen; None before the first."""
        on_screen = np.flatnonzero(self.shown <= now)
        return int(on_screen[-1]) if len(on_screen) else None

    def frozen(self, now: float) -> float | None:
        """Return for how many seconds the picture has been frozen; None if it is not."""
        return next((now - start for start, length in self.freezes if start <= now < start + length), None)

    def frozen_total(self, now: float) -> float:
        """Return the seconds that the picture was frozen so far."""
        return math.fsum(min(max(now - start, 0.0), length) for start, length in self.freezes)

    def frozen_in(self, start: float, end: float) -> float:
        """Return the seconds between two times in which the picture was frozen."""
        return self.frozen_total(end) - self.frozen_total(start)

    def freezes_by(self, now: float) -> int:
        """Count the freezes that have begun."""
        return sum(start <= now for start, _ in self.freezes)

    def position(self, now: float) -> float:
        """Return the seconds of film that were played."""
        return max(now - self.delay - (self.frozen_total(now) if self.waits else 0.0), 0.0)

    def buffered(self, now: float) -> float:
        """Return the seconds of film that have come and are still to be played."""
        count = int(np.searchsorted(self.arrived, now, side="right"))
        end = self.due[count] if count < len(self.due) else self.due[-1]
        return max(float(end) - self.position(now), 0.0)

    def lost(self, now: float) -> int:
        """Count the frames whose time has passed and that were not shown."""
        return int(np.sum(~np.isfinite(self.shown) & (self.due + self.delay <= now)))

    def to_dict(self, start: float, end: float) -> dict[str, Any]:
        """Describe what is seen between two times: freezes that begin in it, with start and length, and frames lost."""
        seen = [freeze for freeze in self.freezes if start <= freeze[0] < end]
        lost = 0 if self.waits else self.lost(end) - self.lost(start)
        return {"freezes": seen, "frozen_s": self.frozen_in(start, end), "frames_lost": lost}


def _runs(on_time: NDArray[np.bool_], played: NDArray[np.float64], end: float) -> tuple[tuple[float, float], ...]:
    """Return when each run of frames that are not on time begins to be missing, and for how long."""
    missing = ~on_time[played < end]
    edges = np.flatnonzero(np.diff(missing, prepend=False, append=False))
    times = np.append(played[: len(missing)], end)[edges].reshape(-1, 2)
    return tuple((float(first), float(last - first)) for first, last in times)
