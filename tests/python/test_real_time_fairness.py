"""The share that real-time transports take beside SACK transfers behind a full queue."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import earlybird

SCENARIO = Path(__file__).parents[2] / "scenarios" / "real-time-fairness.toml"


def share(transport: str, buffer: int, **overrides: object) -> float:
    """Return the mean throughput of eight such flows, ÷ that of all sixteen."""
    settings = {"transport": transport, "buffer": buffer, "duration": "60s", **overrides}
    flows = earlybird.run(SCENARIO, seed=1, overrides=settings).flows
    rates = flows["throughput_bps"].to_numpy()
    own = np.array([name.startswith("call") for name in flows["flow"]])
    return float(rates[own].mean() / rates.mean())


@pytest.mark.parametrize("buffer", [20, 80, 320])
def test_earlybird_rt_takes_its_share_beside_sack_transfers_behind_a_full_queue(buffer: int) -> None:
    """The symptom: 1.8, as queues that others filled between its groups of packets counted as holds of the link."""
    assert 0.8 < share("earlybird-rt", buffer) < 1.3


def test_mtcp_takes_more_than_its_share_unless_what_it_gives_up_stays_in_flight() -> None:
    """By the paper the window advances "independent of acknowledgments": a fast writer is not limited by it."""
    assert share("mtcp", 80) > 1.8
    assert share("mtcp", 80, **{"endpoint.real-time.discard-keeps-flight": True}) < 1.25
