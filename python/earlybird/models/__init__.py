"""Models from the literature that simulations are compared with."""

from earlybird.models.formulas import least_playback_delay, pert_response, pftk_approximation, pftk_throughput
from earlybird.models.streaming import StreamingChain, streaming_chain

__all__ = [
    "StreamingChain",
    "least_playback_delay",
    "pert_response",
    "pftk_approximation",
    "pftk_throughput",
    "streaming_chain",
]
