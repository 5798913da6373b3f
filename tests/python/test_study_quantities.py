"""Quantities: which runs they pool, how those are paired, differences and ratios."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from earlybird import InputError
from earlybird.study.language.metrics import metric
from earlybird.study.language.names import spaced
from earlybird.study.statements.pooling import success_curve
from earlybird.study.statements.quantities import Quantity
from earlybird.study.statements.wording import difference_text
from study_parts import measured, run

SACK = {"transport": "sack", "buffer": 80}


def test_runs_are_averaged_with_the_weight_of_their_flows() -> None:
    runs = measured(run(1, 1.0, n=30), run(1, 4.0, n=10))
    assert runs.by_seed(Quantity("frozen_s", SACK)) == {1: 1.75}


def test_a_success_curve_is_that_of_all_flows_not_of_all_runs() -> None:
    runs = measured(run(1, 1.0, n=30, success=(0.2, 0.4, 1.0)), run(2, 1.0, n=10, success=(0.6, 0.8, 0.0)))
    pool = runs.select(SACK)
    delays, shares = success_curve(pool)
    assert list(zip(delays, shares, strict=True))[1:] == [
        (delay, pytest.approx(share)) for delay, share in zip(pool[0].delays, (0.3, 0.5, 0.75), strict=True)
    ]
    assert runs.pooled_success({**SACK, "delay": pool[0].delays[2]}).mean == pytest.approx(0.75)


def test_bands_take_runs_by_measured_load() -> None:
    runs = measured(run(1, 1.0, load=1.59), run(1, 9.0, n=12, load=1.6))
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "low"})) == {1: 1.0}
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "high"})) == {1: 9.0}


def test_bands_take_runs_by_measured_losses() -> None:
    runs = measured(run(1, 1.0, drop=0.019), run(1, 9.0, n=12, drop=0.02))
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "lossy"})) == {1: 9.0}


def test_with_by_flow_a_group_takes_the_flows_that_belong_to_it() -> None:
    whole = [run(seed, 5.0, load=1.7) for seed in (1, 2)]
    runs = measured(replace(whole[0], members={"low": run(1, 1.0, n=3)}), whole[1])
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "low", "by": "flow"})) == {1: 1.0}
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "low"})) == {}
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "group": "high"})) == {1: 5.0, 2: 5.0}


@pytest.mark.parametrize(("part", "by"), [("main", "packet"), ("one", "flow")])
def test_what_a_group_cannot_take_is_an_error(part: str, by: str) -> None:
    with pytest.raises(InputError, match=f"by = '{by}': groups take runs"):
        measured(run(1, 1.0)).by_seed(Quantity("frozen_s", {"part": part, "group": "low", "by": by}))


def test_lateness_is_read_at_a_startup_delay_with_the_weight_of_the_flows() -> None:
    runs = measured(run(1, 1.0, n=30, late=(0.4, 0.2, 0.0)), run(1, 1.0, n=10, late=(0.8, 0.2, 0.4)))
    assert runs.by_seed(Quantity("late_share", {**SACK, "delay": 1})) == {1: pytest.approx(0.5)}
    assert runs.by_seed(Quantity("late_share", {**SACK, "delay": 2.5})) == {1: pytest.approx(0.15)}


def test_an_axis_left_out_means_its_default() -> None:
    runs = measured(run(1, 1.0), run(1, 5.0, restart=True))
    assert runs.by_seed(Quantity("frozen_s", SACK)) == {1: 1.0}
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "restart": True})) == {1: 5.0}


def test_like_is_compared_with_like_when_a_run_crosses_the_edge_of_a_band() -> None:
    runs = measured(
        run(1, 1.0, n=20, load=1.59),
        run(1, 3.0, n=30, load=1.3),
        run(1, 9.0, n=20, load=1.61, transport="sack-er"),
        run(1, 2.0, n=30, load=1.3, transport="sack-er"),
    )
    sack, early = runs.samples(
        [
            Quantity("frozen_s", {**SACK, "group": "low"}),
            Quantity("frozen_s", {**SACK, "transport": "sack-er", "group": "low"}),
        ]
    )
    assert (sack, early) == ({1: 3.0}, {1: 2.0})


def test_differences_and_ratios_are_made_seed_by_seed() -> None:
    runs = measured(run(1, 8.0), run(2, 6.0), run(1, 2.0, transport="sack-er"), run(2, 3.0, transport="sack-er"))
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "minus": {"transport": "sack-er"}})) == {1: 6.0, 2: 3.0}
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "over": {"transport": "sack-er"}})) == {1: 4.0, 2: 2.0}


def test_frozen_time_per_timeout_is_a_ratio_of_sums() -> None:
    runs = measured(run(1, 1.0), run(1, 3.0, n=30))
    assert runs.by_seed(Quantity("mean_freeze_s", SACK)) == {1: 0.25}


def test_success_is_read_between_startup_delays() -> None:
    runs = measured(run(1, 0.0, success=(0.2, 0.6, 1.0)))
    assert runs.by_seed(Quantity("on_time_share", {**SACK, "delay": 2.5})) == {1: pytest.approx(0.8)}
    assert runs.by_seed(Quantity("on_time_share", {**SACK, "delay": 0.5})) == {1: pytest.approx(0.1)}


def test_a_named_delay_is_found_at_its_own_point() -> None:
    runs = measured(run(1, 0.0), run(1, 0.0, transport="sack-er", success=(1.0, 1.0, 1.0)))
    assert runs.delay({"transport": "sack-er", "delay": "half"}) == pytest.approx(1.75)
    assert runs.by_seed(Quantity("half_on_time_startup_delay_s", SACK)) == {1: pytest.approx(1.75)}


def test_a_point_without_runs_has_no_values() -> None:
    assert measured(run(1, 1.0)).by_seed(Quantity("frozen_s", {**SACK, "buffer": 320})) == {}


def test_an_undefined_ratio_has_no_value() -> None:
    runs = measured(run(1, 8.0), run(1, 0.0, transport="sack-er"))
    assert runs.by_seed(Quantity("frozen_s", {**SACK, "over": {"transport": "sack-er"}})) == {}


def test_unknown_names_are_refused() -> None:
    runs = measured(run(1, 1.0))
    with pytest.raises(InputError, match="no group 'lowest'; there are: low, high"):
        runs.select({"group": "lowest"})
    with pytest.raises(InputError, match="no startup delay 'quarter'"):
        runs.delay({"delay": "quarter"})


def test_no_number_is_stated_where_the_paper_gives_none() -> None:
    assert math.isnan(measured().stated("frozen_s", SACK))


def test_zero_is_printed_without_digits_and_without_a_sign() -> None:
    assert [metric("late_share").text(value) for value in (0.0, 1e-17, -1e-17)] == ["0", "0", "0"]
    assert not difference_text(metric("late_share"), -1e-8).startswith("−")


def test_durations_are_written_as_in_prose() -> None:
    assert [spaced(value) for value in ("20ms", "0.5s", "80", 4, "messages")] == ["20 ms", "0.5 s", "80", 4, "messages"]
