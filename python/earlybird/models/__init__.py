"""Models from the literature that simulations are compared with."""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.models.formulas import (
        burst_delay,
        least_playback_delay,
        pert_response,
        pftk_approximation,
        pftk_throughput,
        slow_start_delay,
    )
    from earlybird.models.streaming import StreamingChain, streaming_chain
else:
    FORMULAS = (
        "burst_delay",
        "least_playback_delay",
        "pert_response",
        "pftk_approximation",
        "pftk_throughput",
        "slow_start_delay",
    )
    STREAMING = ("StreamingChain", "streaming_chain")
    __getattr__ = loader(__name__, dict.fromkeys(FORMULAS, "formulas") | dict.fromkeys(STREAMING, "streaming"))

__all__ = [
    "StreamingChain",
    "burst_delay",
    "least_playback_delay",
    "pert_response",
    "pftk_approximation",
    "pftk_throughput",
    "slow_start_delay",
    "streaming_chain",
]
