"""The quantities that studies speak about: what they are called and how they are printed."""

import math
from dataclasses import dataclass
from typing import Final, Literal

from earlybird.errors import InputError

NOTHING = 1e-9
"""What is smaller is zero but for rounding."""


SIGNED = (
    "threshold-excess",
    "second-excess",
    "burst-excess",
    "worst-excess",
    "worst-excess-round-trips",
    "needless-buffer",
)
"""Quantities that may be negative."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A quantity that runs have."""

    name: str
    label: str
    unit: str = ""
    digits: int = 1
    """Most decimals in print; three significant digits are enough."""
    scale: float = 1.0
    """Printed value ÷ stored value, such as 100 for a share printed in per cent."""

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest value that can be."""
        return (-math.inf if self.name in SIGNED else 0.0, 1.0 if self.is_share else math.inf)

    @property
    def is_share(self) -> bool:
        """Whether a difference says more than a ratio."""
        return self.unit == "%"

    def text(self, value: float, like: float | None = None) -> str:
        """Print a value without its unit, with as many decimals as another one; a dash where there is none."""
        if not math.isfinite(value):
            return "–"
        if abs(value * self.scale) < NOTHING:
            return "0"
        text = f"{value * self.scale:.{self.decimals(value if like is None else like)}f}"
        return text.removeprefix("-") if float(text) == 0 else text

    def decimals(self, value: float) -> int:
        """Return how many decimals a value has in print."""
        size = abs(value * self.scale)
        return min(self.digits, max(0, 2 - math.floor(math.log10(size)))) if size else self.digits

    def with_unit(self, value: float) -> str:
        """Print a value with its unit."""
        return f"{self.text(value)} {self.unit}".strip() if math.isfinite(value) else "–"

    @property
    def better(self) -> Literal["", "smaller", "larger"]:
        """Which values are better for who watches or listens, where that has a meaning."""
        if self.name in SMALLER_IS_BETTER:
            return "smaller"
        return "larger" if self.name in LARGER_IS_BETTER else ""

    @property
    def axis(self) -> str:
        """The label of a plot's axis."""
        label = self.label[0].upper() + self.label[1:]
        return f"{label} ({self.unit})" if self.unit else label


def _share(name: str, label: str, digits: int = 1) -> Metric:
    return Metric(name, label, "%", digits, scale=100)


