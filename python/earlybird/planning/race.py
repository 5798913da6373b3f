"""Sessions of several senders side by side, as many as it takes to tell which one to take."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.planning.choice import LOOKS, Standing, standing
from earlybird.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from earlybird.planning.session import Session, Theatre
    from earlybird.statistics import Estimate

BUDGET: Final = 80e6
"""Packets that are simulated at most, unless the first look takes more: some ten seconds of two processors. It is
counted in packets and not in seconds, so that the same question has the same answer everywhere."""


class Crew:
    """Threads that play sessions; the simulator does not hold Python's lock."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool, self._is_over = pool, threading.Event()

    def watch(self, _: float) -> None:
        """End the run that is under way once all is over."""
        if self._is_over.is_set():
            raise KeyboardInterrupt

    def play(self, theatres: Sequence[Theatre], seeds: Sequence[int]) -> Iterator[tuple[int, int, Session]]:
        """Play a session in each theatre for each seed; gives the theatre's place, the seed, and the session."""
        order = [(place, seed) for seed in seeds for place in range(len(theatres))]
        sessions = self._pool.map(lambda task: theatres[task[0]].play(task[1]), order)
        for (place, seed), session in zip(order, sessions, strict=True):
            yield place, seed, session

    def end(self) -> None:
        """Let nothing go on."""
        self._is_over.set()
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def crew(jobs: int | None) -> Iterator[Crew]:
    """Provide so many threads (None: one per processor), and end what is under way if the work ends early."""
    team = Crew(ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0))))
    try:
        yield team
    finally:
        team.end()


class Race:
    """
    Sessions of several senders, and who is ahead.

    Parameters
    ----------
    theatres
        One per sender, in the order in which they are preferred.
    team
        Who plays.
    noticeable
        Seconds by which a delay has to be shorter to be worth a change of the sender.
    show
        Whether to show a progress bar.
    """

    def __init__(self, theatres: Sequence[Theatre], team: Crew, noticeable: float, *, show: bool = False) -> None:
        self._theatres, self._team, self._noticeable, self._show = theatres, team, noticeable, show
        self._running = list(range(len(theatres)))
        self._last: Standing | None = None
        self.sessions: list[dict[int, Session]] = [{} for _ in theatres]
        self.needs: list[Estimate] = []
        self.choice = 0
        self.rivals: list[int] = []

    @property
    def doubt(self) -> float:
        """Probability that other seeds would lead to another choice."""
        return self._last.doubt if self._last else 1.0

    @property
    def is_clear(self) -> bool:
        """Whether that is small enough."""
        return self._last is not None and self._last.is_clear()

    def run(self) -> None:
        """Look again and again, until it is clear or the budget is spent."""
        left = BUDGET
        for number in LOOKS:
            seeds = range(len(self.sessions[self._running[0]]) + 1, number + 1)
            cost = len(seeds) * sum(self._theatres[place].cost for place in self._running)
            if self._last and cost > left:
                break
            left -= cost
            self.look(seeds)
            if self.is_clear:
                break

    def look(self, seeds: Sequence[int]) -> None:
        """Play sessions of the senders on which the choice still depends, and look who is ahead."""
        if self._last:
            self._running = [self._running[place] for place in self._last.contenders()]
        with progress_bar(len(seeds) * len(self._running), visible=self._show, what="sessions") as advance:
            for place, seed, session in self._team.play([self._theatres[place] for place in self._running], seeds):
                self.sessions[self._running[place]][seed] = session
                advance()
        self._take_stock()

    def _take_stock(self) -> None:
        rows = zip(*(self.sessions[place].values() for place in self._running), strict=True)
        self._last = standing(np.array([[session.need for session in row] for row in rows]), self._noticeable)
        self.needs = self.needs or list(self._last.needs)
        for place, need in zip(self._running, self._last.needs, strict=True):
            self.needs[place] = need
        self.choice = self._running[self._last.choice]
        backed = [self._running[place] for place, share in enumerate(self._last.support) if share > 0]
        self.rivals = [] if self.is_clear else backed
