"""Jitter, retransmission, outages, policers and traces of links, against their formulas, in simulated runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from conftest import REPOSITORY
from earlybird import run
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Conforms
    from earlybird.result import Result

PACKET = 1000


def stream(link: dict[str, Any], rate: str = "8Mb/s", duration: str = "20s", link_trace: Path | None = None) -> Result:
    """Run a stream of datagrams over one link."""
    fast = {"rate": "100Mb/s", "delay": "10ms"}
    shape = {key: value for key, value in fast.items() if not (key == "rate" and "trace" in link)} | link
    scenario = {
        "duration": duration,
        "measure": {"warm-up": "0s"},
        "network": {"links": [{"from": "a", "to": "b", **shape, "reverse": fast}]},
        "flows": [
            {
                "name": "stream",
                "from": "a",
                "to": "b",
                "transport": "udp",
                "application": {"cbr": {"rate": rate, "packet": PACKET}},
            }
        ],
    }
    return run(scenario, outputs=Outputs(link_trace=link_trace))


def lost_share(result: Result) -> float:
    link = result.links.row(0, named=True)
    return float(link["packets_dropped"] / link["packets_in"])


def test_jitter_does_not_change_which_packets_are_lost(tmp_path: Path) -> None:
    loss = {"loss": [{"bernoulli": {"probability": 0.02}}]}
    jitter = {"jitter": {"distribution": {"exponential": "5ms"}, "reorder": True}}
    rows = []
    for name, link in (("plain", loss), ("varied", loss | jitter)):
        stream(link, duration="5s", link_trace=tmp_path / f"{name}.csv")
        trace = pl.read_csv(tmp_path / f"{name}.csv")
        rows.append(trace.filter(pl.col("event") == "drp")["seq"].to_list())
    assert len(rows[0]) > 50
    assert rows[0] == rows[1]


def test_a_policer_passes_its_burst_and_its_rate(conforms: Conforms) -> None:
    burst, rate, seconds = 125_000, 5e6, 20
    link = {"loss": [{"policer": {"rate": "5Mb/s", "burst": burst}}]}
    row = stream(link, rate="8Mb/s").links.row(0, named=True)
    allowed = burst + rate * seconds / 8
    # Less than a packet is left in the bucket at the end.
    assert allowed - 2 * row["bytes_out"] / row["packets_out"] < row["bytes_out"] <= allowed
    assert row["mean_queue_delay_ms"] == pytest.approx(0.0, abs=0.1)
    conforms(
        "Network",
        "policer",
        "tc-police(8): token bucket",
        "bytes that pass in 20 s of a stream of 8 Mb/s, policed at 5 Mb/s with a burst of 125 kB, to B + R·t",
        f"{row['bytes_out'] / allowed:.4f}",
    )


@pytest.mark.parametrize("retries", [0, 2])
def test_packets_that_all_transmissions_fail_are_lost(retries: int) -> None:
    share = lost_share(stream({"arq": {"loss": 0.3, "retries": retries, "delay": "8ms"}}))
    assert share == pytest.approx(0.3 ** (retries + 1), rel=0.1)


def test_packets_wait_for_those_that_the_link_retransmits() -> None:
    delays = [
        stream({"arq": {"loss": 0.1, "retries": 5, "delay": "8ms", "reorder": reorder}}).flows["delay_p50_ms"][0]
        for reorder in (True, False)
    ]
    # Nine of ten packets arrive at once if they may pass; in order most wait for one of the eight in front of them.
    assert delays[0] == pytest.approx(10.1, abs=0.2)
    assert delays[1] > 11.5


def test_an_outage_loses_its_share_of_a_steady_stream() -> None:
    outage = {"start": "2s", "duration": "500ms", "period": "5s"}
    # At 2, 7, 12 and 17 s of 20 s.
    assert lost_share(stream({"outages": [outage]})) == pytest.approx(4 * 0.5 / 20, abs=0.001)


def test_packets_that_wait_for_the_end_of_an_outage_are_not_lost() -> None:
    outage = {"start": "2s", "duration": "500ms", "wait": True}
    result = stream({"outages": [outage]})
    row = result.links.row(0, named=True)
    assert row["packets_dropped"] == 0
    # 1000 packets a second come for half a second.
    assert row["max_queue_packets"] == pytest.approx(500, abs=3)
    # 19.5 of 20 s are what the link could send in.
    assert row["utilisation"] == pytest.approx(row["bytes_out"] * 8 / (100e6 * 19.5), rel=1e-6)


def test_a_link_has_the_rate_of_a_trace_of_seconds_and_megabits() -> None:
    trace = REPOSITORY / "tests" / "python" / "field" / "cooked.txt"
    row = stream({"trace": str(trace)}, rate="20Mb/s", duration="3s").links.row(0, named=True)
    mean = sum([4.0377, 4.0344, 2.9931, 1.2033, 0.4410, 3.7720]) / 6
    # Packets of about 1000 bytes fill opportunities of 1500, two of them three packets.
    assert row["bytes_out"] * 8 / 3e6 == pytest.approx(mean, rel=0.02)
