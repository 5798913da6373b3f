"""The share of late packets of a video that is streamed over TCP, by a Markov chain of round trips."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.models.rounds import Rules, explore

if TYPE_CHECKING:
    from scipy import sparse
    from scipy.sparse import linalg
else:
    sparse = LateModule("scipy.sparse")
    linalg = LateModule("scipy.sparse.linalg")

SENDERS = 1024  # senders that are followed side by side
BLOCK = 128  # steps of each that are drawn at once
WARM_UP = 32  # blocks after which a client that begins with a full buffer counts as stationary


@dataclass(frozen=True)
class StreamingChain:
    """
    A TCP sender as a Markov chain, made by `streaming_chain`.

    A step takes `rounds` round trips, and `most` packets are on their way in it; each is lost with probability `loss`,
    and all behind it are lost with it. Where ``m`` packets arrive, state ``i`` is followed by ``targets[first[i] +
    m]``.
    """

    loss: float
    round_trip: float  # seconds
    most: NDArray[np.int16]
    rounds: NDArray[np.float64]
    first: NDArray[np.int32]
    targets: NDArray[np.int32]

    @cached_property
    def throughput(self) -> float:
        """Packets per second of a sender that always has something to send; exact."""
        return float(self._stationary @ self._mean_arrivals / self._mean_seconds)

    @cached_property
    def variance_rate(self) -> float:
        """
        Variance of the packets that arrive in a long time ÷ that time, packets² per second; exact.

        From the martingale of the chain's Poisson equation: what arrives beyond the mean, and what is to be expected
        beyond the mean from the next state on.
        """
        drift = self.throughput * self.round_trip * self.rounds
        others = np.arange(self.rounds.size) != np.argmax(self._stationary)
        expected = np.zeros(self.rounds.size)
        expected[others] = linalg.spsolve(self._balance[others][:, others], (self._mean_arrivals - drift)[others])
        gains = self._arrivals - drift[self._origins] + expected[self.targets] - expected[self._origins]
        return float(self._stationary[self._origins] @ (self._chances * gains**2) / self._mean_seconds)

    def late_share(
        self, rate: float, delays: Sequence[float], *, steps: int = 20_000_000, seed: int = 1
    ) -> NDArray[np.float64]:
        """
        Estimate the share of a live video's packets that come late, for each startup delay in seconds.

        The source writes `rate` packets a second, and the sender cannot be ahead of it. Its lag follows Lindley's
        recursion and does not depend on the startup delay: a packet is late if the sender lags by more than what is
        written in that time. So one sequence of steps serves all delays. In a step a round trip passes or a timeout; 20
        million take less than a second.

        Raises `InputError` if the rate is not above 0 and below the throughput.
        """
        if not 0 < rate < self.throughput:
            raise InputError(
                f"rate = {rate}: a live video needs a rate above 0 and below the throughput of "
                f"{self.throughput:.4g} packets per second, or it falls behind without end."
            )
        written, limits = rate * self.round_trip, rate * np.asarray(delays, dtype=np.float64)
        late, packets, lag = np.zeros(limits.size), 0.0, np.zeros(SENDERS)
        blocks = WARM_UP + max(1, round(steps / (SENDERS * BLOCK)))
        for number, (arrived, rounds) in enumerate(islice(self._blocks(seed), blocks)):
            before, after = _lags(lag, written * rounds, arrived)
            lag = after[-1]
            if number >= WARM_UP:
                late += _late(before, after, limits)
                packets += float(before.sum() - after.sum())
        return late / packets

    def stored_late_share(
        self, rate: float, delays: Sequence[float], length: float, *, videos: int = 10_000, seed: int = 1
    ) -> NDArray[np.float64]:
        """
        Estimate the share of a stored video's packets that come late, for each startup delay in seconds.

        The whole video is there from the first moment, and is sent as fast as the sender can, which is not at its
        beginning; a packet is late if it comes after the client wants it. The client plays `rate` packets a second for
        `length` seconds; at least `videos` transfers are drawn, by the thousand. Raises `InputError` if the rate or the
        length is not above 0.
        """
        if rate <= 0 or length <= 0:
            raise InputError(f"rate = {rate}, length = {length}: packets per second and seconds, both above 0.")
        late, batches = np.zeros(len(delays)), math.ceil(videos / SENDERS)
        for batch in range(batches):
            late += self._late_of_stored(rate, delays, rate * length, (seed, batch))
        return late / (batches * SENDERS * rate * length)

    def _late_of_stored(
        self, rate: float, delays: Sequence[float], packets: float, seed: tuple[int, int]
    ) -> NDArray[np.float64]:
        """Count late packets of one transfer per sender, until all have sent so many packets."""
        late, now, sent = np.zeros(len(delays)), np.zeros(SENDERS), np.zeros(SENDERS)
        for arrived, rounds in self._blocks(seed):
            times = now + self.round_trip * np.cumsum(rounds, axis=0)
            after = np.minimum(sent + np.cumsum(arrived, axis=0), packets)
            before = np.concatenate((sent[np.newaxis], after[:-1]))
            for place, delay in enumerate(delays):
                wanted = np.clip(rate * (times - delay), 0, after)
                late[place] += np.maximum(wanted - before, 0).sum()
            now, sent = times[-1], after[-1]
            if sent.min() >= packets:
                break
        return late

    def diffusion_delay(self, rate: float, late_share: float) -> float:
        """
        Approximate the startup delay in seconds at which so small a share of a live video's packets is late.

        The lag as a diffusion with the chain's drift and variance, reflected at 0: it exceeds B with probability
        exp(−2·B·(T − µ)/σ²). The rate µ in packets per second is below the throughput T.
        """
        return self.variance_rate * math.log(1 / late_share) / (2 * (self.throughput - rate)) / rate

    def _blocks(self, seed: int | tuple[int, int]) -> Iterator[tuple[NDArray[np.int16], NDArray[np.float64]]]:
        """Draw blocks of steps: packets that arrive and round trips that pass, a row per step, a column per sender."""
        random = np.random.default_rng(seed)
        state = random.choice(self.rounds.size, SENDERS, p=self._stationary).astype(np.int32)
        arrived, states = np.empty((BLOCK, SENDERS), np.int16), np.empty((BLOCK, SENDERS), np.int32)
        while True:
            unharmed = self._unharmed(random)
            for step in range(BLOCK):
                states[step] = state
                np.minimum(unharmed[step], self.most[state], out=arrived[step])
                state = self.targets[self.first[state] + arrived[step]]
            yield arrived, self.rounds[states]

    def _unharmed(self, random: np.random.Generator) -> NDArray[np.int16]:
        """Draw how many packets would come through before the first loss, no more than the largest window."""
        waits = random.standard_exponential((BLOCK, SENDERS), dtype=np.float32)
        waits *= np.float32(-1 / np.log1p(-self.loss))
        return np.minimum(waits, np.float32(self.most.max())).astype(np.int16)

    @cached_property
    def _stationary(self) -> NDArray[np.float64]:
        """The share of steps in each state: their sum, 1, replaces one equation of balance."""
        count = self.rounds.size
        ones = sparse.csr_array(np.ones((1, count)))
        equations = sparse.vstack([self._balance.T.tocsr()[:-1], ones], format="csc")
        shares = np.maximum(
            linalg.spsolve(equations, np.eye(1, count, count - 1).ravel()), 0.0
        )  # rounding may go below 0
        return shares / float(shares.sum())

    @cached_property
    def _balance(self) -> "sparse.csc_array[np.float64]":
        """One less the transition matrix."""
        count = self.rounds.size
        transitions = sparse.csc_array((self._chances, (self._origins, self.targets)), shape=(count, count))
        return sparse.csc_array(sparse.eye_array(count) - transitions)

    @cached_property
    def _origins(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(self.rounds.size, dtype=np.int32), self.most + 1)

    @cached_property
    def _arrivals(self) -> NDArray[np.int_]:
        return np.arange(self.targets.size, dtype=np.int32) - self.first[self._origins]

    @cached_property
    def _chances(self) -> NDArray[np.float64]:
        is_whole = self._arrivals == self.most[self._origins]
        chances = (1 - self.loss) ** self._arrivals * np.where(is_whole, 1.0, self.loss)
        return chances.astype(np.float64)

    @cached_property
    def _mean_arrivals(self) -> NDArray[np.float64]:
        return np.bincount(self._origins, self._chances * self._arrivals).astype(np.float64)

    @cached_property
    def _mean_seconds(self) -> float:
        return float(self._stationary @ self.rounds) * self.round_trip


def streaming_chain(
    loss: float, round_trip: float, timeout: float, *, window: int = 64, per_ack: int = 1
) -> StreamingChain:
    """
    Build the Markov chain of a TCP sender that streams a video.

    Our reconstruction of Wang, Kurose, Shenoy, Towsley, "Multimedia Streaming via TCP: An Analytic Performance Study",
    ACM TOMCCAP 4 (2), 2008, of which the abstract and summaries were at hand (see `earlybird.models.rounds`). `loss` is
    the probability that a packet is lost, above 0 and below 1; `round_trip` is in seconds, as is the first `timeout`,
    at least a round trip; the largest `window` is in packets; one ACK acknowledges 1 packet, or 2 with delayed ACKs.
    Raises `InputError` if a value is not allowed.

    >>> from earlybird.models import streaming_chain
    >>> chain = streaming_chain(loss=0.02, round_trip=0.1, timeout=0.4, per_ack=2)
    >>> round(chain.throughput, 1)
    42.3
    >>> twice = chain.late_share(chain.throughput / 2, delays=[2, 4], steps=1_000_000)
    """
    _check(loss, round_trip, timeout, window, per_ack)
    rules = Rules(timeout / round_trip, window, per_ack)
    found = explore(rules)
    numbers = {state: number for number, state in enumerate(found)}
    most = np.array([rules.most(state) for state in found], np.int16)
    return StreamingChain(
        loss=loss,
        round_trip=round_trip,
        most=most,
        rounds=np.array([rules.rounds(state) for state in found]),
        first=np.concatenate(([0], np.cumsum(most[:-1] + 1))).astype(np.int32),
        targets=np.array([numbers[state] for states in found.values() for state in states], np.int32),
    )


def _check(loss: float, round_trip: float, timeout: float, window: int, per_ack: int) -> None:
    if not 0 < loss < 1:
        raise InputError(f"loss = {loss}: a probability above 0 and below 1, such as 0.02.")
    if round_trip <= 0:
        raise InputError(f"round_trip = {round_trip}: seconds, above 0, such as 0.1.")
    if timeout < round_trip:
        raise InputError(f"timeout = {timeout}: seconds, no less than the round trip of {round_trip} s.")
    if window < 1:
        raise InputError(f"window = {window}: at least 1 packet.")
    if per_ack not in (1, 2):
        raise InputError(f"per_ack = {per_ack}: 1, or 2 with delayed ACKs.")


def _lags(
    lag: NDArray[np.float64], written: NDArray[np.float64], arrived: NDArray[np.int16]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Follow the packets that senders lag behind the source, never below 0: before and after each step's arrivals."""
    before, after = np.empty_like(written), np.empty_like(written)
    for step in range(len(written)):
        np.add(lag, written[step], out=before[step])
        lag = np.subtract(before[step], arrived[step], out=after[step])
        np.maximum(lag, 0.0, out=lag)
    return before, after


def _late(before: NDArray[np.float64], after: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count the packets that arrive when a sender lags behind by more than each limit."""
    is_deep = before > limits.min()
    highest, lowest = before[is_deep], after[is_deep]
    return np.array([(np.maximum(highest, limit) - np.maximum(lowest, limit)).sum() for limit in limits])
