"""The probability with which a PERT sender responds to the queueing delay."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from earlybird.models import pert_response
from earlybird.plots.lines import plain_line

SECOND_THRESHOLD = 0.010  # seconds of queueing delay up to which the probability stays small (SIGCOMM 2007)
LEAST_THIRD = 2 * SECOND_THRESHOLD
"""Seconds of queueing delay from which a sender always answers, in the form of 2007; in that of 2008 the least."""
THIRD_SHARE = 0.65  # the third threshold of 2008 as a share of the largest queueing delay so far


def response_values(series: pl.DataFrame, flow: str) -> dict[str, float]:
    """Return a sender's largest differences from PERT's curves of 2007 and 2008; empty without a response."""
    delays, probabilities = _samples(series, flow)
    if not delays.size:
        return {}
    thirds = np.maximum(LEAST_THIRD, THIRD_SHARE * np.maximum.accumulate(delays))
    return {
        "pert_response_difference": float(np.abs(probabilities - pert_response(delays, LEAST_THIRD)).max()),
        "pert_adaptive_response_difference": float(np.abs(probabilities - pert_response(delays, thirds)).max()),
        "max_queueing_delay_s": float(delays.max()),
    }


def response_line(series: pl.DataFrame, flow: str) -> pl.DataFrame:
    """Return a sender's probabilities by half milliseconds of queueing delay, from its largest one on."""
    delays, probabilities = _samples(series, flow)
    last = int(np.argmax(delays))
    _, chosen = np.unique(np.round(2000 * delays[last:]), return_index=True)
    return plain_line("pert", "sampled", 1000 * delays[last:][chosen], probabilities[last:][chosen])


def _samples(series: pl.DataFrame, flow: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return queueing delays in seconds and probabilities, sample by sample."""
    own = series.filter(subject=flow)
    delays, probabilities = (
        own.filter(quantity=name)["value"] for name in ("queueing_delay_s", "pert_response_probability")
    )
    return delays.to_numpy(), probabilities.to_numpy()
