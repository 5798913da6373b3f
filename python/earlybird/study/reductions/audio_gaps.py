"""Audio gaps: a player has no sound to play while it waits for data, but does not pause."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

LEAST = 0.1  # seconds of sound that a player hands to the loudspeaker at a time; shorter gaps are not heard (MA-8)


def audio_gaps(deliveries: pl.DataFrame, delays: NDArray[np.float64]) -> NDArray[np.float64]:
    """Count gaps of at least 100 ms in the sound of one film, by startup delay; missing frames are infinitely late."""
    written, delivered = deliveries["written_s"].to_numpy(), deliveries["delivered_s"].to_numpy()
    return np.array([_gaps(written + delay, delivered) for delay in delays], dtype=float)


def _gaps(due: NDArray[np.float64], delivered: NDArray[np.float64]) -> int:
    is_late = delivered > due
    if not is_late.any():
        return 0
    begins, ends = due[is_late], np.maximum.accumulate(delivered[is_late])
    is_first = np.concatenate(([True], begins[1:] > ends[:-1]))
    is_last = np.concatenate((is_first[1:], [True]))
    return int(np.sum(ends[is_last] - begins[is_first] >= LEAST))
