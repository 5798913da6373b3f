"""One viewer's session: a run of the simulator, and the delay after which its film would have played through."""

from __future__ import annotations

import dataclasses
import math
import threading
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from earlybird.loading import resolve
from earlybird.planning import beside
from earlybird.planning.beside import LEAD, NONE
from earlybird.planning.ladder import UNSENT_LIMIT, Viewing
from earlybird.player import LATE_SHARE_ALLOWED, Playback, Timeliness, play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from earlybird._core import ResolvedScenario
    from earlybird.planning.candidates import Candidate
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.stream import StreamSpec

GROUP: Final = "film"

STARTS_WITHIN: Final = 1.0
"""Seconds in which a film begins at random, so that no two sessions meet the same losses at the same frames."""

VIEWERS_WITHIN: Final = 10.0  # seconds in which several viewers of one line begin

NEAR_THE_END: Final = 0.1  # a film falls behind for good if what came last is older than this share of the session

PER_RUN: Final = 4e3  # packets that are simulated in the time that a run takes however short it is, some 1 ms
PER_FRAME: Final = 2.0  # packets that are simulated in the time that a frame takes besides

ROUNDING: Final = 1e-6  # seconds that the sum of a time and a delay may be off

WINDOW_KEYS: Final = ("limited_by_window", "limited_by_receiver", "limited_by_send_buffer")

DELAY_STEP: Final = 1.05  # factor between two delays that are tried of a sender that gives up what is late
SHORTEST_DELAY: Final = 0.01
LONGEST_DELAY: Final = 10.0
DELAYS: Final = tuple(
    float(f"{SHORTEST_DELAY * DELAY_STEP**step:.3g}")
    for step in range(math.ceil(math.log(LONGEST_DELAY / SHORTEST_DELAY, DELAY_STEP)) + 1)
)
"""Seconds from writing to playing that are tried."""
FIRST_SEED: Final = 1
USUAL_TRIES: Final = 5
"""Delays that are tried in a session, on average of some films and lines."""


@dataclasses.dataclass(frozen=True, eq=False)
class Session:
    """The outcome of one simulated playback; times are in seconds."""

    delay_needed: float  # shortest delay with fewer late frames than allowed; infinite if there is none
    due: NDArray[np.float64]  # time at which each frame was written, or due in a stored film
    delivered: NDArray[np.float64]
    end: float
    limited_share: float  # of the time: a window or buffer held the sender back, not the network
    delivered_share: float  # of the frames
    seed: int
    queue_drops: int = 0  # packets of the film
    viewing: Viewing | None = None  # of a film in several renditions
    first_waited: float = 0.0  # part of `delay_needed`: what SRT's first packet waits, from whose arrival SRT counts
    arrived_within: float = math.inf  # seconds in which enough frames arrived, of each viewer

    @property
    def criterion(self) -> float:
        """The quantity by which senders are compared, smaller is better: the delay, or the quality that is missing."""
        return self.delay_needed if self.viewing is None else self.viewing.shortfall

    @property
    def awaited(self) -> NDArray[np.bool_]:
        """Which frames a player waits for: all but those that never came while later ones did."""
        came = np.isfinite(self.delivered)
        last = int(came.nonzero()[0].max(initial=-1))
        return came | (np.arange(len(came)) > last)

    def playback(self, delay: float) -> Playback:
        """Return the playback of a player that starts after a number of seconds and waits for late frames."""
        there = np.maximum.accumulate(self.delivered[self.awaited])
        return play(self.due[self.awaited], there, startup_delay=delay + ROUNDING, end=self.end)

    def stalls(self, delay: float) -> int:
        """Count the stalls of that player; of several renditions those of the player that was simulated."""
        return self.viewing.stalls if self.viewing else len(self.playback(delay).stalls)


SRT_POLLING: Final = 0.01
"""
Seconds by which `srt-live-transmit` reads a datagram late, at most, as it looks for datagrams this often.

libsrt 1.5: `srt_epoll_wait` with sockets of the system calls `CGlobEvent::waitForEvent` of srtcore/sync.cpp. Over
emulated lines (docs/plan.md) packets leave 0.5 to 11 ms after latency and path, evenly spread.
"""


def counts_from_arrival(candidate: Candidate) -> bool:
    """
    Return whether what the first packet waits on its way adds to the delay of all.

    SRT releases a packet one latency after it would have arrived with the delay of the handshake
    (draft-sharabayko-srt-01 §4.5.1.1), which includes a queue and jitter at that time.
    """
    return candidate.base == "srt"


def latency(path: NetworkPath, delay: float) -> int:
    """Return a relay's latency in milliseconds for a delay: without the shortest time that the path takes."""
    return max(math.ceil(1e3 * (delay - path.shortest_round_trip / 2)), 1)


