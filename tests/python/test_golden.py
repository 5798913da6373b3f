"""The simulator against ns-2.35: traces of one flow, six flows packet for packet, bursts of losses, and the dumbbell.

What ns-2 gave is kept in `tests/golden`.
"""

from __future__ import annotations

import csv
import statistics
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import pytest

import earlybird
from conftest import GOLDEN, REPOSITORY, golden
from earlybird.outputs import Outputs

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from delayed_acks import AGENTS, KEPT, KEPT_SECONDS, ours, settings

if TYPE_CHECKING:
    from conftest import Conforms

DROPS = {0: [], 1: [14], 2: [14, 28], 3: [14, 26, 28], 4: [14, 24, 26, 28]}
Row = list[str]


def read(file: TextIO) -> list[Row]:
    """Read the rows of a CSV file without its head."""
    with file as lines:
        return list(csv.reader(lines))[1:]


def assert_same(ours: list[Row], theirs: list[Row]) -> None:
    """Compare two event lists: everything but the time as text, the time to the last digit that ns-2 prints."""
    for number, (our, their) in enumerate(zip(ours, theirs, strict=False), start=2):
        digits = 5 if their[2] == "" else 6
        assert our[1:] == their[1:], f"line {number}"
        assert float(our[0]) == pytest.approx(float(their[0]), abs=1.01 * 10**-digits), f"line {number}"
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("options", ["stock", "fall96"])
@pytest.mark.parametrize("count", DROPS)
@pytest.mark.parametrize("transport", AGENTS)
def test_one_flow_sends_drops_and_acknowledges_what_ns2_does(
    transport: str, count: int, options: str, tmp_path: Path, conforms: Conforms
) -> None:
    trace, agent = tmp_path / "trace.csv", AGENTS[transport]
    overrides = {"transport": transport, "options": options, "drops": DROPS[count]}
    earlybird.run(REPOSITORY / "scenarios" / "fall-floyd-1996.toml", overrides=overrides, outputs=Outputs(trace=trace))
    theirs = read(golden(f"traces/{agent.lower()}-{count}-{options}"))
    assert_same(read(trace.open(newline="")), theirs)
    what = f"trace of one flow, {count} drops, options {options}: events, times, windows, timer"
    conforms(
        "Loss recovery", f"{transport} (ns2)", f"ns-2.35 Agent/TCP ({agent})", what, f"all {len(theirs)} events agree"
    )


@pytest.mark.parametrize("number", KEPT)
@pytest.mark.parametrize("transport", AGENTS)
def test_delayed_acks_wait_and_leave_when_those_of_ns2s_sink_do(
    transport: str, number: int, tmp_path: Path, conforms: Conforms
) -> None:
    theirs = read(golden(f"delayed-acks/{transport}-{number}"))
    assert_same(ours(transport, settings()[number], tmp_path / "trace.csv", KEPT_SECONDS), theirs)
    source = f"ns-2.35 Agent/TCPSink/DelAck beside Agent/TCP ({AGENTS[transport]})"
    what = f"trace of one flow with delayed ACKs, setting {number}: events, times, windows, timer"
    conforms("Loss recovery", f"{transport} (ns2)", source, what, f"all {len(theirs)} events agree")


def test_six_sack_flows_offer_their_bottleneck_the_packets_that_ns2_offers(tmp_path: Path) -> None:
    trace = tmp_path / "link.csv"
    earlybird.run(GOLDEN / "dumbbell3.toml", outputs=Outputs(link_trace=trace))
    ours = read(trace.open(newline=""))
    for row in ours:  # our flows are called cbr-a0, ns-2's cbr0
        row[2] = row[2][:3] + str("abc".index(row[2][4]))
    assert_same(ours, read(golden("dumbbell3")))


def test_the_dumbbell_with_28_pairs_and_80_packets_gives_what_ns2_gives() -> None:
    with golden("dumbbell-sack") as lines:
        rows = [row for row in csv.DictReader(lines) if (row["media_flows"], row["buffer_packets"]) == ("28", "80")]
    scenario = REPOSITORY / "scenarios" / "dumbbell.toml"
    runs = [earlybird.run(scenario, seed=seed, overrides={"pairs": 28, "buffer": 80}).summary for seed in (1, 2, 3)]
    compared = {
        key: key
        for key in ("drop_rate", "media_drop_rate", "rto_count", "frozen_s", "interarrival_stddev_ms", "web_mbps")
    }
    # ns-2's script counts what leaves the bottleneck, headers and repetitions included.
    for key, column in {"t_over_mu_wire": "t_over_mu", **compared}.items():
        ours, theirs = (
            statistics.mean(float(run[name]) for run in each) for each, name in ((runs, key), (rows, column))
        )
        rel = 0.01 if key == "t_over_mu_wire" else 0.1  # the load hardly depends on chance, unlike losses
        assert ours == pytest.approx(theirs, rel=rel), key


