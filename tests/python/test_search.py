"""The search for a setting that meets all statements: its objective, its files, its reproducibility."""

from __future__ import annotations

import math
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from conftest import store_bytes
from earlybird.errors import InputError, ScenarioError, StoreError
from earlybird.report.publication import write_publication
from earlybird.report.search_page import write_search
from earlybird.report.writer import write_report
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.language.items import Check, Item, Number
from earlybird.study.language.loading import load
from earlybird.study.language.register import Register
from earlybird.study.runs.execution import make_runs
from earlybird.study.runs.plan import plan
from earlybird.study.search.definition import SEARCH, Choice, Range, Search, Target
from earlybird.study.search.exploration import Exploration, Trial, explore
from earlybird.study.search.loading import choose_searches, load_search
from earlybird.study.search.objective import MOST, Reading, Statement, distance, miss, readings
from earlybird.study.search.outcome import outcome_folder, read_outcome, write_outcome
from earlybird.study.search.space import changes, check_space, runs_of
from earlybird.study.search.summary import exclusions, least_expected, outcome
from study_parts import measured, run, small_study, study

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

SIZES, SHARES = Target(table="table", factor=2.0), Target(table="table", within=0.1)

SEARCH_FILE = """
paper = "S: a small paper"
trials = 12
best = 1

[scales.search]
seeds = 1
duration = "5s"
[scales.confirmation]
seeds = 2
duration = "5s"

[[grids]]
part = "main"
scales = ["search", "confirmation"]
n = [1, 2]
transport = ["sack", "sack-er"]

[parameters.rate]
title = "Rate"
why = "Not stated"
key = "network.dumbbell.bottleneck.rate"
values = ["1Mb/s", "2Mb/s"]
default = "1Mb/s"

[parameters.window]
title = "Window"
why = "Not stated"
key = "endpoint.window"
default = 10
least = 4
most = 20

[[targets]]
table = "numbers"
factor = 1.25

[[targets]]
item = "S-1"
within = 0.1
"""


def test_a_number_misses_by_the_tolerances_beyond_its_own() -> None:
    assert miss(19.9, 10.0, SIZES, is_number=True) == 0
    assert miss(40.0, 10.0, SIZES, is_number=True) == pytest.approx(1)
    assert miss(2.5, 10.0, SIZES, is_number=True) == pytest.approx(1)
    assert miss(0.35, 0.5, SHARES, is_number=True) == pytest.approx(0.5)


def test_an_order_or_a_bound_has_no_tolerance() -> None:
    assert miss(10.0, 10.0, SIZES, is_number=False) == 0
    assert miss(10.0, 5.0, SIZES, is_number=False) == pytest.approx(1)
    assert miss(0.52, 0.5, SHARES, is_number=False) == pytest.approx(0.2)


def test_what_cannot_be_measured_or_is_hopeless_misses_by_the_most() -> None:
    for found, allowed in ((math.nan, 1.0), (1.0, math.nan), (1.0, 0.0), (1e9, 1.0)):
        assert miss(found, allowed, SIZES, is_number=True) == MOST


def test_misses_are_put_together_as_the_root_of_the_mean_square() -> None:
    assert distance([3.0, 4.0, 0.0, 0.0]) == pytest.approx(2.5)
    assert distance([0.0, 0.0]) == 0


def read(checks: Sequence[Check], numbers: Sequence[Number], *targets: Target) -> list[Reading]:
    """Read a toy study in which SACK freezes for 8 s, SACK-ER for 4 s, and one run lies outside of its band."""
    toy = study([Item("T-1", "An item", checks=tuple(checks))], numbers)
    runs = (run(1, 8.0), run(1, 4.0, transport="sack-er"), run(1, 1.0, load=2.5, n=20))
    search = Search(study=toy, paper="T", parameters={}, targets=targets, trials=1)
    return readings(search, measured(*runs, numbers=numbers))


def test_each_number_of_a_table_that_has_runs_is_a_statement() -> None:
    numbers = (
        Number("frozen_s", {"n": 10, "transport": "sack"}, 2.0),
        Number("frozen_s", {"n": 10, "transport": "sack-er"}, 3.0),
        Number("frozen_s", {"n": 99, "transport": "sack"}, 3.0),
    )
    found = read([Check("numbers", "report", "Numbers", "numbers", table="table")], numbers, SIZES)
    assert [(each.statement.paper, each.ours, each.is_met) for each in found] == [
        ("2 s", "8.00 s", False),
        ("3 s", "4.00 s", True),
    ]
    assert found[0].miss == pytest.approx(1)


def test_a_run_outside_of_its_band_misses_by_the_most() -> None:
    number = Number("frozen_s", {"n": 20, "group": "low", "transport": "sack"}, 1.0)
    (found,) = read([Check("numbers", "report", "Numbers", "numbers", table="table")], [number], SIZES)
    assert found.miss == MOST