def scenario(path: NetworkPath, stream: StreamSpec, candidate: Candidate, delay: float | None = None) -> dict[str, Any]:
    """Write the session as a scenario; `delay`, from writing to playing, is for senders that give up what is late."""
    endpoint = {"profile": "linux", "transport": candidate.transport, **candidate.settings}
    if stream.ladder is not None:
        endpoint["unsent-limit"] = UNSENT_LIMIT
    if counts_from_arrival(candidate) and delay is not None:
        endpoint["srt"] = {"latency": f"{latency(path, delay)}ms"}
    flow: dict[str, Any] = {"name": GROUP, "from": "sender", "to": "viewer", "application": stream.application()}
    lead = LEAD if path.beside != NONE else 0.0
    within = STARTS_WITHIN if path.viewers == 1 else VIEWERS_WITHIN
    flow |= {"count": path.viewers, "start": {"uniform": [f"{lead:g}s", f"{lead + within:g}s"]}}
    if delay is not None and not counts_from_arrival(candidate):
        flow["client"] = {"deadline": {"playback-delay": f"{round(1e6 * delay)}us"}}
    return {
        "title": f"{stream.clip.path.name}, {stream.goal}, by {candidate.name}",
        "duration": f"{stream.run_length + lead + within:g}s",
        "endpoint": endpoint,
        "network": path.network(lead),
        "flows": [flow, *beside.flows(path.beside, flow)],
        "measure": {"deliveries": True},
    }


def needed_delay(
    due: NDArray[np.float64],
    delivered: NDArray[np.float64],
    end: float,
    late: float = LATE_SHARE_ALLOWED,
    delay: float | None = None,
) -> float:
    """Return the seconds (`delay` alone, if given) with which fewer frames than `late` are late, or infinity."""
    timeliness = Timeliness(due, delivered, end)
    if delay is not None:
        return delay if timeliness.late(delay) <= timeliness.allowed(late) else math.inf
    came = due[np.isfinite(delivered)]
    if not len(came) or came[-1] < (1 - NEAR_THE_END) * due[-1]:
        return math.inf
    return max(timeliness.needed_for(late), 0.0)


def first_place(
    holds: Callable[[int], bool], count: int, guess: int, *, step: int = 1, presumed: Callable[[int], int] | None = None
) -> int:
    """
    Return the first of `count` places from which on a condition holds, or `count` if there is none.

    It is looked for in growing steps from a guess and then by halving (Bentley and Yao, "An almost optimal algorithm
    for unbounded searching", Information Processing Letters 5, 1976). `presumed` returns, for a place at which it
    holds, the first one at which it presumably does, which is tried next.
    """
    low, high, place = -1, count, guess
    following = step  # most guesses are right, or wrong by one
    while high - low > 1:
        if does := holds(place):
            high = place
        else:
            low = place
        first = presumed(place) if does and presumed else high
        if low < first < place:
            place, step, following = first, 1, 1
            continue
        middle = (low + high) // 2
        place = max(high - step, middle) if does else min(low + step, max(middle, low + 1))
        step, following = following, 2 * following
    return high


