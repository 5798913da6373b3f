"""Loss patterns: shares, runs, and the metrics of RFC 3611 and RFC 3357."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.errors import InputError, because

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike

GAP_MINIMUM: Final = 16  # packets received in a row that end a burst (RFC 3611 §4.7.2)


@dataclasses.dataclass(frozen=True)
class LossPattern:
    """The losses in a sequence of packets; lengths count packets, and values that need a loss are NaN without one."""

    packets: int
    lost: int
    ratio: float
    runs: int  # losses one behind the other: the loss periods of RFC 3357
    mean_run: float
    mean_distance: float  # from one lost packet to the next (RFC 3357)
    burst_ratio: float  # mean run ÷ that of independent losses, 1/(1 − ratio) (ITU-T G.107)
    gilbert_p: float  # of the Gilbert channel with this ratio and mean run: ratio·r/(1 − ratio)
    gilbert_r: float  # 1/mean_run
    bursts: int  # from a loss to a loss with fewer than 16 received in a row; one alone belongs to the gap (RFC 3611)
    mean_burst: float
    burst_density: float  # share of lost packets in bursts
    gap_density: float  # share of lost packets outside


def describe_losses(lost: ArrayLike, gap_minimum: int = GAP_MINIMUM) -> LossPattern:
    """
    Describe packets in the order of sending; `gap_minimum` received in a row end a burst.

    >>> pattern = describe_losses([False, True, True, False, False, True, False, False, False, False])
    >>> pattern.ratio, pattern.runs, pattern.mean_run
    (0.3, 2, 1.5)
    """
    losses = np.asarray(lost, dtype=bool)
    places = np.flatnonzero(losses)
    packets, count = len(losses), len(places)
    distances = np.diff(places)
    runs = int(np.count_nonzero(distances > 1)) + (count > 0)
    ratio, mean_run = _divided(count, packets), _divided(count, runs)
    clusters = np.split(places, np.flatnonzero(distances > gap_minimum) + 1)
    bursts = [cluster for cluster in clusters if len(cluster) > 1]
    within, length = sum(map(len, bursts)), sum(int(burst[-1] - burst[0]) + 1 for burst in bursts)
    recovery = _divided(1, mean_run)
    return LossPattern(
        packets=packets,
        lost=count,
        ratio=ratio,
        runs=runs,
        mean_run=mean_run,
        mean_distance=_divided(float(distances.sum()), len(distances)),
        burst_ratio=mean_run * (1 - ratio),
        gilbert_p=_divided(ratio * recovery, 1 - ratio),
        gilbert_r=recovery,
        bursts=len(bursts),
        mean_burst=_divided(length, len(bursts)),
        burst_density=_divided(within, length),
        gap_density=_divided(count - within, packets - length),
    )


def _divided(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


def losses_of_trace(path: str | Path, flow: str | None = None) -> LossPattern:
    """
    Describe the losses at the bottleneck from a trace of the link, of one flow or of all packets.

    A packet counts when the link lets it in or drops it; a queue that drops what it has let in makes two of one.
    """
    try:
        rows = pl.read_csv(path, columns=["event", "flow"])
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = because(error) if isinstance(error, OSError) else "it is not a trace of a link"
        raise InputError(f"cannot read the trace {path}: {reason}.") from error
    seen = rows if flow is None else rows.filter(pl.col("flow") == flow)
    if not seen.height:
        raise InputError(f"the trace {path} has no packet of flow `{flow}`." if flow else f"the trace {path} is empty.")
    return describe_losses((seen["event"] == "drp").to_numpy())