@pytest.mark.parametrize("rtt", [50, 100])
def test_30_videos_over_the_pert_video_papers_dumbbell_get_what_they_get_in_ns2(rtt: int, conforms: Conforms) -> None:
    with golden("pert-video-reno-cubic") as lines:
        row = next(row for row in csv.DictReader(lines) if row["name"] == f"sack-rtt{rtt / 1000:.3f}-n30-s1")
    scenario = REPOSITORY / "studies" / "pert-video" / "video.toml"
    ours = earlybird.run(scenario, overrides={"pairs": 30, "rtt": f"{rtt}ms", "duration": "1000s"}).summary
    columns = {
        "t_over_mu_wire": "Tmu",
        "drop_rate": "drop",
        "media_drop_rate": "cbr_drop",
        "interarrival_stddev_ms": "ipat_ms",
    }
    for key, column in {**columns, "rto_count": "rto", "frozen_s": "sft"}.items():
        rel = 0.02 if key == "t_over_mu_wire" else 0.15  # one run each: web traffic moves the load by a percent
        assert float(ours[key]) == pytest.approx(float(row[column]), rel=rel), key
    own = f"{ours['rto_count']:.1f} and {ours['frozen_s']:.1f} s"
    result = f"{own}, ns-2 {float(row['rto']):.1f} and {float(row['sft']):.1f} s"
    what = f"timeouts and frozen time of 30 videos beside 30 files and 300 web sessions, {rtt} ms, one run"
    conforms("Loss recovery", "sack1 (ns2)", "ns-2.35 Agent/TCP/Sack1", what, result)


BURST_TABLES = {
    "burst-reno-original": ("original", True),
    "burst-reno-original-no-limited-transmit": ("original", False),
    "burst-reno-careful": ("careful", True),
}


@pytest.mark.parametrize("table", BURST_TABLES)
def test_bursts_of_losses_delay_a_video_as_they_do_in_ns2(table: str, conforms: Conforms) -> None:
    """Mean, smallest and largest of ten bursts' longest delays: so the odd burst has to be odd as well."""
    reno, limited_transmit = BURST_TABLES[table]
    with golden(f"{table}") as lines:
        cells = list(csv.DictReader(lines))
    for cell in cells:
        where = {"burst": int(cell["burst_length"]), "rtt": f"{cell['base_rtt_ms']}ms"}
        overrides = {"reno": reno, "limited-transmit": limited_transmit, **where}
        ours = earlybird.run(REPOSITORY / "scenarios" / "burst-loss.toml", overrides=overrides).summary
        assert ours["recovery_modes"] == cell["recovery_modes"], where
        for key in cell.keys() - {"recovery_modes", "model_delay_s", "mean_playout_buffer_segments"}:
            # A delay is the difference of two times, which the log of ns-2 has in whole microseconds.
            assert float(ours[key]) == pytest.approx(float(cell[key]), abs=2.1e-6), (key, where)
        assert float(ours["model_delay_s"]) == pytest.approx(float(cell["model_delay_s"]), abs=1e-4), where
        # A buffer of a whole number of packets is one more where the microseconds of the log make it so.
        assert abs(ours["mean_playout_buffer_segments"] - int(cell["mean_playout_buffer_segments"])) <= 1, where
    what = f"delays, counts and modes of a burst of 1 to 14 losses, {table}"
    conforms("Loss recovery", "reno (ns2)", "ns-2.35 Agent/TCP/Reno", what, f"all {len(cells)} cells agree to 2 µs")


def test_bursts_whose_outcome_a_tie_decides_come_out_one_by_one_as_in_ns2(conforms: Conforms) -> None:
    """All cells of 1 to 20 losses at 20 to 200 ms, both Renos, whose ten bursts differ by more than 1 ms in ns-2."""
    with golden("burst-each") as lines:
        rows = list(csv.DictReader(lines))
    cells = groupby(
        rows, key=lambda row: [row[name] for name in ("reno", "limited_transmit", "burst_length", "base_rtt_ms")]
    )
    count = 0
    for (reno, limited_transmit, burst, rtt), bursts in cells:
        overrides = {"reno": reno, "limited-transmit": limited_transmit == "true", "burst": int(burst)}
        path = REPOSITORY / "scenarios" / "burst-loss.toml"
        ours = earlybird.run(path, overrides={**overrides, "rtt": f"{rtt}ms"}).bursts.rows(named=True)
        for our, theirs in zip(ours, bursts, strict=True):
            for key in ("burst", "late_segments", "fast_retransmits", "timeouts"):
                assert our[key] == int(theirs[key]), (key, theirs)
            assert our["max_delay_s"] == pytest.approx(float(theirs["max_delay_s"]), abs=1.1e-6), theirs
            count += 1
    what = "delay and counts of each burst where a tie decides, 1 to 20 losses, 20 to 200 ms"
    conforms("Loss recovery", "reno (ns2)", "ns-2.35 Agent/TCP/Reno", what, f"all {count} bursts agree to 1 µs")
