"""Formulas from the literature that simulations are compared with."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pftk_throughput(loss: float, round_trip: float, timeout: float, *, window: float, per_ack: int = 1) -> float:
    """
    Predict the throughput of a long TCP transfer in packets per second, retransmissions included.

    Padhye, Firoiu, Towsley, Kurose, "Modeling TCP Reno Performance: A Simple Model and Its Empirical Validation",
    IEEE/ACM Transactions on Networking 8 (2), 2000, full model (equation 32). `loss` is the probability that a packet
    begins a loss event, above 0 and below 1; `round_trip` and the first `timeout` are in seconds, the largest `window`
    in packets; `per_ack` packets are acknowledged by one ACK.
    """
    p, b = loss, per_ack
    unlimited = (2 + b) / (3 * b) + math.sqrt(8 * (1 - p) / (3 * b * p) + ((2 + b) / (3 * b)) ** 2)
    mean = min(unlimited, window)
    rounds = b * mean / 2 + 1 if unlimited < window else b * window / 8 + (1 - p) / (p * window) + 2
    doubt = _timeout_share(p, mean)
    packets = (1 - p) / p + mean + doubt / (1 - p)
    return packets / (round_trip * rounds + doubt * _back_off(p) * timeout / (1 - p))


def pftk_approximation(loss: float, round_trip: float, timeout: float, *, window: float, per_ack: int = 1) -> float:
    """
    Predict the throughput of a long TCP transfer with the short formula.

    The same paper, equation 33; parameters and result as `pftk_throughput`.
    """
    p, b = loss, per_ack
    pauses = timeout * min(1.0, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return min(window / round_trip, 1 / (round_trip * math.sqrt(2 * b * p / 3) + pauses))


def pert_response(queueing: ArrayLike, third_threshold: ArrayLike) -> NDArray[np.float64]:
    """
    Return PERT's probability of an early response per ACK, for smoothed queueing delays in seconds.

    The curve of gentle RED, with the queueing delay in place of the queue's length; thresholds of 5 and 10 ms, and a
    probability of 0.05 at the second, as the public ports of PERT have them (Bhandarkar, Reddy, Zhang, Loguinov,
    "Emulating AQM from End Hosts", SIGCOMM 2007, was not read). From the third threshold (seconds, one for all or one
    for each) the probability is 1: 0.020, or 0.65 of the largest delay so far if that is more (the adaptive form, IWQoS
    2008).
    """
    delays = np.asarray(queueing, dtype=np.float64)
    rising = 0.05 * (delays - 0.005) / 0.005
    steep = 0.05 + 0.95 * (delays - 0.010) / (np.asarray(third_threshold) - 0.010)
    return np.clip(np.where(delays < 0.010, rising, steep), 0.0, 1.0).astype(np.float64)


def least_playback_delay(round_trip: float, period: float, margin: float) -> float:
    """
    Return the shortest delay from writing to playing at which a fast retransmit can still repair a lost frame.

    The MTCP paper's rule: one and a half round trips, three frame periods until the third duplicate ACK, and a margin;
    all in seconds.
    """
    return 1.5 * round_trip + 3 * period + margin


def burst_delay(lost: int, round_trip: float, period: float, timeout: float) -> float:
    """
    Return the seconds from writing to delivery of a packet that is lost `lost` times in a row.

    The burst-loss paper's expressions, "Receiver Playout Buffer Requirement for TCP Video Streaming in the presence of
    Burst Packet Drops". Losses include those of its repairs: 1: FR, one fast retransmission (after Brosh and others,
    "The Delay-Friendliness of TCP"); 2: DR, two in a row; 3: DRTO, two and a timeout; more: TO, one timeout for each
    beyond three. The round trip, the period from packet to packet and the first timeout are in seconds.
    """
    repair = round_trip + 3 * period
    if lost <= 2:
        return round_trip / 2 + lost * repair
    if lost == 3:
        return round_trip / 2 + 2 * repair + timeout
    return round_trip / 2 + math.fsum(timeout * 2**expiry for expiry in range(lost - 3))


def slow_start_delay(packets: int, round_trip: float, rate: float, *, initial_window: int = 10) -> float:
    """
    Return the seconds from opening a connection until the last of some packets arrives that are written at once.

    The slow start of Cardwell, Savage, Anderson, "Modeling TCP Latency", INFOCOM 2000, without losses: a round trip (in
    seconds) for the handshake; windows that double from `initial_window` packets (RFC 6928) on, as each packet is
    acknowledged at first; half a round trip for the last one; and no faster than the line's `rate` in packets per
    second.
    """
    rounds = max(math.ceil(math.log2(packets / initial_window + 1)) - 1, 0)
    return 1.5 * round_trip + max(rounds * round_trip, packets / rate)


def _timeout_share(p: float, window: float) -> float:
    """Return the probability that a loss in a window ends in a timeout (the paper's equation 24)."""
    q = 1 - p
    share: float = (1 - q**3) * (1 + q**3 * (1 - q ** (window - 3))) / (1 - q**window)
    return min(1.0, share)


def _back_off(p: float) -> float:
    """Return the mean length of a series of timeouts in units of the first (the paper's f(p), equation 29)."""
    return 1 + math.fsum(2.0 ** (power - 1) * p**power for power in range(1, 7))
