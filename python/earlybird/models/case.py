"""One case of the Markov chain of live video as a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from earlybird.lazy import LateModule
from earlybird.models.described import DescribedCase

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird import models
else:
    models = LateModule("earlybird.models")


@dataclass(frozen=True, slots=True)
class StreamingCase(DescribedCase):
    """A live video over the sender of `earlybird.models.streaming_chain`."""

    name: ClassVar[str] = "streaming-chain"
    revision: ClassVar[int] = 2
    seconds: ClassVar[float] = 5.0
    table: ClassVar[str] = "lateness"

    loss: float  # probability that a packet is lost
    round_trip: float  # seconds
    timeout: float  # length of a first timeout in round trips
    per_ack: int  # packets that one ACK acknowledges
    load: float  # T/µ: the sender's throughput ÷ the rate of the video
    start_up_delays: tuple[float, ...]  # seconds
    window: int = 64  # largest window in packets
    steps: int = 20_000_000

    def computed(self, seed: int) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Return throughputs in packets per second, and the late share by startup delay, also by diffusion."""
        timeout = self.timeout * self.round_trip
        chain = models.streaming_chain(self.loss, self.round_trip, timeout, window=self.window, per_ack=self.per_ack)
        rate = chain.throughput / self.load
        late = chain.late_share(rate, self.start_up_delays, steps=self.steps, seed=seed)
        numbers = {
            "throughput_pps": chain.throughput,
            "pftk_pps": models.pftk_throughput(
                self.loss, self.round_trip, timeout, window=self.window, per_ack=self.per_ack
            ),
            "variance_rate": chain.variance_rate,
            "diffusion_delay_s": chain.diffusion_delay(rate, 1e-4),
        }
        return numbers, {"startup_delay_s": list(self.start_up_delays), "late_share": late}
