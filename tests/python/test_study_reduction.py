"""From tables of a run to the numbers that studies ask for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from earlybird.result import Result
from earlybird.study.language.definition import Group, Part
from earlybird.study.reductions.ages import age_values, clusters, duplicate_bins, duplicate_history
from earlybird.study.reductions.audio_gaps import audio_gaps
from earlybird.study.reductions.observations import observe
from earlybird.study.reductions.packets import around_the_loss, longest_gap, recovery_time
from earlybird.study.reductions.queue import position_lines, position_values
from earlybird.study.reductions.response import response_line, response_values
from earlybird.study.reductions.window import window_line, window_values
from earlybird.study.runs.plan import StudyRun

FLOWS = pl.DataFrame(
    {
        "group": ["video", "video", "file"],
        "flow": ["video0", "video1", "file0"],
        "start_s": [0.0, 20.0, 0.0],
        "rto_count": [10, 8, 99],
        "frozen_s": [2.0, 1.6, 99.0],
        "rto_without_fast_retransmit": [1, 0, 9],
        "expired_rto_s": [1.0, 0.8, 99.0],
        "flow_drop_rate": [0.02, 0.04, 0.5],
        "interarrival_stddev_ms": [40.0, 50.0, 0.0],
        "delay_p50_ms": [30.0, 40.0, 0.0],
        "delay_p95_ms": [60.0, 80.0, 0.0],
        "required_startup_delay_s": [1.0, 3.0, float("nan")],
        "rto_unclamped_median_s": [0.08, 0.1, 0.2],
        "er_threshold_median_s": [0.13, float("nan"), float("nan")],
        "early_retransmits_first_dupack": [0, 2, 0],
        "early_retransmits_second_dupack": [1, 3, 0],
        "throughput_bps": [3e5, 1e5, 8e5],
        "lost_share": [0.02, 0.04, float("nan")],
        "units_lost": [20, 40, 0],
        "segments_skipped": [10, 30, 0],
        "frames_abandoned": [4, 0, 0],
        "retransmissions": [12, 14, 99],
    }
)
TRANSMISSIONS = pl.DataFrame(
    {
        "first_sent_s": [1.0, 2.0, 3.0, 4.0],
        "last_sent_s": [1.1, 2.3, 3.0, 9.0],
        "times_sent": [2, 2, 1, 2],
        "times_dropped": [1, 1, 1, 0],
    }
)
LATENESS = pl.DataFrame(
    {
        "group": ["video"] * 4,
        "flow": ["video0", "video0", "video1", "video1"],
        "startup_delay_s": [1.0, 2.0, 1.0, 2.0],
        "on_time": [True, True, False, True],
        "late": [0, 0, 40, 0],
        "due": [100, 100, 100, 100],
    }
)
LINKS = pl.DataFrame(
    {
        "link": ["left-right", "right-left"],
        "packets_per_second": [50.0, 0.0],
        "drop_rate": [0.03, 0.0],
        "utilisation": [0.9, 0.0],
        "mean_queue_packets": [2.0, 0.0],
        "mean_queue_delay_ms": [40.0, 0.0],
    }
)
TIMEOUTS = pl.DataFrame(
    {
        "flow": ["video0", "video1", "video1", "video1", "file0"],
        "time_s": [10.0, 40.0, 40.4, 50.0, 90.0],
        "rto_s": [0.2, 0.2, 0.4, 3.2, 64.0],
        "frozen_s": [0.2, 0.3, 0.4, 0.5, 64.0],
    }
)


def result(**tables: pl.DataFrame) -> Result:
    """Return a result of 100 s with these tables."""
    given = {"flows": FLOWS, "lateness": LATENESS, "timeouts": TIMEOUTS, "links": LINKS, **tables}
    sources = {name: (lambda table=table: table) for name, table in given.items()}
    return Result({}, 1, {"duration_s": 100.0, "t_over_mu": 1.4, "bottleneck": "left-right"}, sources)


def part(**options: object) -> Part:
    """Return a part that observes the video flows."""
    return Part("main", Path(), "video", **options)  # type: ignore[arg-type]


def test_a_run_is_reduced_to_means_over_the_observed_flows() -> None:
    seen = observe(StudyRun(part(), {"buffer": 80}, 1, {}), result())
    assert (seen.flows, seen.load) == (2, 1.4)
    assert seen.values["rto_count"] == 9
    assert seen.values["flow_drop_rate"] == pytest.approx(0.03)
    assert seen.values["interarrival_stddev_s"] == pytest.approx(0.045)
    assert seen.values["required_startup_delay_s"] == 2
    assert (seen.values["min_expired_rto_s"], seen.values["max_expired_rto_s"]) == (0.2, 3.2)


def test_the_bottleneck_and_all_flows_are_seen_too() -> None:
    seen = observe(StudyRun(part(), {}, 1, {}), result()).values
    assert (seen["utilisation"], seen["drop_rate"]) == (0.9, 0.03)
    assert seen["queue_delay_littles_law_s"] == pytest.approx(0.04), "2 packets wait, 50 leave each second"
    assert seen["relative_throughput"] == pytest.approx(0.5)
    assert seen["late_share_all_delays"] == pytest.approx(0.1)
    assert seen["early_retransmits"] == 3


def test_success_rates_are_shares_of_flows() -> None:
    seen = observe(StudyRun(part(), {}, 1, {}), result())
    assert (seen.delays.tolist(), seen.success.tolist()) == ([1.0, 2.0], [0.5, 1.0])
    assert seen.values["on_time_share_largest_fall"] == 0


def test_counts_are_scaled_to_the_papers_run_flow_by_flow() -> None:
    seen = observe(StudyRun(part(reference_duration=1000.0), {}, 1, {}), result())
    assert seen.values["rto_count"] == pytest.approx((10 * 1000 / 100 + 8 * 980 / 80) / 2)
    assert seen.values["flow_drop_rate"] == pytest.approx(0.03)


def test_the_longest_freeze_of_timeouts_in_a_row_is_set_beside_the_delay_that_a_flow_needs() -> None:
    seen = observe(StudyRun(part(reference_duration=1000.0), {}, 1, {}), result())
    assert seen.values["freeze_over_startup_delay"] == pytest.approx((0.2 / 1.0 + 0.7 / 3.0) / 2)


def test_the_threshold_is_that_of_the_flows_that_have_one() -> None:
    seen = observe(StudyRun(part(propagation=0.05, drain=0.0005), {"buffer": 80}, 1, {}), result())
    assert seen.values["er_threshold_median_s"] == pytest.approx(0.13)
    assert seen.values["er_threshold_excess_s"] == pytest.approx(0.04)


def duplicates() -> pl.DataFrame:
    """Return first duplicates at 80 ms and second ones at 105 and 150 ms, with a threshold of 130 ms."""
    ages = [0.0801] * 10 + [0.1051] * 6 + [0.1501] * 4
    return pl.DataFrame(
        {
            "flow": ["video0"] * 10 + ["video1"] * 10,
            "time_s": np.arange(20.0),
            "dupacks": [1] * 10 + [2] * 10,
            "age_s": ages,
            "er_threshold_s": [0.13] * 20,
        }
    )


def test_ages_are_counted_by_the_number_of_the_duplicate() -> None:
    values = age_values(duplicates(), 0.077)
    assert values["false_dupack_share"] == 0
    assert values["first_dupack_above_threshold_share"] == 0
    assert values["second_dupack_above_threshold_share"] == pytest.approx(0.4)
    assert values["second_dupack_excess_s"] == pytest.approx(0.0201)
    assert values["er_threshold_excess_s"] == pytest.approx(0.053)
    assert [values["dupack_age_clusters"], values["dupack_age_cluster_spacing_s"]] == pytest.approx([3, 0.025])


def test_clusters_are_found_tallest_first() -> None:
    assert clusters(duplicates()["age_s"].to_numpy()) == pytest.approx([0.0825, 0.1075, 0.1525])
    assert clusters(np.array([])) == []


def test_histograms_hold_every_duplicate_once() -> None:
    bins = duplicate_bins(duplicates())
    assert bins.select(pl.sum_horizontal("first", "second", "later").sum()).item() == pytest.approx(100)
    assert bins["threshold_ms"].unique().to_list() == [130.0]


def test_a_history_shows_one_flow() -> None:
    assert duplicate_history(duplicates()).height == 10


def trace(*events: tuple[float, str, int]) -> pl.DataFrame:
    """Return a trace of these events."""
    return pl.DataFrame(events, schema=["time", "event", "seq"], orient="row")


LOSS = trace(
    (0.0, "snd", 0),
    (0.1, "snd", 1),
    (0.1, "drp", 1),
    (0.2, "snd", 2),
    (0.3, "dlv", 0),
    (0.5, "dlv", 2),
    (0.6, "rtx", 1),
    (0.9, "dlv", 1),
    (1.0, "ack", 2),
)


def test_a_gap_lasts_until_the_hole_is_filled() -> None:
    assert longest_gap(LOSS) == pytest.approx(0.6)


def test_recovery_lasts_until_all_that_was_sent_is_acknowledged() -> None:
    assert recovery_time(LOSS) == pytest.approx(0.4)
    assert np.isnan(recovery_time(trace((0.0, "snd", 0), (0.1, "ack", 0))))


def test_a_plot_of_packets_begins_at_the_loss() -> None:
    shown = around_the_loss(LOSS)
    assert shown.filter(pl.col("event") == "drp")["time_ms"].to_list() == [0.0]
    assert shown["time_ms"].min() == pytest.approx(-100)


def test_what_viewers_lost_is_a_mean_over_the_observed_flows() -> None:
    values = observe(StudyRun(part(), {}, 1, {}), result()).values
    seen = [
        values[name] for name in ("lost_share", "units_lost", "segments_skipped", "frames_abandoned", "retransmissions")
    ]
    assert seen == pytest.approx([0.03, 30, 20, 2, 13])


def test_repairs_are_those_of_packets_that_were_lost_and_retransmitted() -> None:
    values = observe(StudyRun(part(), {}, 1, {}), result(transmissions=TRANSMISSIONS)).values
    assert values["repair_time_median_s"] == pytest.approx(0.2)
    assert values["repair_time_p95_s"] == pytest.approx(0.3)


def test_lateness_is_kept_for_every_startup_delay() -> None:
    seen = observe(StudyRun(part(), {"buffer": 80}, 1, {}), result())
    assert seen.late["late_share"] == pytest.approx([0.2, 0.0])
    assert seen.late["late_units"] == pytest.approx([20.0, 0.0])


def test_a_gap_lasts_while_nothing_that_is_due_is_there() -> None:
    """After 1 s, pictures 1 to 4 are due at 1.04 … 1.16 s and come at 1.16 … 1.19 s: one gap; after 1.1 s, of 20 ms."""
    film = pl.DataFrame(
        {
            "written_s": [0.0, 0.04, 0.08, 0.12, 0.16, 0.20],
            "delivered_s": [0.1, 1.16, 1.16, 1.18, 1.19, float("inf")],
        }
    )
    assert list(audio_gaps(film.head(5), np.array([1.0, 1.1, 2.0]))) == [1.0, 0.0, 0.0]
    assert list(audio_gaps(film, np.array([2.0]))) == [1.0]
    apart = pl.DataFrame({"written_s": [0.0, 1.0, 2.0], "delivered_s": [0.2, 1.0, 2.3]})
    assert list(audio_gaps(apart, np.array([0.05, 0.25]))) == [2.0, 0.0]


POSITIONS = pl.DataFrame(
    {
        "group": ["pert"] * 3 + ["reno"] * 2,
        "packets_waiting": [0, 1, 3, 2, 3],
        "packets_in": [2, 4, 2, 1, 7],
    }
)
OFFERED = pl.DataFrame({"group": ["pert", "reno"], "measured_packets_in": [8, 16], "measured_packets_dropped": [1, 8]})


def queue_samples(*lengths: int) -> Result:
    """Return a run whose queue had these lengths, one per second, after a warm-up of one second."""
    series = pl.DataFrame(
        {
            "time_s": [float(second) for second in range(len(lengths))],
            "subject": ["left-right"] * len(lengths),
            "quantity": ["queue_packets"] * len(lengths),
            "value": [float(length) for length in lengths],
        }
    )
    seen = result(queue_positions=POSITIONS, link_groups=OFFERED, series=series)
    return replace(seen, scenario={"measure": {"warm-up": "1s"}})


def test_what_packets_find_waiting_is_reduced_by_group() -> None:
    pert = position_values(queue_samples(9, 0, 1, 2, 3), "pert", 4)
    assert pert["mean_queue_position"] == pytest.approx((4 + 6) / 8)
    assert (pert["lower_half_queue_share"], pert["upper_quarter_queue_share"]) == (0.75, 0.25)
    assert (pert["queue_positions_counted_share"], pert["drops_per_full_queue"]) == (1.0, 1.0)
    assert position_values(queue_samples(0, 0), "reno", 4)["queue_positions_counted_share"] == 0.5


def test_what_all_packets_find_is_compared_with_samples_in_time() -> None:
    """All packets: 2, 4, 1 and 9 of 16 found 0, 1, 2 and 3; the queue was as long as that in time, then always full."""
    alike = queue_samples(9, *[0] * 2, *[1] * 4, 2, *[3] * 9)
    assert position_values(alike, "pert", 4)["queue_position_difference"] == pytest.approx(0.0)
    assert position_values(queue_samples(9, 3, 3), "pert", 4)["queue_position_difference"] == pytest.approx(7 / 16)


def test_what_packets_find_is_drawn_by_tenths_of_the_queue() -> None:
    lines = position_lines(POSITIONS, 20)
    pert = lines.filter(line="pert")
    assert pert["x"][:2].to_list() == [1.0, 3.0]
    assert pert["value"][:2].to_list() == [75.0, 25.0]
    assert lines.filter(name="RENO")["value"].sum() == pytest.approx(100)


def test_the_fluctuation_of_a_window_is_measured_at_the_end_of_the_run() -> None:
    """Samples every second: 120 s that do not count, then 8 and 12 in turn for 90 s."""
    windows = [50.0] * 120 + [8.0, 12.0] * 45
    series = windows_each_second(windows)
    values = window_values(series, "film0")
    assert values["cwnd_variation"] == pytest.approx(0.2)
    assert values["cwnd_change_per_s"] == pytest.approx(4.0)
    assert values["cwnd_falls"] == 44
    assert window_values(series, "film1") == {}
    line = window_line(series, "film0", "pert")
    assert (line["x"].to_list(), line["value"].to_list()) == (list(range(90)), windows[120:])


def test_the_fluctuation_of_a_short_run_does_not_begin_in_slow_start() -> None:
    series = windows_each_second([50.0] * 40 + [8.0, 12.0] * 15)
    assert window_values(series, "film0")["cwnd_variation"] == pytest.approx(0.2)


def windows_each_second(windows: list[float]) -> pl.DataFrame:
    """Make the samples of a window."""
    times = np.arange(float(len(windows)))
    return pl.DataFrame({"time_s": times, "subject": "film0", "quantity": "cwnd", "value": windows})


def test_flows_are_put_into_groups_by_their_own_load_and_losses() -> None:
    flows = FLOWS.with_columns(index=pl.Series([0, 1, 0]))
    flows = pl.concat([flows, flows[2:].with_columns(index=pl.lit(1, pl.Int64), throughput_bps=pl.lit(4e5))])
    groups = [
        Group("rich", "rich", load=(1.4, 2.0)),
        Group("poor", "poor", load=(0.8, 1.4)),
        Group("lossy", "lossy", drop=(0.04, 0.08)),
        Group("richest", "richest", load=(2.0, 9.0)),
        Group("large", "large", axes={"n": (2,)}),
    ]
    members = observe(StudyRun(part(partners="file"), {}, 1, {}), result(flows=flows), None, groups).members
    assert {name: own.values["rto_count"] for name, own in members.items()} == {"rich": 10, "poor": 8, "lossy": 8}
    assert (members["lossy"].flows, members["lossy"].success.tolist()) == (1, [0.0, 1.0])


def test_flows_of_parts_without_partners_stay_together() -> None:
    assert not observe(StudyRun(part(), {}, 1, {}), result(), None, [Group("all", "all", load=(0.0, 9.0))]).members


def responses(*samples: tuple[float, float]) -> pl.DataFrame:
    """Return samples of queueing delay in ms and probability, one after the other."""
    rows = [("video0", name, value) for delay, share in samples for name, value in _named(delay, share)]
    return pl.DataFrame(rows, schema=["subject", "quantity", "value"], orient="row")


def _named(delay: float, share: float) -> list[tuple[str, float]]:
    return [("queueing_delay_s", delay / 1000), ("cwnd", 9.0), ("pert_response_probability", share)]


def test_probabilities_of_a_response_are_compared_with_both_curves() -> None:
    values = response_values(responses((7.5, 0.025), (40.0, 1.0), (18.0, 0.525)), "video0")
    assert values["pert_response_difference"] == pytest.approx(0.81 - 0.525), "0.81 in the form of 2007"
    assert values["pert_adaptive_response_difference"] == pytest.approx(0, abs=1e-9), "T3 is 26 ms"
    assert values["max_queueing_delay_s"] == pytest.approx(0.040)
    assert response_values(responses(), "video0") == {}


def test_the_line_of_responses_begins_at_the_largest_delay() -> None:
    line = response_line(responses((7.5, 0.025), (40.0, 1.0), (18.01, 0.5), (18.02, 0.51), (6.0, 0.01)), "video0")
    assert line["x"].to_list() == pytest.approx([6.0, 18.01, 40.0])
    assert line["value"].to_list() == [0.01, 0.5, 1.0]


def test_a_run_without_timeouts_failed_as_its_table_of_them_has_no_types() -> None:
    nothing = pl.DataFrame({name: [] for name in TIMEOUTS.columns})
    values = observe(StudyRun(part(reference_duration=1000.0), {}, 1, {}), result(timeouts=nothing)).values
    assert "freeze_over_startup_delay" not in values
    assert np.isnan(values["min_expired_rto_s"])
