"""
TCP as a Markov chain of round trips: its states and their transitions.

The sender of Wang, Kurose, Shenoy, Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study", ACM TOMCCAP
4 (2), 2008, as far as the paper's abstract and summaries of it describe it: a window that is sent as a whole, of which
the packets behind the first lost one are lost as well; a round in which the packets before it bring duplicate ACKs; and
timeouts that double.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

BACK_OFFS = 7  # timeouts in a row after which they grow no further (64 times the first one)
DUPLICATES = 3  # duplicate ACKs that bring a fast retransmit (RFC 5681)


@dataclass(frozen=True, slots=True)
class Normal:
    """A round in which the whole window is sent."""

    window: int
    threshold: int = 0  # slow-start threshold; 0 in congestion avoidance
    waits: bool = False
    """Whether a round has passed that did not open the window, as ACKs come for every second packet only."""


@dataclass(frozen=True, slots=True)
class AfterLoss:
    """The round after one with a loss, in which as many packets are sent as arrived of that one."""

    window: int
    survivors: int


@dataclass(frozen=True, slots=True)
class Timeout:
    """The wait until the timer expires, and the one packet that is sent then."""

    number: int  # timeouts in a row, this one included
    threshold: int


State: TypeAlias = Normal | AfterLoss | Timeout


@dataclass(frozen=True, slots=True)
class Rules:
    """The parameters of a sender's steps."""

    timeout: float  # length of a first timeout in round trips
    window: int  # largest window in packets
    per_ack: int  # packets that one ACK acknowledges: 1 or 2

    def most(self, state: State) -> int:
        """Return the most packets that can arrive in a step; each is lost, with all behind it, independently."""
        match state:
            case Normal():
                return state.window
            case AfterLoss():
                return state.survivors
            case Timeout():
                return 1

    def rounds(self, state: State) -> float:
        """Return the length of a step in round trips."""
        match state:
            case Normal():
                return 1.0
            case AfterLoss():
                return 1.0 if state.survivors else 0.0
            case Timeout():
                return self.timeout * 2.0 ** (state.number - 1)

    def after(self, state: State, arrived: int) -> State:
        """Return the next state for a number of arrived packets."""
        match state:
            case Normal():
                return self._grown(state) if arrived == state.window else AfterLoss(state.window, arrived)
            case AfterLoss():
                half = state.window // 2
                return Normal(max(1, half)) if arrived >= DUPLICATES else Timeout(1, max(2, half))
            case Timeout(number, threshold):
                return self._started(2, threshold) if arrived else Timeout(min(number + 1, BACK_OFFS), threshold)

    def _grown(self, state: Normal) -> Normal:
        """Open the window: in slow start by one packet per ACK, then by one in as many rounds as an ACK has packets."""
        if state.threshold:
            grown = 2 * state.window if self.per_ack == 1 else math.ceil(1.5 * state.window)
            return self._started(min(grown, state.threshold), state.threshold)
        if state.window == self.window:
            return state
        if self.per_ack == 2 and not state.waits:
            return Normal(state.window, waits=True)
        return Normal(state.window + 1)

    def _started(self, window: int, threshold: int) -> Normal:
        window = min(window, self.window)
        return Normal(window, threshold if window < min(threshold, self.window) else 0)


def explore(rules: Rules) -> dict[State, list[State]]:
    """List a sender's states as they are found from the first round on, each with what follows 0, 1, … arrivals."""
    found: dict[State, list[State]] = {}
    waiting: list[State] = [Normal(1)]
    while waiting:
        state = waiting.pop()
        if state not in found:
            found[state] = [rules.after(state, arrived) for arrived in range(rules.most(state) + 1)]
            waiting.extend(found[state])
    return found
