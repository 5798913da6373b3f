"""Models from the literature that simulations are compared with."""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.models.estimators import early_thresholds, printed_timeouts, queueing_delays, retransmission_timeouts
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
    ESTIMATORS = ("early_thresholds", "printed_timeouts", "queueing_delays", "retransmission_timeouts")
    FORMULAS = ("burst_delay", "least_playback_delay", "pert_response", "pftk_approximation", "pftk_throughput")
    MODULES = {
        "estimators": ESTIMATORS,
        "formulas": (*FORMULAS, "slow_start_delay"),
        "streaming": ("StreamingChain", "streaming_chain"),
    }
    __getattr__, __dir__ = loader(__name__, {name: module for module, names in MODULES.items() for name in names})

__all__ = [
    "StreamingChain",
    "burst_delay",
    "early_thresholds",
    "least_playback_delay",
    "pert_response",
    "pftk_approximation",
    "pftk_throughput",
    "printed_timeouts",
    "queueing_delays",
    "retransmission_timeouts",
    "slow_start_delay",
    "streaming_chain",
]