def rows_by_name(names: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows of a column of names by name, in order."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        rows[name].append(row)
    return rows


class SessionRunner:
    """
    Plays sessions of one film; `watch` is called some twenty times a second, and what it raises ends the run.

    In a series of many seeds the delay of a sender that gives up what is late is looked for near that of the first one.
    """

    def __init__(
        self,
        path: NetworkPath,
        stream: StreamSpec,
        candidate: Candidate,
        late: float = LATE_SHARE_ALLOWED,
        watch: Callable[[float], None] | None = None,
        *,
        is_series: bool = False,
    ) -> None:
        self._path, self._stream, self._candidate = path, stream, candidate
        self._late, self._watch = late, watch
        self._resolved: dict[tuple[float | None, int], ResolvedScenario] = {}
        self._is_series = is_series
        self._guess: int | None = None
        self._finding_first = threading.Lock()
        self._seconds = stream.run_length + LEAD + (STARTS_WITHIN if path.viewers == 1 else VIEWERS_WITHIN)
        self._starts = path.starts(stream.run_length)

    @property
    def _connected(self) -> float:
        """Seconds before which no frame can be there, as a handshake that is not simulated comes before the first."""
        path, first = self._path, int(self._stream.clip.sizes[0])
        if not self._candidate.handshake:
            return 0.0
        return (self._candidate.handshake + 0.5) * path.round_trip + 8 * first / path.rate

    @property
    def cost(self) -> float:
        """The cost of a session, as the number of packets that are simulated in the same time."""
        delay = DELAYS[-1] if self._candidate.has_deadline else None
        tries = USUAL_TRIES if self._candidate.has_deadline else 1
        frames = PER_FRAME * len(self._stream.play_times)
        return float(tries * (PER_RUN + frames + self._scenario(delay).estimate(math.inf)[0]))

    def play(self, seed: int) -> Session:
        """Play a session; of a sender that gives up what is late, with the shortest delay that does."""
        if not self._candidate.has_deadline:
            return self.session(seed)
        return self._search(seed, self._usual_delay() if self._is_series else None)[1]

    def expect(self, sessions: Iterable[Session]) -> None:
        """Look for delays near the median of these sessions from now on."""
        places = [bisect_left(DELAYS, session.delay_needed - session.first_waited) for session in sessions]
        if places and self._candidate.has_deadline:
            self._guess = min(round(float(np.median(places))), len(DELAYS) - 1)

    def _usual_delay(self) -> int:
        """
        Return the place in `DELAYS` of what the session of the first seed needs, near which others will be.

        It depends on no other session, so that the result is the same in any number of threads.
        """
        with self._finding_first:
            if self._guess is None:
                self._guess = self._search(FIRST_SEED, None)[0]
        return self._guess

    def _search(self, seed: int, guess: int | None) -> tuple[int, Session]:
        """Return the place of the shortest delay that suffices, or of the longest of all, and its session."""
        tried: dict[int, Session] = {}

        def suffices(place: int) -> bool:
            tried[place] = self.session(seed, DELAYS[place])
            return math.isfinite(tried[place].delay_needed)

        def presumed(place: int) -> int:
            return bisect_left(DELAYS, tried[place].arrived_within)

        count, last = len(DELAYS), len(DELAYS) - 1
        # Without a guess, by halving, if the longest delay suffices at all.
        begin, step = (last, count) if guess is None else (guess, 1)
        place = min(first_place(suffices, count, begin, step=step, presumed=presumed), last)
        return place, tried[place]

    def _scenario(self, delay: float | None, seed: int = 0) -> ResolvedScenario:
        start = self._starts[seed % len(self._starts)]
        if (delay, start) not in self._resolved:
            path = self._path if self._starts == (0,) else self._path.from_start(start, self._seconds)
            self._resolved[delay, start] = resolve(scenario(path, self._stream, self._candidate, delay))
        return self._resolved[delay, start]

    def session(self, seed: int, delay: float | None = None) -> Session:
        """
        Play a session, with this `delay` (seconds) for a sender that gives up what is late.

        Of several viewers on the line it is that of the one who needs the longest delay.
        """
        outcome = self._scenario(delay, seed).run(seed, watch=self._watch)
        frames = rows_by_name(outcome["tables"]["deliveries"]["flow"])
        viewers = [
            self._viewed(name, outcome["tables"], frames[name], seed, delay)
            for name in (f"{GROUP}{number}" for number in range(self._path.viewers))
        ]
        slowest = max(viewers, key=lambda viewed: viewed.criterion)
        return dataclasses.replace(slowest, arrived_within=max(viewed.arrived_within for viewed in viewers))

    def _viewed(self, flow: str, tables: Mapping[str, Any], own: list[int], seed: int, delay: float | None) -> Session:
        """Return the session of one viewer, whose frames are those of the rows `own`."""
        frames, flows, end = tables["deliveries"], tables["flows"], self._stream.run_length
        written, delivered = self._on_time(frames["written_s"][own], frames["delivered_s"][own])
        delivered = np.maximum(delivered, self._connected)
        row = flows["flow"].index(flow)
        limited_share = float(sum(np.nan_to_num(flows[key][row]).item() for key in WINDOW_KEYS))
        viewing = self._viewing(tables, flow)
        first_waited = 0.0
        if delay is not None and counts_from_arrival(self._candidate):
            released = float(np.min(delivered - written)) + ROUNDING
            # Of a session that is shorter than the delay nothing was released, and nothing was late.
            if math.isfinite(released):
                delay, first_waited = released + SRT_POLLING, max(released - delay, 0.0) + SRT_POLLING
        delay_needed = viewing.startup_delay if viewing else needed_delay(written, delivered, end, self._late, delay)
        arrived_within = math.inf if delay is None else needed_delay(written, delivered, end, self._late)
        delivered_share = float(np.isfinite(delivered).mean())
        queue_drops = int(flows["queue_drops"][row].item())
        return Session(
            delay_needed,
            written,
            delivered,
            end,
            limited_share,
            delivered_share,
            seed,
            queue_drops,
            viewing,
            first_waited,
            arrived_within,
        )

    def _viewing(self, tables: Mapping[str, Any], flow: str) -> Viewing | None:
        ladder = self._stream.ladder
        # A live film begins behind the camera with any sender.
        return None if ladder is None else Viewing.of(ladder, tables, flow, counts_startup=self._stream.goal == "vod")

    def _on_time(
        self, written: NDArray[np.float64], delivered: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Count time from the film's beginning; frames of a film in segments are there when their segments are."""
        begin = written[0]
        if self._stream.is_segmented:
            segments = self._stream.segment_times(written - begin, delivered - begin)
            return self._stream.play_times, self._stream.delivered_frames(segments)
        return written - begin, delivered - begin
