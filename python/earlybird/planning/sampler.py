"""Sessions of several senders, as many as are needed to choose one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.executors import as_completed
from earlybird.planning.selection import (
    NOTICEABLE_SECONDS,
    SAMPLE_SIZES,
    Ranking,
    is_noticeably_longer,
    quantile_estimate,
    quantile_of_sessions,
    rank,
)
from earlybird.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.executors import Executor
    from earlybird.planning.session import Session, SessionRunner
    from earlybird.progress import Report
    from earlybird.statistics import Estimate

BUDGET: Final = 45e6
"""Packets that the first looks would take with all senders, which decides the length of sessions: less than ten seconds
of two processors. It is counted in packets and not in seconds, so that the same question has the same answer
everywhere."""

LATER_BUDGET: Final = 30e6
"""Packets up to which further looks follow."""

PILOT: Final = 10
"""Sessions after which senders without a chance are left out."""

REFINED: Final = SAMPLE_SIZES[1]
"""Sessions of the chosen sender if 40 leave its delay open: a lost SYN, which costs a second, is in one of 50 sessions
over a line that loses 1 %, and would decide the upper end of 40 more often than not."""


class Sampler:
    """Sessions of several senders, the preferred first, and who is ahead by a `noticeable` number of seconds."""

    def __init__(
        self, runners: Sequence[SessionRunner], workers: Executor, noticeable: float, *, show: bool | Report = False
    ) -> None:
        self._runners, self._workers, self._noticeable, self._show = runners, workers, noticeable, show
        self._running = list(range(len(runners)))
        self._last: Ranking | None = None
        self.sessions: list[dict[int, Session]] = [{} for _ in runners]
        self.delays_needed: list[Estimate] = []
        self.choice = 0
        self.open_candidates: list[int] = []

    @property
    def doubt(self) -> float:
        """Probability that other seeds would lead to another choice."""
        return self._last.doubt if self._last else 1.0

    @property
    def is_clear(self) -> bool:
        """Whether that is small enough."""
        return self._last is not None and self._last.is_clear()

    @property
    def compared(self) -> int:
        """Sessions of each sender from which the choice was made."""
        return self._last.sessions if self._last else 0

    def run(self) -> None:
        """Sample until the choice is clear or the budget is spent."""
        left = LATER_BUDGET
        self.sample(range(1, PILOT + 1))
        for number in SAMPLE_SIZES:
            seeds = range(len(self.sessions[self._running[0]]) + 1, number + 1)
            cost = len(seeds) * sum(self._runners[place].cost for place in self._running)
            if number > SAMPLE_SIZES[0] and cost > left:
                break
            left -= cost
            self.sample(seeds)
            if self.is_clear:
                break

    def sample(self, seeds: Sequence[int]) -> None:
        """Play sessions of the senders on which the choice still depends, and look who is ahead."""
        if self._last:
            self._running = [self._running[place] for place in self._last.contenders()]
        for place in self._running:
            self._runners[place].expect(self.sessions[place].values())
        self._play_all([(seed, place) for seed in seeds for place in self._running])
        self._update_ranking()
        while returning := self._returning():
            self._catch_up(returning)

    def _returning(self) -> list[int]:
        """List the senders that were left out and would be chosen now that those ahead of them need more."""
        if self._last is None:
            return []
        needed = [
            float(quantile_of_sessions(np.array([session.criterion for session in played.values()])))
            for played in self.sessions
        ]
        return self._last.returning(self._running, needed)

    def _catch_up(self, places: Sequence[int]) -> None:
        """Play the sessions that senders missed while they were left out."""
        seeds = self.sessions[self._running[0]]
        self._play_all([(seed, place) for place in places for seed in seeds if seed not in self.sessions[place]])
        self._running = sorted([*self._running, *places])
        self._update_ranking()

    def refine(self) -> None:
        """Play more sessions of the chosen sender if the delay that nine of ten do with is still open."""
        found, played = self.delays_needed[self.choice], self.sessions[self.choice]
        is_open = math.isfinite(found.mean) and is_noticeably_longer(found.high, found.mean, NOTICEABLE_SECONDS)
        if is_open and len(played) < REFINED:
            self._play_all([(seed, self.choice) for seed in range(len(played) + 1, REFINED + 1)])
            delays_needed = [session.delay_needed for session in played.values()]
            self.delays_needed[self.choice] = quantile_estimate(np.array(delays_needed))

    def _play_all(self, tasks: Sequence[tuple[int, int]]) -> None:
        """Play sessions by seed and sender."""
        with progress_bar(len(tasks), visible=self._show, what="sessions") as advance:
            played: dict[tuple[int, int], Session] = {}
            for task, session in as_completed(self._workers, self._play, tasks):
                played[task] = session
                advance()
        # Rows of the ranking are seeds in their order, whatever order the sessions end in.
        for seed, place in tasks:
            self.sessions[place][seed] = played[seed, place]

    def _play(self, task: tuple[int, int]) -> Session:
        seed, place = task
        return self._runners[place].play(seed)

    def _delay_needed(self, place: int, ranked: Estimate) -> Estimate:
        """Return the delay that nine of ten sessions do with, which was ranked unless quality was."""
        sessions = self.sessions[place].values()
        if any(session.viewing is None for session in sessions):
            return ranked
        return quantile_estimate(np.array([session.delay_needed for session in sessions]))

    def _update_ranking(self) -> None:
        rows = zip(*(self.sessions[place].values() for place in self._running), strict=True)
        self._last = rank(np.array([[session.criterion for session in row] for row in rows]), self._noticeable)
        found = [
            self._delay_needed(place, ranked)
            for place, ranked in zip(self._running, self._last.delays_needed, strict=True)
        ]
        self.delays_needed = self.delays_needed or found
        for place, delay_needed in zip(self._running, found, strict=True):
            self.delays_needed[place] = delay_needed
        self.choice = self._running[self._last.choice]
        backed = [self._running[place] for place, share in enumerate(self._last.support) if share > 0]
        self.open_candidates = [] if self.is_clear else backed
