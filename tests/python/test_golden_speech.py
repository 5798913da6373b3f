"""
The speech of the MTCP paper over SACK and UDP against ns-2.35: 30 seeds at each loss rate, ACKs lost or not.

ns-2's seeds are not independent: its generator's numbers rise evenly with the seed. `frames-drops.csv` has the packets
that ns-2 lost and where its clock stood; with them, everything agrees.
"""

from __future__ import annotations

import csv
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl
import pytest

import earlybird
from conftest import REPOSITORY, golden

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conftest import Conforms

SCENARIO = REPOSITORY / "scenarios" / "audio-loss.toml"
SEEDS = range(1, 31)
Cell = dict[str, float]


def rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of ns-2."""
    with golden(name) as lines:
        return list(csv.DictReader(lines))


ROWS = [{key: float(value) for key, value in row.items()} for row in rows("frames-sack-udp")]
# Both have 30 seeds, so their difference varies by √2 of what one of them does; three deviations for each number.
WIDTH = 3 * math.sqrt(2)


@dataclass
class Seeds:
    """Results of our seeds for a cell: one number per seed, and the repairs of all seeds."""

    repeated: list[float]
    late: list[float]
    longest: list[float]
    repairs: list[float]


def lost_by_udp(loss: float, seed: int) -> float:
    """Return how many of the 1500 frames never come over UDP."""
    flow = earlybird.run(SCENARIO, seed=seed, overrides={"transport": "udp", "loss": loss}).flows
    return float((flow["units_written"] - flow["units_delivered"]).item())


def over_sack(runs: Iterable[dict[str, object]]) -> Seeds:
    """Run seed after seed with these overrides; segment k + 1 carries frame k, and segment 0 opens."""
    seeds = Seeds([], [], [], [])
    for seed, overrides in enumerate(runs, start=1):
        result = earlybird.run(SCENARIO, seed=seed, overrides={**overrides, "measure.transmissions": True})
        second = result.transmissions.filter((pl.col("packet") > 0) & (pl.col("times_sent") > 1))
        seeds.repairs += (second["last_sent_s"] - second["first_sent_s"]).to_list()
        seeds.repeated.append(float(len(second)))
        seeds.late.append(float(result.lateness["late"].item()))
        seeds.longest.append(float(result.flows["delay_max_ms"].item()) / 1000)
    return seeds


def assert_mean(values: list[float], expected: float, what: str) -> None:
    """Compare a mean, whose deviation follows from the values; the file has three digits."""
    allowed = WIDTH * statistics.stdev(values) / math.sqrt(len(values))
    assert statistics.mean(values) == pytest.approx(expected, abs=max(allowed, 0.001)), what


def test_udp_loses_the_frames_that_ns2_loses() -> None:
    for cell in ROWS[:7]:
        loss = cell["drop_rate"]
        assert_mean([lost_by_udp(loss, seed) for seed in SEEDS], cell["udp_lost_frames"], f"lost of those at {loss}")


@pytest.mark.parametrize("acks_too", [0, 1])
def test_sack_repairs_and_delays_the_frames_as_ns2_does(acks_too: int, conforms: Conforms) -> None:
    cells = [row for row in ROWS if row["acks_dropped_too"] == acks_too]
    for cell in cells:
        loss = cell["drop_rate"]
        ours = over_sack([{"loss": loss, "ack-loss": loss * acks_too}] * len(SEEDS))
        assert_frames(ours, cell)
        assert_repairs(sorted(ours.repairs), cell)
    losses = "losses both ways" if acks_too else "losses there"
    conforms(
        "Traffic",
        "sack (ns2)",
        "ns-2.35 Agent/TCP/Sack1 (MTCP paper's stream)",
        f"speech, {losses} of 0 to 5 %, 30 seeds: frames repeated and late, repair times, longest delay",
        f"{len(cells)} of {len(cells)} rates within 3 standard deviations",
    )


def as_in_ns2(row: dict[str, str]) -> dict[str, object]:
    """Return the overrides that lose what ns-2 lost, with the sender's clock where ns-2 had it."""

    def losses(key: str) -> list[object]:
        return [{"list": {"packets": [int(packet) for packet in row[key].split()]}}]

    return {
        "network.links.entry-exit.loss": losses("dropped"),
        "network.links.entry-exit.reverse.loss": losses("dropped_acks"),
        "endpoint.rto.clock-phase": row["clock_phase_ns"] + "ns",
    }


def test_with_the_losses_of_ns2_every_number_is_that_of_ns2(conforms: Conforms) -> None:
    drops = rows("frames-drops")
    cells = [cell for cell in rows("frames-sack-udp") if float(cell["drop_rate"]) > 0]
    for cell in cells:
        key = (cell["drop_rate"], cell["acks_dropped_too"])
        ours = over_sack(as_in_ns2(row) for row in drops if (row["drop_rate"], row["acks_dropped_too"]) == key)
        repairs = sorted(ours.repairs)
        assert {
            "tcp_retransmitted_frames": f"{statistics.mean(ours.repeated):.2f}",
            "retx_time_mean_s": f"{statistics.mean(repairs):.4f}",
            "retx_time_median_s": f"{repairs[len(repairs) // 2]:.4f}",
            "retx_time_max_s": f"{repairs[-1]:.4f}",
            "fast_below_250ms": f"{statistics.mean(repair < 0.25 for repair in repairs):.3f}",
            "late_250ms": f"{statistics.mean(ours.late):.2f}",
            "late_250ms_min": f"{min(ours.late):.0f}",
            "late_250ms_max": f"{max(ours.late):.0f}",
            "max_delay_s": f"{statistics.mean(ours.longest):.3f}",
        }.items() <= cell.items(), key
    conforms(
        "Traffic",
        "sack (ns2)",
        "ns-2.35 Agent/TCP/Sack1 (MTCP paper's stream)",
        f"{len(drops)} runs of 1500 frames with ns-2's losses: frames repeated and late, repair times, longest delay",
        f"{9 * len(cells)} of {9 * len(cells)} numbers to their last digit",
    )


def assert_frames(ours: Seeds, cell: Cell) -> None:
    """Compare how many frames were repeated and late, and the longest delay."""
    assert_mean(ours.repeated, cell["tcp_retransmitted_frames"], f"repeated: {cell}")
    assert_mean(ours.longest, cell["max_delay_s"], f"longest delay: {cell}")
    assert_mean(ours.late, cell["late_250ms"], f"late: {cell}")
    assert min(ours.late) <= cell["late_250ms"] <= max(ours.late), cell
    assert cell["late_250ms_min"] <= statistics.mean(ours.late) <= cell["late_250ms_max"], cell


def assert_repairs(repairs: list[float], cell: Cell) -> None:
    """Compare the times from the first to the last transmission of a frame."""
    if cell["drop_rate"] == 0:
        assert repairs == []
        return
    assert_mean(repairs, cell["retx_time_mean_s"], f"mean time of a repair: {cell}")
    assert_mean([float(repair < 0.25) for repair in repairs], cell["fast_below_250ms"], f"fast repairs: {cell}")
    rank, margin = len(repairs) / 2, WIDTH * math.sqrt(len(repairs)) / 2
    low, high = repairs[int(rank - margin)], repairs[int(rank + margin)]
    assert low - 1e-4 <= cell["retx_time_median_s"] <= high + 1e-4, cell
    # The longest of some thousand: the timer's last two doublings may or may not have happened.
    assert repairs[-1] / 4 <= cell["retx_time_max_s"] <= repairs[-1] * 4, cell