def test_an_order_misses_by_what_its_cells_lack() -> None:
    wrong = Check(
        "wrong", "claim", "Wrong", "order", "frozen_s", points=({"transport": "sack"}, {"transport": "sack-er"})
    )
    right = Check(
        "right", "must", "Right", "order", "frozen_s", points=({"transport": "sack-er"}, {"transport": "sack"})
    )
    report = Check("not-asked-for", "report", "Not asked for", "range", "frozen_s", most=0.0)
    found = read([wrong, right, report], [], Target(item="T-1", factor=2.0))
    assert [(each.statement.text, each.miss) for each in found] == [("Wrong", pytest.approx(1)), ("Right", 0)]


def test_a_choice_may_use_the_axes_of_a_run() -> None:
    choice = Choice("queue", "Queue", "", "packets", {"packets": {}, "bytes": {"queue": {"bytes": "{buffer}000"}}})
    assert changes(choice, "bytes", {"buffer": 80}) == {"queue": {"bytes": 80000}}
    assert changes(Range("phase", "Phase", "", 1, "phase", 0, 9, unit="ms"), 2.5, {}) == {"phase": "2.5ms"}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    """A search of a small study."""
    folder = small_study(tmp_path_factory.mktemp("search") / "small-study")
    (folder / "search.toml").write_text(SEARCH_FILE, encoding="utf-8")
    return load_search(load(folder))


def test_the_study_s_own_setting_shares_the_study_s_runs(search: Search) -> None:
    assert runs_of(search, search.default, SEARCH) == plan(search.study, SEARCH)


def searched(search: Search, trials: int, results: Path, jobs: int = 1) -> dict[str, bytes]:
    """Search, and return the tables."""
    found = outcome(explore(search, trials, Store(results).open(), jobs=jobs))
    write_outcome(found, results.parent / f"{results.name}-{trials}")
    return store_bytes(results.parent / f"{results.name}-{trials}")


def test_a_search_gives_the_same_tables_restarted_and_with_more_workers(search: Search, tmp_path: Path) -> None:
    searched(search, 3, tmp_path / "results")
    second = searched(search, 9, tmp_path / "results")
    assert second == searched(search, 9, tmp_path / "others", jobs=2)
    found = read_outcome(tmp_path / "results-9")
    assert found is not None
    assert (found.about["trials"], found.statements.height, found.trials.height) == (9, 3, 11)
    assert found.about["best_distance"] <= found.about["default_distance"]


def kept(search: Search, trials: int, results: Path) -> Path:
    """Search, and keep the outcome where reports look for it."""
    folder = outcome_folder(search.study, Store(results).open())
    write_outcome(outcome(explore(search, trials, Store(results), jobs=1)), folder)
    return folder


def test_the_page_has_every_statement_parameter_and_setting(search: Search, tmp_path: Path) -> None:
    searched(search, 3, tmp_path / "results")
    found = read_outcome(tmp_path / "results-3")
    assert found is not None
    text = unescape(write_search(found, search.study, tmp_path / "page", home="../").read_text(encoding="utf-8"))
    assert all(text.count(part) for part in (found.sentence, "Nothing is negative & all is escaped", "Window", "Rate"))
    assert '"x,y,text\\n0.0,' in text
    written = {path.name for path in (tmp_path / "page").rglob("*.*")}
    assert {"trials.csv", "statements.csv", "parameters.csv", "exclusions.csv", "distance.svg"} <= written


def test_two_statements_exclude_each_other_where_chance_would_hardly_part_any_of_all_pairs() -> None:
    assert least_expected(2) == pytest.approx(-math.log(0.05))
    pairs = math.comb(62, 2)
    assert pairs * math.exp(-least_expected(62)) == pytest.approx(0.05)


def tried(first: int, second: int, neither: int) -> list[Trial]:
    """Return a trial of each of so many settings that meet one of two statements, or none."""
    meets = [(0.0, 1.0)] * first + [(1.0, 0.0)] * second + [(1.0, 1.0)] * neither
    about = Statement("S-1", "claim", "", "")
    return [
        Trial({"rate": f"{place}Mb/s", "window": 10}, [Reading(about, "", "", each) for each in misses])
        for place, misses in enumerate(meets)
    ]


def test_statements_exclude_each_other_from_as_many_settings_on_as_chance_hardly_leaves_without_one() -> None:
    assert exclusions(tried(6, 6, 0)).rows() == [("s1", "s2", 6, 6, 3.0)]  # 6 × 6 ÷ 12 is 3 and more than -ln 0.05
    assert exclusions(tried(6, 6, 1)).is_empty()


