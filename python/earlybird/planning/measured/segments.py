"""Which captured segments are new, repeated, late, caught twice, or keep-alives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TWICE_WITHIN: Final = 0.005
"""Seconds between two records of one packet: a copy of a switch's port, or another interface of a bridge."""
SAME: Final = ("connection", "backwards", "ip_id", "seq", "ack", "payload", "ts_value", "ts_echo", "is_syn", "is_ack")
"""Columns that both records of a packet share; a repetition has another identification or timestamp."""
LATE: Final = 0.5
"""Share of a round trip within which a hole is filled by a packet that was overtaken: a repetition takes one."""


def once(table: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the table without the second records of packets that were caught twice, and their number."""
    order = np.lexsort((table["time_s"], *(table[name] for name in reversed(SAME))))
    is_same = np.ones(max(len(order) - 1, 0), dtype=np.bool_)
    for name in SAME:
        column = table[name][order]
        is_same &= column[1:] == column[:-1]
    is_same &= np.diff(table["time_s"][order]) <= TWICE_WITHIN
    # Without identification and timestamp an ACK may be repeated at once; it counts for nothing here.
    keep = np.ones(len(order), dtype=np.bool_)
    keep[order[1:][is_same]] = False
    caught_twice = int((~keep & (table["payload"] > 0)).sum())
    return {name: column[keep] for name, column in table.items()}, caught_twice


def keep_alives(begin: NDArray[np.int64], payload: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which segments repeat the last byte that was sent, alone (RFC 9293 §3.8.4)."""
    end = begin + payload
    highest = np.maximum.accumulate(np.concatenate(([np.iinfo(np.int64).min], end[:-1])))
    found: NDArray[np.bool_] = (payload == 1) & (end == highest)
    return found


def repeated(
    time: NDArray[np.float64], begin: NDArray[np.int64], end: NDArray[np.int64], round_trip: float | None
) -> NDArray[np.bool_]:
    """Return which segments fill what should have come before, and are no new ones that were overtaken on their way."""
    highest = np.maximum.accumulate(np.concatenate(([0], end[:-1])))
    found: NDArray[np.bool_] = begin < highest
    if round_trip is None:
        return found
    # Since when a segment is missing: the first one beyond it has come then.
    reached = np.maximum.accumulate(end)
    since = time[np.minimum(np.searchsorted(reached, begin, side="right"), len(time) - 1)]
    is_new = _first_of(begin)
    late: NDArray[np.bool_] = is_new & (time - since < LATE * round_trip)
    return found & ~late


def _first_of(begin: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which values occur for the first time."""
    first = np.zeros(len(begin), dtype=np.bool_)
    first[np.unique(begin, return_index=True)[1]] = True
    return first