def _short_time(name: str, label: str, digits: int = 0) -> Metric:
    return Metric(name, label, "ms", digits, scale=1000)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("rto", "timeouts per flow", digits=1),
        Metric("rto-untriggered", "timeouts per flow of packets that had not been sent again", digits=1),
        Metric("rto-repeated", "timeouts per flow of packets whose repair was lost too", digits=1),
        _share("rto-untriggered-share", "timeouts of packets that had not been sent again"),
        Metric("sft", "frozen time per flow", "s", digits=2),
        Metric("sft-timer", "expired timers per flow", "s", digits=2),
        Metric("freeze", "frozen time per timeout", "s", digits=3),
        _share("drop-rate", "drop rate", digits=2),
        _short_time("ipat", "deviation of the packet spacing", digits=1),
        _share("success", "flows in time"),
        _share("success-falls", "largest fall of a success rate along the start-up delay"),
        Metric("half-delay", "delay at which half of the flows are in time", "s", digits=2),
        Metric("required-delay", "start-up delay needed", "s", digits=2),
        Metric("required-delay-90", "start-up delay that 90 % of the flows need at most", "s", digits=2),
        Metric("freeze-of-delay", "longest freeze of a flow ÷ the start-up delay it needs", digits=2),
        _short_time("rto-base", "timeout before back-off"),
        _short_time("threshold", "early-retransmission threshold"),
        _short_time("threshold-excess", "threshold above the longest round trip"),
        Metric("timer-least", "smallest timeout", "s", digits=2),
        Metric("timer-most", "largest timeout", "s", digits=1),
        _share("false-share", "young duplicates above the threshold", digits=2),
        _share("first-share", "first duplicates above the threshold"),
        _share("second-share", "second duplicates above the threshold"),
        _short_time("second-excess", "age above the threshold of the oldest second duplicate", digits=1),
        Metric("clusters", "clusters of ages", digits=1),
        _short_time("cluster-spacing", "distance of the two largest clusters"),
        Metric("gap", "longest gap between deliveries", "s", digits=3),
        Metric("early-second", "early retransmissions on the second duplicate", digits=0),
        Metric("throughput", "throughput per flow", "Mb/s", digits=3, scale=1e-6),
        Metric("pftk-ratio", "throughput ÷ PFTK model", digits=3),
        Metric("fair-share", "throughput ÷ mean of all flows", digits=3),
        Metric("fairness", "Jain's index of all flows", digits=3),
        _share("utilisation", "utilisation of the bottleneck"),
        _short_time("queue-delay", "mean wait at the bottleneck", digits=2),
        _share("link-drop-rate", "drop rate at the bottleneck", digits=3),
        _share("late", "late packets", digits=3),
        _share("late-share", "late packets at a start-up delay", digits=4),
        Metric("late-units", "late pictures per play", digits=1),
        Metric("silences", "gaps in the sound per play", digits=1),
        Metric("play-start", "start-up", "s", digits=2),
        Metric("play-stalls", "stalls per play", digits=1),
        Metric("play-stalled", "time stalled per play", "s", digits=1),
        Metric("play-frozen", "time of frozen pictures per play", "s", digits=1),
        Metric("play-late", "late pictures per play, as the player counts", digits=1),
        Metric("play-dropped", "pictures per play that were not shown", digits=1),
        Metric("play-starved", "times per play that the sound had nothing to play", digits=1),
        Metric("play-glitches", "late pictures and starved sound per play", digits=1),
        _short_time("emulator-late", "delay that the emulator added to one packet in a hundred", digits=3),
        Metric("load", "T/µ", digits=2),
        Metric("partner-load", "throughput of a file transfer ÷ rate of a video", digits=3),
        Metric("model-throughput", "throughput of the model", "packets/s", digits=1),
        Metric("rare-delay", "start-up delay at which 0.01 % are late", "s", digits=1),
        Metric("diffusion-delay", "the same by the diffusion form", "s", digits=1),
        Metric("bandwidth", "throughput of all flows together", "Mb/s", digits=2, scale=1e-6),
        Metric("queue-position", "packets found waiting", digits=1),
        _share("queue-lower", "packets that found less than half of the queue"),
        _share("queue-upper", "packets that found more than three quarters of the queue"),
        Metric("queue-full", "packets dropped ÷ packets that found the queue full", digits=4),
        _share("queue-counted", "packets counted", digits=4),
        _share("queue-difference", "packets found differently from the queue's length in time"),
        Metric("cwnd-variation", "window: deviation ÷ mean", digits=3),
        Metric("cwnd-change", "window: changes", "packets/s", digits=1),
        Metric("cwnd-falls", "window: falls by more than a fifth, in 90 s", digits=1),
        Metric("response-difference", "probability of a response less that of the curve of 2007", digits=6),
        Metric("response-difference-adaptive", "probability of a response less that of the curve of 2008", digits=4),
        _short_time("response-delay", "largest smoothed queueing delay", digits=1),
        _short_time("timeout-difference", "timeout less that of the equation, largest", digits=4),
        _short_time("threshold-difference", "threshold less that of the equation, largest", digits=4),
        _short_time("queueing-difference", "smoothed queueing delay less that of the equation, largest", digits=4),
        Metric("printed-ratio", "timeout as the equations are printed ÷ timeout", digits=2),
        Metric("early", "early retransmissions per flow", digits=1),
        Metric("web-rate", "web traffic", "Mb/s", digits=2),
        Metric("burst-delay", "longest delay of a packet in a burst, mean", "s", digits=3),
        Metric("burst-late", "late packets per burst", digits=1),
        _short_time("burst-excess", "delay of a burst above the paper's expression", digits=1),
        Metric("worst-delay", "longest delay of a packet", "s", digits=3),
        Metric("worst-late", "late packets of the worst burst", digits=0),
        Metric("worst-repairs", "fast retransmits in the worst burst", digits=0),
        Metric("worst-timeouts", "timeouts in the worst burst", digits=0),
        _short_time("worst-excess", "longest delay above the expression with the timers as they were", digits=1),
        Metric("worst-excess-round-trips", "the same in round trips", "RTT", digits=2),
        Metric("playout-buffer", "smallest playout buffer", "s", digits=3),
        _short_time("needless-buffer", "playout buffer above the longest delay less the smallest", digits=2),
        Metric("burst-threshold", "shortest burst that delays by more than 1 s", "losses", digits=0),
        Metric("burst-growth-least", "smallest growth of the delay per loss more", digits=2),
        Metric("burst-growth-most", "largest growth of the delay per loss more", digits=2),
        Metric("buffer-correlation", "correlation of longest delay and playout buffer", digits=3),
        _share("lost", "lost units", digits=2),
        Metric("lost-units", "lost units per flow", digits=1),
        Metric("skipped", "segments stepped over per flow", digits=1),
        Metric("discarded", "frames given up by the sender per flow", digits=1),
        Metric("repeats", "retransmissions per flow", digits=1),
        _short_time("repair", "time from first to last transmission of a lost packet, median"),
        _short_time("repair-95", "time from first to last transmission of a lost packet, 95th percentile"),
        Metric("wait", "delay that nine of ten sessions do with", "s", digits=3),
        Metric("wait-round-trips", "the same without the largest frame's time on the line", "round trips", digits=1),
        Metric("recovery", "length of the recovery", "round trips", digits=2),
    )
}


SMALLER_IS_BETTER: Final = frozenset(
    {
        "rto",
        "rto-untriggered",
        "rto-repeated",
        "sft",
        "sft-timer",
        "freeze",
        "drop-rate",
        "link-drop-rate",
        "ipat",
        "success-falls",
        "half-delay",
        "required-delay",
        "required-delay-90",
        "gap",
        "queue-delay",
        "late",
        "late-share",
        "late-units",
        "silences",
        "play-start",
        "play-stalls",
        "play-stalled",
        "play-frozen",
        "play-late",
        "play-dropped",
        "play-starved",
        "play-glitches",
        "emulator-late",
        "rare-delay",
        "diffusion-delay",
        "burst-delay",
        "burst-late",
        "burst-excess",
        "worst-delay",
        "worst-late",
        "worst-timeouts",
        "worst-excess",
        "worst-excess-round-trips",
        "playout-buffer",
        "needless-buffer",
        "lost",
        "lost-units",
        "skipped",
        "discarded",
        "repair",
        "repair-95",
        "wait",
        "wait-round-trips",
        "recovery",
    }
)
LARGER_IS_BETTER: Final = frozenset({"success", "throughput", "utilisation", "bandwidth"})


def metric(name: str) -> Metric:
    """
    Look up a quantity.

    Parameters
    ----------
    name
        Its name in a study's files.

    Returns
    -------
    Metric
        What it is.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    if name not in METRICS:
        raise InputError(f"there is no quantity {name!r}; there are: {', '.join(sorted(METRICS))}.")
    return METRICS[name]
