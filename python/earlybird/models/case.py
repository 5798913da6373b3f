"""One case of a model as a run: a description that names its result, a seed, and tables, as a simulation has them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from typing import ClassVar

from earlybird import _core
from earlybird.result import Result

REVISION = 2
"""Raised when the model's numbers change, so that results of the old one are not taken for those of the new one."""


@dataclass(frozen=True, slots=True)
class StreamingCase:
    """A live video over the sender of `earlybird.models.streaming_chain`."""

    name: ClassVar[str] = "streaming-chain"

    loss: float
    """Probability that a packet is lost."""
    round_trip: float
    """Seconds."""
    timeout: float
    """Length of a first timeout in round trips."""
    per_ack: int
    """Packets that one ACK acknowledges."""
    load: float
    """T/µ: the sender's throughput ÷ the rate of the video."""
    start_up_delays: tuple[float, ...]
    """Seconds."""
    window: int = 64
    """Largest window in packets."""
    steps: int = 20_000_000

    def document(self) -> str:
        """Return the description as canonical JSON, which stands where a simulation has its scenario."""
        return json.dumps({"model": self.name, "revision": REVISION, "case": asdict(self)}, sort_keys=True)

    def result(self, seed: int) -> Result:
        """
        Compute the case.

        Returns
        -------
        Result
            With the table ``lateness``; the summary has packets per second of the sender (``throughput_pps``) and of
            the PFTK model (``pftk_pps``), the variance rate of the sender (``variance_rate``), and seconds until
            0.01 % of the packets are late by the diffusion form (``diffusion_delay_s``).
        """
        import polars as pl

        from earlybird.models import pftk_throughput, streaming_chain

        timeout = self.timeout * self.round_trip
        chain = streaming_chain(self.loss, self.round_trip, timeout, window=self.window, per_ack=self.per_ack)
        rate = chain.throughput / self.load
        late = chain.late_share(rate, self.start_up_delays, steps=self.steps, seed=seed)
        summary = {
            "seed": seed,
            "throughput_pps": chain.throughput,
            "pftk_pps": pftk_throughput(self.loss, self.round_trip, timeout, window=self.window, per_ack=self.per_ack),
            "variance_rate": chain.variance_rate,
            "diffusion_delay_s": chain.diffusion_delay(rate, 1e-4),
            "code_version": _core.code_version(),
        }
        columns = {"sud_s": list(self.start_up_delays), "late_share": late}
        return Result(json.loads(self.document()), seed, summary, {"lateness": partial(pl.DataFrame, columns)})
