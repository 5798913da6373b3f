"""Sessions of several senders side by side, as many as it takes to tell which one to take."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.planning.selection import SAMPLE_SIZES, Ranking, rank
from earlybird.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from earlybird.planning.session import Session, SessionRunner
    from earlybird.statistics import Estimate

BUDGET: Final = 80e6
"""Packets that are simulated at most, unless the first look takes more: some ten seconds of two processors. It is
counted in packets and not in seconds, so that the same question has the same answer everywhere."""


class WorkerPool:
    """Threads that play sessions; the simulator does not hold Python's lock."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self._pool, self._is_over = pool, threading.Event()

    def watch(self, _: float) -> None:
        """End the run that is under way once all is over."""
        if self._is_over.is_set():
            raise KeyboardInterrupt

    def play(self, runners: Sequence[SessionRunner], seeds: Sequence[int]) -> Iterator[tuple[int, int, Session]]:
        """Play a session in each theatre for each seed; gives the theatre's place, the seed, and the session."""
        order = [(place, seed) for seed in seeds for place in range(len(runners))]
        sessions = self._pool.map(lambda task: runners[task[0]].play(task[1]), order)
        for (place, seed), session in zip(order, sessions, strict=True):
            yield place, seed, session

    def end(self) -> None:
        """Let nothing go on."""
        self._is_over.set()
        self._pool.shutdown(cancel_futures=True)


@contextmanager
def worker_pool(jobs: int | None) -> Iterator[WorkerPool]:
    """Provide so many threads (None: one per processor), and end what is under way if the work ends early."""
    workers = WorkerPool(ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0))))
    try:
        yield workers
    finally:
        workers.end()


class Sampler:
    """
    Sessions of several senders, and who is ahead.

    Parameters
    ----------
    runners
        One per sender, in the order in which they are preferred.
    workers
        Who plays.
    noticeable
        Seconds by which a delay has to be shorter to be worth a change of the sender.
    show
        Whether to show a progress bar.
    """

    def __init__(
        self, runners: Sequence[SessionRunner], workers: WorkerPool, noticeable: float, *, show: bool = False
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

    def run(self) -> None:
        """Look again and again, until it is clear or the budget is spent."""
        left = BUDGET
        for number in SAMPLE_SIZES:
            seeds = range(len(self.sessions[self._running[0]]) + 1, number + 1)
            cost = len(seeds) * sum(self._runners[place].cost for place in self._running)
            if self._last and cost > left:
                break
            left -= cost
            self.sample(seeds)
            if self.is_clear:
                break

    def sample(self, seeds: Sequence[int]) -> None:
        """Play sessions of the senders on which the choice still depends, and look who is ahead."""
        if self._last:
            self._running = [self._running[place] for place in self._last.contenders()]
        with progress_bar(len(seeds) * len(self._running), visible=self._show, what="sessions") as advance:
            for place, seed, session in self._workers.play([self._runners[place] for place in self._running], seeds):
                self.sessions[self._running[place]][seed] = session
                advance()
        self._update_ranking()

    def _update_ranking(self) -> None:
        rows = zip(*(self.sessions[place].values() for place in self._running), strict=True)
        self._last = rank(np.array([[session.delay_needed for session in row] for row in rows]), self._noticeable)
        self.delays_needed = self.delays_needed or list(self._last.delays_needed)
        for place, delay_needed in zip(self._running, self._last.delays_needed, strict=True):
            self.delays_needed[place] = delay_needed
        self.choice = self._running[self._last.choice]
        backed = [self._running[place] for place, share in enumerate(self._last.support) if share > 0]
        self.open_candidates = [] if self.is_clear else backed
