"""The words of the standards for losses, on rows counted by hand and on simulated channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY
from earlybird import InputError, run
from earlybird.losses import describe_losses, losses_of_trace
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Conforms


def row(text: str) -> list[bool]:
    """Read a row of packets: x is lost."""
    return [packet == "x" for packet in text]


def test_runs_and_distances_are_those_counted_by_hand() -> None:
    pattern = describe_losses(row("..xx...x......xxx..."))
    assert (pattern.packets, pattern.lost, pattern.runs) == (20, 6, 3)
    assert pattern.ratio == pytest.approx(0.3)
    assert pattern.mean_run == pytest.approx(2)
    assert pattern.mean_distance == pytest.approx((1 + 4 + 7 + 1 + 1) / 5)
    assert pattern.burst_ratio == pytest.approx(2 * 0.7)
    assert (pattern.gilbert_r, pattern.gilbert_p) == pytest.approx((0.5, 0.3 * 0.5 / 0.7))


def test_sixteen_received_packets_end_a_burst(conforms: Conforms) -> None:
    # A lone loss, 16 received; a burst of 5 packets with 3 losses; 15 received do not part the next loss from it.
    near, far = "." * 15, "." * 16
    pattern = describe_losses(row(f"{far}x{far}x.x.x{near}x{far}"))
    assert (pattern.bursts, pattern.mean_burst) == (1, 21)
    assert pattern.burst_density == pytest.approx(4 / 21)
    assert pattern.gap_density == pytest.approx(1 / 49)
    parted = describe_losses(row(f"x.x{far}xx"))
    assert (parted.bursts, parted.mean_burst, parted.gap_density) == (2, 2.5, 0)
    what = "bursts, their length and density, density of gaps, of rows counted by hand (Gmin 16)"
    conforms("Network", "loss vocabulary", "RFC 3357, RFC 3611 §4.7.2, ITU-T G.107", what, "2 of 2 rows")


@pytest.mark.parametrize("lost", ["", "...", "x", "xxx"])
def test_rows_without_losses_or_without_anything_else_have_no_value_that_needs_them(lost: str) -> None:
    pattern = describe_losses(row(lost))
    assert math.isnan(pattern.mean_run) == ("x" not in lost)
    assert math.isnan(pattern.gilbert_p) == (set(lost) != {"."} or "x" not in lost)
    assert pattern.runs == ("x" in lost)


def test_a_simulated_channel_has_the_ratio_and_runs_it_was_asked_for(tmp_path: Path) -> None:
    trace = tmp_path / "link.csv"
    overrides = {"mean-burst": 2, "ratio": 0.05}
    result = run(REPOSITORY / "scenarios" / "bursty-loss.toml", overrides=overrides, outputs=Outputs(link_trace=trace))
    pattern = losses_of_trace(trace)
    assert pattern.lost == result.links["packets_dropped"].sum()
    assert pattern.ratio == pytest.approx(0.05, rel=0.1)
    assert pattern.mean_run == pytest.approx(2, rel=0.1)
    assert losses_of_trace(trace, "video0").ratio == pattern.ratio


def test_fades_last_their_time_and_lose_what_is_sent_in_it(tmp_path: Path) -> None:
    trace = tmp_path / "link.csv"
    overrides = {"transport": "udp", "process": "fading", "loss": 0.05, "duration": "1010s", "packets": 50_000}
    run(REPOSITORY / "scenarios" / "audio-call.toml", overrides=overrides, outputs=Outputs(link_trace=trace))
    pattern = losses_of_trace(trace)
    assert pattern.packets == 50_000
    assert pattern.ratio == pytest.approx(0.05, rel=0.15)
    # One packet every 20 ms: the next one comes through with (1 - 0.05)(1 - exp(-20/57)).
    assert pattern.mean_run == pytest.approx(1 / (0.95 * (1 - math.exp(-20 / 57))), rel=0.1)


def test_bad_traces_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the trace .*none\.csv"):
        losses_of_trace(tmp_path / "none.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"other\.csv: it is not a trace of a link"):
        losses_of_trace(tmp_path / "other.csv")
    (tmp_path / "link.csv").write_text("time,event,flow,seq,bytes\n0.1,enq,video0,0,40\n")
    with pytest.raises(InputError, match=r"has no packet of flow `file0`"):
        losses_of_trace(tmp_path / "link.csv", "file0")
