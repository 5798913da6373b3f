"""Verdicts: what holds, what fails, and what the runs cannot tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from earlybird.study.language.items import Check, Filter, Item, Number
from earlybird.study.statements.checks import verdict, verdicts
from earlybird.study.statements.quantities import Quantity
from study_parts import compared, measured, run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.study.statements.quantities import Measurements
    from earlybird.study.statements.verdicts import Verdict

EARLY_BELOW_SACK = ({"transport": "sack-er"}, {"transport": "sack"})


def judge(check: Check, measurements: Measurements) -> Verdict:
    """Test one statement in its main setting."""
    return verdict(Item("T-1", "An item"), check, {}, measurements)


def order(level: str = "must", **options: object) -> Check:
    """State that SACK-ER freezes for a shorter time than SACK."""
    return Check("er-helps", level, "ER helps", "order", "frozen_s", points=EARLY_BELOW_SACK, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("early", "sack", "holds", "note"),
    [
        ([1, 2, 3], [8, 9, 10], "yes", ""),
        ([1, 9, 2], [3, 7, 3], "undecided", "within the noise"),
        ([3, 7, 3.5], [1, 9, 2], "undecided", "the other way round, within the noise"),
        ([8, 9, 10], [1, 2, 3], "no", "clearly the other way round"),
        ([2, 2], [2, 2], "undecided", "no difference"),
        ([1, 3], [3, 1], "undecided", "the other way round, within the noise"),
        ([1], [2], "undecided", "one seed"),
        ([2], [1], "undecided", "the other way round, one seed"),
        ([], [1], "not run", "nothing measured"),
    ],
)
@pytest.mark.parametrize("level", ["must", "claim", "report"])
def test_an_order(level: str, early: list[float], sack: list[float], holds: str, note: str) -> None:
    found = judge(order(level), compared(early, sack))
    assert (found.holds, found.detail) == (holds, note)


@pytest.mark.parametrize(
    ("tolerance", "share", "holds"), [(0.5, 0.0, "no"), (0.5, 0.1, "yes"), (1.5, 0.05, "yes"), (0.5, 0.05, "no")]
)
def test_a_difference_within_a_share_of_what_is_subtracted_failed(tolerance: float, share: float, holds: str) -> None:
    at = {"transport": "sack-er", "minus": {"transport": "sack"}}
    check = Check(
        "same", "claim", "The same", "range", "frozen_s", at=at, least=-tolerance, most=tolerance, share=share
    )
    assert judge(check, compared([11, 11.01, 11.02], [10, 10.01, 10.02])).holds == holds


def test_an_order_names_its_numbers() -> None:
    found = judge(order(), compared([2, 2.2], [8, 8.2]))
    assert found.ours == "SACK-ER < SACK: 2.10 s against 8.10 s"
    assert found.interval == "−6.00 s … −6.00 s"
    assert found.effect == "×0.26"


def test_a_factor_tightens_an_order() -> None:
    runs = compared([5, 5.1], [8, 8.1])
    assert judge(order(), runs).holds == "yes"
    assert judge(order(factor=0.6), runs).holds == "no"


def test_a_margin_loosens_an_order() -> None:
    runs = compared([8.5, 8.6], [8, 8.1])
    assert judge(order(), runs).holds == "no"
    assert judge(order(margin=1.0), runs).holds == "yes"


def test_one_cell_that_fails_decides() -> None:
    runs = measured(
        *(run(seed, 8.0 + seed, buffer=80) for seed in (1, 2)),
        *(run(seed, 1.0 + seed, buffer=80, transport="sack-er") for seed in (1, 2)),
        *(run(seed, 1.0 + seed, buffer=160) for seed in (1, 2)),
        *(run(seed, 8.0 + seed, buffer=160, transport="sack-er") for seed in (1, 2)),
    )
    found = judge(order(cells={"buffer": (80, 160, 320)}), runs)
    assert (found.holds, found.detail) == ("no", "holds in 1 of 2 cells, fails in 1, 1 without a value")
    assert found.ours.startswith("160 packets: ")


def test_a_cell_with_the_opposite_sign_leaves_the_whole_open() -> None:
    runs = measured(*(run(1, sft, buffer=buffer) for buffer, sft in ((80, 6.0), (160, 4.0))))
    cells = {"buffer": (80, 160)}
    check = Check("long", "must", "long", "range", "frozen_s", at={"transport": "sack"}, least=5, cells=cells)
    assert judge(check, runs).holds == "undecided"


def cells_of_sack(*samples: Sequence[float]) -> Measurements:
    """Return runs of SACK with these frozen times, a buffer of its own for each list of seeds."""
    return measured(
        *(run(seed, sft, buffer=buffer) for buffer, seeds in enumerate(samples) for seed, sft in enumerate(seeds))
    )


def short(most: float, cells: int) -> Check:
    """State that SACK freezes for so long at most, at so many buffers."""
    buffers = {"buffer": tuple(range(cells))}
    return Check("short", "must", "short", "range", "frozen_s", at={"transport": "sack"}, most=most, cells=buffers)


def test_one_failure_among_many_cells_may_be_chance() -> None:
    beyond, within = [5.0, 5.3, 5.6], [1.0, 1.1, 1.2]
    single = judge(short(5.0, 1), cells_of_sack(beyond))
    assert (single.holds, single.detail) == ("undecided", "above the range, within the noise")
    failing = [5.2, 5.25, 5.3]
    assert judge(short(5.0, 1), cells_of_sack(failing)).holds == "no"
    among = judge(short(5.0, 12), cells_of_sack(failing, *[within] * 11))
    assert (among.holds, among.detail) == ("undecided", "holds in 11 of 12 cells, undecided in 1")
    assert among.findings[0].note == "the other way round, but no more than chance gives among so many cells"


def test_what_fails_in_many_cells_is_no_chance() -> None:
    failing, within = [5.2, 5.25, 5.3], [1.0, 1.1, 1.2]
    found = judge(short(5.0, 12), cells_of_sack(*[failing] * 6, *[within] * 6))
    assert (found.holds, found.detail) == ("no", "holds in 6 of 12 cells, fails in 6")


def test_a_statement_that_fails_showed_a_cell_that_does_not() -> None:
    found = judge(short(5.0, 3), cells_of_sack([1.0, 9.0, 14.0], [5.2, 5.25, 5.3], [1.0, 1.1, 1.2]))
    assert [cell.holds for cell in found.findings] == ["undecided", "no", "yes"]
    assert found.ours.endswith("5.25 s")


def test_nothing_lost_is_refuted_by_a_single_loss() -> None:
    found = judge(short(0.0, 1), cells_of_sack([0.0, 0.0, 28.0]))
    assert (found.holds, found.detail) == ("no", "above the range")
    assert judge(short(0.0, 1), cells_of_sack([0.0, 0.0, 0.0])).holds == "yes"


def test_a_mean_whose_interval_crosses_a_bound_decides_nothing() -> None:
    assert judge(short(5.0, 1), cells_of_sack([4.0, 4.9, 5.5])).detail == "within the noise"


def test_an_interval_ends_where_there_can_be_no_values() -> None:
    (found,) = judge(short(5.0, 1), cells_of_sack([0.1, 4.9])).findings
    assert found.interval.startswith("0 s … ")


def test_a_difference_of_shares_had_more_than_a_hundred_points() -> None:
    assert Quantity("on_time_share", {"minus": {}}).possible == (-1.0, 1.0)
    assert Quantity("frozen_s", {"minus": {}}).possible == (-math.inf, math.inf)


def test_without_bounds_a_quantity_is_reported() -> None:
    check = Check("sack", "report", "SACK", "range", "frozen_s", at={"transport": "sack"})
    assert judge(check, cells_of_sack([4.0, 4.9])).holds == "reported"


def test_cells_below_the_filter_are_left_out() -> None:
    check = order(cells={"buffer": (80,)}, where=Filter("frozen_s", {"transport": "sack"}, above=0.5))
    assert judge(check, compared([0.3, 0.4], [0.1, 0.2])).findings == ()


def test_an_order_along_an_axis_compares_neighbours() -> None:
    runs = measured(*(run(seed, 320 / buffer + seed, buffer=buffer) for seed in (1, 2) for buffer in (80, 160, 320)))
    check = Check(
        "falls",
        "must",
        "falls",
        "order",
        "frozen_s",
        at={"transport": "sack"},
        points=({"buffer": 320}, {"buffer": 160}, {"buffer": 80}),
    )
    found = judge(check, runs)
    assert found.holds == "yes"
    assert [finding.label for finding in found.findings] == ["320 packets < 160 packets", "160 packets < 80 packets"]


def test_a_ratio_within_its_bounds() -> None:
    check = Check(
        "ratio",
        "must",
        "ratio",
        "range",
        "frozen_s",
        at={"transport": "sack-er", "over": {"transport": "sack"}},
        most=0.5,
    )
    assert judge(check, compared([2, 2.2], [8, 8.2])).ours == "SACK-ER ÷ SACK: 0.26"
    assert judge(check, compared([2, 2.2], [8, 8.2])).holds == "yes"
    assert judge(check, compared([6, 6.2], [8, 8.2])).holds == "no"


def test_one_seed_outside_of_its_bounds_may_be_an_accident() -> None:
    check = Check("long", "must", "long", "range", "frozen_s", at={"transport": "sack"}, least=5)
    assert judge(check, measured(run(1, 4.0))).holds == "undecided"
    exact = Check("long", "must", "long", "range", "frozen_s", at={"transport": "sack", "part": "one"}, least=5)
    assert judge(exact, measured(run(1, 4.0, part="one"))).holds == "no"


def test_numbers_are_set_beside_the_papers() -> None:
    number = Number("frozen_s", {"transport": "sack", "buffer": 80}, 16.0)
    found = judge(Check("numbers", "report", "÷", "numbers", table="table"), measured(run(1, 8.0), numbers=[number]))
    assert (found.holds, found.effect) == ("reported", "×0.50")
    assert (found.findings[0].paper, found.findings[0].ours) == ("16 s", "8.00 s")


def test_differences_of_shares_are_in_points() -> None:
    number = Number("on_time_share", {"transport": "sack-er", "delay": 2, "minus": {"transport": "sack"}}, 0.33)
    runs = measured(run(1, 0.0), run(1, 0.0, transport="sack-er", success=(0.2, 0.9, 1.0)), numbers=[number])
    finding = judge(Check("numbers", "report", "÷", "numbers", table="table"), runs).findings[0]
    assert (finding.paper, finding.ours) == ("+33 points", "+30.0 points")


def test_success_rates_are_also_given_for_the_pooled_flows() -> None:
    number = Number("on_time_share", {"transport": "sack", "delay": 2}, 0.5, "about")
    runs = measured(*(run(seed, 0.0, success=(0.0, 0.5, 1.0)) for seed in (1, 2)), numbers=[number])
    finding = judge(Check("numbers", "report", "÷", "numbers", table="table"), runs).findings[0]
    assert finding.note == "about; all flows pooled: 32.7 % … 67.3 %"


def test_variants_get_verdicts_of_their_own_where_they_were_run() -> None:
    runs = measured(*(run(1, 8.0, restart=restart) for restart in (False, True)))
    check = Check(
        "long", "claim", "long", "range", "frozen_s", at={"transport": "sack"}, least=5, each={"restart": (False, True)}
    )
    item = Item("T-1", "An item", checks=(check,))
    assert [found.variant for found in verdicts(item, runs)] == ["standard", "restarted"]
    assert [found.variant for found in verdicts(item, measured(run(1, 8.0)))] == ["standard"]


@pytest.mark.parametrize(
    ("early", "holds", "note"),
    [(1, "yes", ""), (3, "no", "clearly the other way round"), (2, "undecided", "no difference")],
)
def test_one_run_decides_an_order_where_nothing_is_random(early: float, holds: str, note: str) -> None:
    both = {"sack-er": early, "sack": 2}
    runs = measured(*(run(1, value, part="one", transport=name) for name, value in both.items()))
    found = judge(order(at={"part": "one"}), runs)
    assert (found.holds, found.detail) == (holds, note)