def test_a_setting_that_was_tried_twice_counted_twice(search: Search) -> None:
    trials = tried(6, 6, 1)
    exploration = Exploration(search, [*trials, *trials[:6], *trials[:6]], trials[:1])
    found = outcome(exploration)
    assert (found.about["trials"], found.about["settings"], found.exclusions.height) == (25, 13, 0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "about.json").write_text("{", encoding="utf-8"),
        lambda folder: (folder / "trials.csv").write_bytes(b""),
        lambda folder: (folder / "exclusions.csv").unlink(),
    ],
)
def test_a_damaged_outcome_is_reported_with_its_folder(
    search: Search, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    folder = kept(search, 1, tmp_path / "results")
    damage(folder)
    with pytest.raises(StoreError, match=f"{search.study.name}: the outcome of a search is damaged"):
        read_outcome(folder)


def test_the_report_of_a_study_leads_to_its_search(search: Search, tmp_path: Path) -> None:
    results = tmp_path / "results"
    folder = kept(search, 2, results)
    make_runs([load(search.study.folder)], "smoke", jobs=1, output=results)
    page = write_report(evaluate(load(search.study.folder), "smoke", Store(results)), tmp_path / "report")
    assert 'href="search/index.html"' in page.read_text(encoding="utf-8")
    assert (tmp_path / "report" / "search" / "trials.csv").read_bytes() == (folder / "trials.csv").read_bytes()


def test_published_results_have_a_page_of_the_search(search: Search, tmp_path: Path) -> None:
    results = tmp_path / "results"
    kept(search, 2, results)
    study = load(search.study.folder)
    make_runs([study], "smoke", jobs=1, output=results)
    evaluations = {study.name: evaluate(study, "smoke", Store(results))}
    start, _ = write_publication(Register({}, ()), [study], evaluations, "smoke", tmp_path / "docs")
    for page in ("papers/verdicts.md", f"{study.name}.md"):
        assert f"{study.name}-search.md)" in (start.parent / page).read_text(encoding="utf-8")
    text = start.with_name(f"{study.name}-search.md").read_text(encoding="utf-8")
    assert all(text.count(part) for part in ("Nothing is negative & all is escaped", "| Window |", "| Rate |"))
    links = set(re.findall(r"\]\(([^)#]+)\)", text))
    every = f"../../studies/{study.name}/search/trials.csv"
    assert every in links
    for link in links - {every}:
        assert (start.parent / link).is_file(), link
    trials = (start.parent / study.name / "search" / "trials.csv").read_text(encoding="utf-8").splitlines()
    assert trials[0] == "trial,scale,distance,met,rate,window"
    assert [line.split(",")[1] for line in trials[1:]] == ["confirmation"] * 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "Rate"', 'titel = "Rate"', r"parameters\.rate: there is no key 'titel'"),
        (
            'default = "1Mb/s"',
            'default = "3Mb/s"',
            r"parameters\.rate\.default = '3Mb/s': there is no such choice; did you mean '[12]Mb/s'",
        ),
        ("default = 10", "default = 30", r"parameters\.window\.default = 30: it must lie between"),
        (
            'table = "numbers"',
            'table = "number"',
            r"targets\[0\]\.table = 'number': there is no such table below expected/; did you mean 'numbers'",
        ),
        ("factor = 1.25", "factor = 0.8", r"targets\[0\]\.factor = 0\.8: it must be larger than 1"),
        (
            "factor = 1.25",
            'without = ["m"]\nfactor = 1.25',
            r"targets\[0\]\.without = 'm': there is no such coordinate",
        ),
        ("factor = 1.25", "", r"targets\[0\]: give either factor"),
        ('part = "main"', 'part = "man"', r"grids\[0\]\.part = 'man': there is no such part; did you mean 'main'"),
        ("[scales.confirmation]", "[scales.again]", r"grids\[0\]\.scales = 'confirmation': there is no such scale"),
        ("[scales.search]", "groups = 3\n[scales.search]", r"groups = 3: there must be tables below it"),
        ("trials = 12", 'trials = "12"', r"trials = '12': it must be a whole number"),
        ("trials = 12", "trials = 0", r"trials = 0: it must be 1 or more"),
        ("least = 4", 'least = "4"', r"parameters\.window\.least = '4': it must be a number"),
        ("factor = 1.25", "factor = true", r"targets\[0\]\.factor = True: it must be a number"),
        ('part = "main"', "", r"grids\[0\]: part must be given"),
        ('["search", "confirmation"]', '["search"]', r"grids: none has the scale 'confirmation'"),
    ],
)
def test_a_mistake_in_the_file_is_reported_with_its_key(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = small_study(tmp_path / "small-study")
    (folder / "search.toml").write_text(SEARCH_FILE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_search(load(folder))


def test_a_study_without_a_search_is_distinguished_from_those_that_have_one() -> None:
    with pytest.raises(InputError, match=r"'cross-checks' has no search\.toml; those that have one: burst-loss, "):
        choose_searches("cross-checks")


def test_the_searches_of_the_repository_name_what_exists() -> None:
    for search in choose_searches("all"):
        check_space(search, SEARCH)
        assert search.default.keys() == search.parameters.keys()


def test_braces_around_something_else_than_an_axis_are_reported_before_anything_is_run(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small-study")
    (folder / "search.toml").write_text(SEARCH_FILE.replace('"2Mb/s"', '"{rate}Mb/s"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"parameters\.rate\.choices.*must be an axis of the run \('rate'\): "):
        check_space(load_search(load(folder)), SEARCH)


def test_a_value_that_no_scenario_takes_is_reported_before_anything_is_run(tmp_path: Path) -> None:
    folder = small_study(tmp_path / "small-study")
    wrong = SEARCH_FILE.replace('"2Mb/s"', '"2 apples"')
    (folder / "search.toml").write_text(wrong, encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"bottleneck\.rate"):
        check_space(load_search(load(folder)), SEARCH)
