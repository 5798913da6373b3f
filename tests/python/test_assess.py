"""Congestion controls by the criteria of RFC 9743: what is known of them, thresholds, files, errors."""

from __future__ import annotations

import itertools
import json
import shlex
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

import pytest

from conftest import REPOSITORY
from earlybird.assessment import assess
from earlybird.assessment.controls import compared_with, filled
from earlybird.assessment.examination import SEEDS
from earlybird.assessment.outcome import Row, comparisons
from earlybird.assessment.page import commands
from earlybird.assessment.picture import chart
from earlybird.assessment.register import criteria, excluded
from earlybird.loading import override_texts, resolve
from earlybird.metrics import sections, tables
from earlybird.plots.chart import Curve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

SECTIONS = {
    *("5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2.1", "5.2.2", "5.2.3", "5.3.1", "5.3.2"),
    *("6.1", "6.2", "6.3", "6.4"),
    *("7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "7.7", "7.8", "7.9", "7.10", "7.11"),
}
"""Sections of RFC 9743 that ask for an evaluation."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder that the tests share."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def assessed(store: Path) -> Callable[..., Any]:
    """Assess with the shared results, in this process and one worker."""
    return lambda *given, **options: assess(*given, output=store, jobs=1, **options)


def at(row: Row, control: str) -> dict[float | str, float]:
    return dict(zip(row.criterion.places, (one.mean for one in row.places(control)), strict=True))


def test_every_section_of_the_rfc_is_measured_or_has_a_reason() -> None:
    assert {*(one.section for one in criteria().values()), *(one.section for one in excluded())} >= SECTIONS


@pytest.mark.parametrize("name", criteria())
def test_quantities_of_criteria_are_columns_of_results(name: str) -> None:
    quantity = criteria()[name].quantity
    entries = sections()["summary"] if quantity.table == "summary" else tables()[quantity.table]
    assert quantity.column in entries.entries


@pytest.mark.parametrize("control", ["cubic-rack", "vegas", "pert-er", "quic", "tfrc"])
def test_scenarios_of_all_cases_are_valid(control: str) -> None:
    for one in criteria().values():
        for case in one.cases:
            given = filled(case, one.control, control, "-rack")
            assert set(given) <= set(resolve(one.path).parameters)
            resolve(one.path, override_texts(given))


def test_bbr_v1_loses_packets_in_buffers_below_one_and_a_half_bdp(assessed: Callable[..., Any]) -> None:
    found = assessed("bbr1-rack", criteria=["loss_percent_by_buffer"], against=["cubic-rack", "bbr3-rack"])
    row = found.row("loss_percent_by_buffer")
    assert row.comparison == "worse"
    bbr1, bbr3 = at(row, "bbr1-rack"), at(row, "bbr3-rack")
    assert all(bbr1[buffer] > 5 for buffer in (0.25, 0.5, 1))
    assert bbr1[4] < bbr1[1] / 2
    assert all(bbr3[buffer] < bbr1[buffer] / 2 for buffer in (0.5, 1))


def test_cubic_fills_deep_drop_tail_buffers_and_bbr_does_not(assessed: Callable[..., Any]) -> None:
    found = assessed("cubic-rack", criteria=["p95_queue_delay_ms"], against=["bbr3-rack"])
    row = found.row("p95_queue_delay_ms")
    assert row.comparison == "worse"
    assert at(row, "cubic-rack")[16] > 500
    assert at(row, "bbr3-rack")[16] < 60


def test_reno_gives_flows_with_long_round_trips_less(assessed: Callable[..., Any]) -> None:
    found = assessed("sack-rack", criteria=["slower_share_by_round_trip"], against=[])
    share = at(found.row("slower_share_by_round_trip"), "sack-rack")
    assert share[1] > 80
    assert share[8] < 50
    assert list(share.values()) == sorted(share.values(), reverse=True)


def test_a_control_that_does_not_respond_to_loss_is_found(assessed: Callable[..., Any]) -> None:
    settings = {"endpoint.bbr3.loss-threshold": 1.0, "endpoint.bbr3.beta": 1.0}
    found = assessed("bbr3-rack", criteria=["loss_percent_by_buffer"], against=["sack-rack"], overrides=settings)
    usual = assessed("bbr3-rack", criteria=["loss_percent_by_buffer"], against=["sack-rack"])
    broken, sound = (each.row("loss_percent_by_buffer") for each in (found, usual))
    assert broken.comparison == "worse"
    assert broken.figure("bbr3-rack").low > 2 * sound.figure("bbr3-rack").high


def test_equal_commands_have_equal_results_whatever_is_there_already(tmp_path: Path) -> None:
    first, second = (
        assess("pert", criteria=["incast_time_ms"], against=["cubic"], budget=4.0, output=tmp_path, jobs=jobs)
        for jobs in (1, 2)
    )
    assert json.dumps(first.to_dict()) == json.dumps(second.to_dict())


def test_seeds_are_added_where_the_comparison_is_open_while_the_budget_lasts(assessed: Callable[..., Any]) -> None:
    short = assessed("pert", criteria=["harm_by_short_flows_percent"], against=["cubic"], budget=0.0)
    assert short.rows[0].comparison == "open"
    assert short.rows[0].figure("pert").count == SEEDS[0]
    longer = assessed("pert", criteria=["harm_by_short_flows_percent"], against=["cubic"], budget=short.spent * 2.1)
    assert longer.rows[0].figure("pert").count == SEEDS[1]
    assert longer.spent <= short.spent * 2.1


def made_row(name: str, own: list[float], other: list[float]) -> Row:
    one = criteria()[name]
    samples = {
        control: [dict(enumerate(values, 1)) for _ in one.cases] for control, values in (("a", own), ("b", other))
    }
    return Row(one, "a", ("b",), samples)


@pytest.mark.parametrize(
    ("own", "other", "word"),
    [
        ([10.0, 10.1, 10.2], [20.0, 20.3, 20.1], "better"),
        ([20.0, 20.3, 20.1], [10.0, 10.1, 10.2], "worse"),
        ([20.0, 20.3, 20.1], [20.1, 20.2, 20.3], "like"),
        ([10.0, 30.0, 20.0], [20.0, 18.0, 22.0], "open"),
        ([10.0, 10.0, 10.0], [10.5, 10.5, 10.5], "like"),
        ([10.0, 10.0, 10.0], [12.0, 12.0, 12.0], "better"),
    ],
)
def test_smaller_delays_are_better_beyond_the_margin_and_chance(
    own: list[float], other: list[float], word: str
) -> None:
    assert comparisons([made_row("p95_queue_delay_ms", own, other)]) == [word]


def test_one_surprise_among_many_criteria_is_chance() -> None:
    borderline = made_row("p95_queue_delay_ms", [10.0, 10.0, 10.0], [15.0, 17.0, 14.0])
    alike = made_row("p95_queue_delay_ms", [10.0, 10.1, 10.2], [10.1, 10.2, 10.1])
    assert comparisons([borderline]) == ["better"]
    others = itertools.repeat(alike, 40)
    assert comparisons([borderline, *others]) == ["open", *["like"] * 40]


def test_others_have_the_loss_recovery_of_the_control() -> None:
    assert compared_with("copa-rack", None) == ["cubic-rack", "sack-rack", "bbr1-rack", "bbr3-rack"]
    assert compared_with("pert-er", None) == ["cubic-er", "sack-er", "bbr1-er", "bbr3-er"]
    assert compared_with("cubic", None) == ["sack", "bbr1", "bbr3"]


def test_thresholds_decide_the_exit_code(earlybird: Program, tmp_path: Path, store: Path) -> None:
    (tmp_path / "assess.toml").write_text("incast_time_ms = {max = 1e6}\njain_index = {min = 0.5}\n", encoding="utf-8")
    line = ("assess", "sack", "--criterion", "7.11", "--against", "cubic", "--output", store, "--jobs", 1)
    kept = earlybird(*line, "--thresholds", "assess.toml", "--junit", "kept.xml")
    assert kept.code == 0
    assert "Not tested: 1 thresholds" in kept.err
    (tmp_path / "assess.toml").write_text("incast_time_ms = {max = 0.1}\n", encoding="utf-8")
    failed = earlybird(*line, "--thresholds", "assess.toml", "--junit", "failed.xml", "--json")
    assert failed.code == 1
    assert json.loads(failed.out)["thresholds"] == [
        {"criterion": "incast_time_ms", "holds": False, "fault": "it is above 0.1"}
    ]
    suites = [Xml.parse(tmp_path / name).getroot() for name in ("kept.xml", "failed.xml")]
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
    assert suites[1].find("testcase[@name='incast_time_ms']/failure") is not None
    assert suites[1].get("skipped") == str(len(excluded()))


def test_the_table_fits_80_columns_and_names_what_is_not_measured(
    earlybird: Program, monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = earlybird("assess", "copa", "--criterion", "7.11", "--output", store, "--jobs", 1)
    assert shown.code == 0
    assert max(map(len, shown.out.splitlines())) <= 80
    assert "answers no marks" in " ".join(shown.out.split())
    assert all(one.section in shown.out for one in excluded())


def test_the_page_has_pictures_scenarios_and_commands_that_run(
    earlybird: Program, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Path
) -> None:
    line = ("assess", "sack", "--criterion", "7.11", "--against", "cubic", "--output", store, "--jobs", 1)
    assert earlybird(*line, "--html", "sack.html").code == 0
    page = (tmp_path / "sack.html").read_text(encoding="utf-8")
    assert page.count('<div class="chart">') == 2
    assert 'href="sack-scenarios/incast.toml"' in page
    found = assess("sack", criteria=["7.11"], against=["cubic"], output=store, jobs=1)
    row = found.row("incast_time_ms")
    repeated = commands(row, found, tmp_path / "sack-scenarios")[-1]
    ran = earlybird(*shlex.split(repeated)[1:], "--json")
    assert ran.code == 0
    assert (tmp_path / "case.qlog").stat().st_size > 1000
    (tmp_path / "sack-scenarios" / "incast.toml").write_text("mine", encoding="utf-8")
    refused = earlybird(*line, "--html", "sack.html")
    assert refused.code == 2
    assert "is another one" in refused.err


def test_pictures_have_a_line_for_each_control(assessed: Callable[..., Any]) -> None:
    row = assessed("sack", criteria=["incast_time_ms"], against=["cubic"]).rows[0]
    (panel,) = chart(row).panels
    assert [curve.name for curve in panel.marks if isinstance(curve, Curve)] == ["sack", "cubic"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cubik",), "there is no transport `cubik`"),
        (("cubic", "--criterion", "5.9"), "there is no such criterion"),
        (("cubic", "--criterion", "p95_queue_delay"), "did you mean 'p95_queue_delay_ms'"),
        (("cubic", "--criterion", "7.10"), "Simulated connections have one path"),
        (("cubic", "--against", "renoo"), "there is no transport `renoo`"),
        (("cubic", "--budget", "60"), "budget = 60: a time with its unit"),
        (("udp", "--criterion", "5.1.2"), "udp cannot be assessed: flows.tested.application.bulk"),
        (("cubic", "--set", "endpoint.mss"), "form key=value"),
        (("cubic", "--thresholds", "none.toml"), "cannot read none.toml"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2(earlybird: Program, arguments: tuple[str, ...], words: str) -> None:
    left = earlybird("assess", *arguments)
    assert left.code == 2
    assert words in left.err
    assert len(left.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p95_queue_delay = {max = 20}", "did you mean 'p95_queue_delay_ms'"),
        ("p95_queue_delay_ms = {maximum = 20}", "is it max"),
        ("p95_queue_delay_ms = {max = 'low'}", "it must be a number"),
        ("p95_queue_delay_ms = 20", "it must be a table"),
        ("p95_queue_delay_ms = {}", "has no threshold"),
    ],
)
def test_bad_thresholds_name_file_key_and_a_hint(earlybird: Program, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "assess.toml").write_text(text, encoding="utf-8")
    left = earlybird("assess", "cubic", "--thresholds", "assess.toml")
    assert left.code == 2
    assert "assess.toml" in left.err
    assert words in left.err


def test_the_example_of_the_action_has_thresholds_of_criteria() -> None:
    from earlybird.assessment.thresholds import read_thresholds

    assert read_thresholds(REPOSITORY / ".github" / "actions" / "assess" / "assess.toml")


def test_the_published_table_has_a_line_per_criterion_and_a_column_per_control(assessed: Callable[..., Any]) -> None:
    sys.path.insert(0, str(REPOSITORY / "tools"))
    import assessment as published

    found = [assessed(name, criteria=["7.11"], against=["cubic-rack"], budget=0.0) for name in ("sack", "copa")]
    lines = published.page(found).splitlines()
    (title,) = (line for line in lines if line.startswith("| RFC"))
    rows = [line for line in lines if line.startswith("| 7.11 |")]
    assert title.count("|") == 6
    assert [line.count("|") for line in rows] == [6, 6]
    assert any("copa: " in line for line in lines)


def test_the_published_page_has_all_criteria() -> None:
    text = (REPOSITORY / "docs" / "results" / "assessment.md").read_text(encoding="utf-8")
    titles = [*(one.title for one in criteria().values()), *(one.title for one in excluded())]
    assert all(title in text for title in titles)
