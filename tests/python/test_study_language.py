"""The language of studies: its short forms, what items say once, and what is looked up when a study is loaded."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Final

import pytest

from conftest import REPOSITORY
from earlybird import InputError
from earlybird.metrics import studies
from earlybird.store import Store
from earlybird.study.language.definition import Part
from earlybird.study.language.loading import load
from earlybird.study.language.observed import observed
from earlybird.study.reductions.reading import observations
from earlybird.study.runs.execution import make_runs
from earlybird.study.runs.plan import count, plan, seeds_text
from study_parts import ITEMS, NUMBERS, STUDY, small_study

if TYPE_CHECKING:
    from pathlib import Path

    from earlybird.study.language.definition import Study
    from earlybird.study.language.items import Check

PAGE: Final = (REPOSITORY / "docs" / "study-language.md").read_text(encoding="utf-8")
HEAD: Final = '[[items]]\nid = "S-1"\ntitle = "Frozen time"\n'
CHECK: Final = "\n[items.checks.one]\nmust = 'So'\n"


def example(folder: Path) -> Study:
    """Load the study of the page."""
    items, study = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[:2]
    return load(written(folder, items, study))


def written(folder: Path, items: str, study: str = STUDY) -> Path:
    """Write a small study with other items."""
    made = small_study(folder / "small-study")
    (made / "items.toml").write_text(items, encoding="utf-8")
    (made / "study.toml").write_text(study, encoding="utf-8")
    return made


WHY = "least = 1\nmetric = 'frozen_s'\nbecause = 'So'\n"


def check_of(folder: Path, lines: str) -> Check:
    """Load a study whose only check has these lines, and its metric from the item if they have none."""
    item = "" if "metric" in lines else 'metric = "frozen_s"\n'
    return load(written(folder, HEAD + item + CHECK + lines)).items[0].checks[0]


def test_the_statement_in_ten_lines_is_one(tmp_path: Path) -> None:
    (check,) = example(tmp_path).items[0].checks
    assert (check.id, check.level, check.kind, check.metric) == ("er-halves-frozen", "claim", "order", "frozen_s")
    assert (check.points, check.factor) == (({"transport": "sack-er"}, {"transport": "sack"}), 0.5)
    assert check.cells == {"n": (1, 2)}


def test_the_message_on_the_page_is_the_programs(tmp_path: Path) -> None:
    items, study = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)[:2]
    (message,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    with pytest.raises(InputError) as error:
        load(written(tmp_path, items.replace("transport =", "trasnport ="), study))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        ("rises = { n = [1, 2] }", ({"n": 1}, {"n": 2})),
        ("falls = { n = [1, 2] }", ({"n": 2}, {"n": 1})),
        ("rises = [{ n = 2 }, { n = 1, restart = false }]", ({"n": 2}, {"n": 1, "restart": False})),
        ("falls = [{ n = 2 }, { n = 1, restart = false }]", ({"n": 1, "restart": False}, {"n": 2})),
    ],
)
def test_orders_rise_or_fall(tmp_path: Path, lines: str, points: object) -> None:
    check = check_of(tmp_path, lines)
    assert (check.kind, check.points, check.factor, check.margin) == ("order", points, 1.0, 0.0)


@pytest.mark.parametrize(
    ("lines", "bounds"),
    [
        ("least = 0.2", (0.2, None)),
        ("most = 3", (None, 3)),
        ("between = [0.2, 3]", (0.2, 3)),
        ("equals = 0", (0, 0)),
    ],
)
def test_quantities_have_bounds(tmp_path: Path, lines: str, bounds: object) -> None:
    check = check_of(tmp_path, lines)
    assert (check.kind, (check.least, check.most)) == ("range", bounds)


def test_a_check_has_what_its_item_states_and_its_own_before_that(tmp_path: Path) -> None:
    item = 'metric = "frozen_s"\nat = { transport = "sack", n = 1 }\nfalls = { restart = [false, false] }\n'
    items = (
        HEAD
        + item
        + CHECK
        + "at = { n = 2 }\n[items.checks.two]\nmust = 'So'\nmetric = 'rto_count'\nleast = 1\n"
        + "[items.checks.three]\nreport = 'So'\ntable = 'numbers'\n"
        + "[items.plots]\nfrozen = { title = 'Frozen', x = { n = [1, 2] }, lines = { transport = ['sack'] } }\n"
    )
    (whole,) = load(written(tmp_path, items)).items
    one, two, three = whole.checks
    assert (one.kind, one.metric, one.at) == ("order", "frozen_s", {"transport": "sack", "n": 2})
    assert (two.kind, two.metric, two.at, two.points) == ("range", "rto_count", {"transport": "sack", "n": 1}, ())
    assert (three.kind, three.metric, three.at) == ("numbers", "", {}), "a table has its own metrics and coordinates"
    assert (whole.plots[0].kind, whole.plots[0].metric, whole.plots[0].at) == ("lines", "frozen_s", {**one.at, "n": 1})


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("least = 1\nat = { trasnport = 'sack' }", r"\.at\.trasnport = 'sack': .*such coordinate.*'transport'\?"),
        (
            "least = 1\nat = { transport = 'sak' }",
            r"at\.transport = 'sak': .*value of 'transport'.*'sack'\? There are: ",
        ),
        ("least = 1\nat = { n = '2' }", r"at\.n = '2': there is no such value of 'n'; did you mean 2\?"),
        ("least = 1\nat = { n = 3 }", r"at\.n = 3: there is no such value of 'n'; there are: 1, 2\."),
        ("least = 1\nat = { group = 'lo' }", r"at\.group = 'lo': there is no such value of 'group'; there are: none"),
        ("least = 1\nat = { part = 'mian' }", r"at\.part = 'mian': .*; did you mean 'main'\?"),
        ("least = 1\nat = { delay = 'half' }", r"at\.delay = 'half': there is no such value of 'delay'"),
        ("least = 1\nat = { over = { transprt = 'sack' } }", r"at\.over\.transprt = 'sack': .*'transport'\?"),
        ("least = 1\ncells = { transprt = ['sack'] }", r"cells\.transprt = 'sack': .*'transport'\?"),
        ("least = 1\ncells = { transport = 'sack' }", r"cells = .*: it must be a table with a list"),
        ("least = 1\nat = 3", r"at = 3: it must be a table"),
        ("least = 1\neach = { restart = [true] }", r"each\.restart = True: there is no such value of 'restart'"),
        ("falls = { transport = ['sack', 'sack-err'] }", r"falls\.transport = 'sack-err': .*'sack-er'\?"),
        ("falls = { transport = ['sack'] }", r"falls = .*: it must be \{ AXIS = \[two values or more\] \}"),
        ("least = 1\nmost = 2", r"it has least and most of rises, falls, .*; give one of them"),
        ("least = 1\nclaim = 'So'", r"it has must and claim of must, claim, report; give one of them"),
        ("least = 1\nratio-at-most = 0.5", r"ratio-at-most = 0\.5: it belongs to `rises` or `falls`, not to `least`"),
        ("table = 'numbers'\ncells = { n = [1] }", r"cells = .*: the table has it"),
        ("table = 'numers'", r"table = 'numers': there is no such table below expected/; did you mean 'numbers'\?"),
        (
            "least = 1\nmetric = 'frozen_m'",
            r"metric = 'frozen_m': there is no such quantity; did you mean 'frozen_s'\?",
        ),
        (
            "least = 1\nmetric = 'audio_gaps'",
            r"metric = 'audio_gaps': there is no such quantity in runs of the part 'main'",
        ),
        ("least = 1\nlesat = 2", r"there is no key 'lesat' here; is it least"),
        ("between = [1]", r"between = \(1,\): it must be a list of 2, each a number"),
        ("least = 1\nbecause = 'So'\nshown-by = ['wy']", r"shown-by = 'wy': there is no such panel or check"),
        (
            "least = 1\nmetric = 'frozen_s'\nbecause = 'So'\ncause = { metric = 'rto_count' }",
            r"cause: it needs a bound, `least` or `most`",
        ),
        (
            "least = 1\nmetric = 'frozen_s'\nbecause = 'So'\ncause = { metric = 'rto_coun', least = 1 }",
            r"cause\.metric = 'rto_coun': .*'rto_count'\?",
        ),
        ("within = { least = 1, share = 0.1 }", r"within = .*: it is for a difference; `at` has no `minus`"),
        ("values = true", r"values = True: it must be true, and is for a report alone"),
    ],
)
def test_what_a_statement_gets_wrong_is_reported_with_its_key_and_what_is_near(
    tmp_path: Path, lines: str, message: str
) -> None:
    with pytest.raises(InputError, match=rf"^small-study/items\.toml: item S-1: checks\.one.*{message}"):
        check_of(tmp_path, lines)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("x = { n = [1, 2] }", "x = { m = [1, 2] }", r"plots\.frozen\.x\.m = .*: there is no such coordinate"),
        ("x = { n = [1, 2] }", "x = {}", r"plots\.frozen\.x = \{\}: it must be one coordinate with its values"),
        ('["sack", "sack-er"]', '["sack", "er"]', r"plots\.frozen\.lines\.transport = 'er': there is no such value"),
        (
            'metric = "frozen_s"',
            'metric = "frozen_s"\nvary = { n = [1] }',
            r"vary = \{'n': \[1\]\}: nothing in the item has it",
        ),
        ('metric = "frozen_s"', 'metirc = "frozen_s"', r"item S-1: metirc = 'frozen_s': .*; did you mean 'metric'\?"),
        ('title = "Frozen time", x', 'titel = "", x', r"plots\.frozen: there is no key 'titel' here; is it title"),
    ],
)
def test_what_a_plot_gets_wrong_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(written(tmp_path, ITEMS.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('part = "main"', 'part = "man"', r"study\.toml: grids\[0\]\.part = 'man': .*'main'\?"),
        ('scales = ["smoke"]', 'scales = ["smok"]', r"study\.toml: grids\[0\]\.scales = 'smok': .*'smoke'\?"),
        ("n = [1, 2]", "m = [1, 2]", r"study\.toml: grids\[0\]\.m = \(1, 2\): there is no such axis"),
        ('table = "numbers"', 'table = "number"', r"study\.toml: main\.table = 'number': .*'numbers'\?"),
        ('item = "S-1"', 'item = "S-2"', r"study\.toml: main\.item = 'S-2': .*'S-1'\?"),
        ("[[grids]]", "[grids]", r"small-study/study\.toml: grids = .*: there must be tables, \[\[grids\]\]"),
        (
            "[scales.smoke]",
            '[axes.over]\nkey = "n"\n[scales.smoke]',
            r"study\.toml: axes\.over: the name is that of another",
        ),
        ('rows = "n"', 'rows = "m"', r"study\.toml: main\.rows = 'm': there is no such coordinate"),
        (
            'metric = "frozen_s", tr',
            'metric = "frozen", tr',
            r"study\.toml: headline\.values\.sack\.metric = 'frozen': .*'frozen_s'",
        ),
        ("[scales.smoke]", "[delays.half]\nsuccess = 0.5\nat = { m = 1 }\n[scales.smoke]", r"delays\.half\.at\.m = 1"),
    ],
)
def test_what_the_runs_get_wrong_is_reported(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(written(tmp_path, ITEMS, STUDY.replace(old, new, 1)))


def test_a_grid_varies_axes_and_parts_one_at_a_time(tmp_path: Path) -> None:
    more = '[parts.other]\nscenario = "small.toml"\nflows = "video"\n'
    vary = 'transport = ["sack"]\nvary = { restart = [true, false], part = ["other"] }\n'
    study = STUDY.replace("[scales.smoke]", more + "[scales.smoke]").replace(
        'transport = ["sack", "sack-er"]\n', vary, 1
    )
    items = ITEMS.replace("sack-er", "sack")
    made = written(tmp_path, items, study)
    (made / "expected" / "numbers.csv").write_text(NUMBERS.replace("sack-er", "sack"), encoding="utf-8")
    own, other = load(made).grids
    assert (own.part, own.axes) == ("main", {"n": (1, 2), "transport": ("sack",), "restart": (True, False)})
    assert (other.part, other.axes) == ("other", {"n": (1, 2), "transport": ("sack",)})


def test_a_grid_may_have_fewer_seeds_than_its_scale(tmp_path: Path) -> None:
    fewer = '[[grids]]\npart = "main"\nscales = ["smoke"]\nseeds = 1\nn = [2]\ntransport = ["sack"]\nrestart = [true]\n'
    study = load(written(tmp_path, ITEMS, STUDY + "\n" + fewer))
    seeds = [(run.axes["restart"], run.seed) for run in plan(study, "smoke")]
    assert len(seeds) == 9
    assert seeds[-1] == (True, 1)
    assert (count(study, "smoke"), seeds_text(study, "smoke")) == (9, "1 to 2 seeds")


def test_a_figure_with_all_seeds_reported_that_it_had_fewer_where_others_do(tmp_path: Path) -> None:
    fewer = '[[grids]]\npart = "main"\nscales = ["smoke"]\nseeds = 1\nn = [2]\ntransport = ["sack"]\n'
    study = load(written(tmp_path, ITEMS, STUDY + "\n" + fewer + "restart = [true]\n\n" + fewer))
    assert seeds_text(study, "smoke", "main") == "1 to 2 seeds"
    assert seeds_text(study, "smoke", "main", {"transport": ("sack",)}) == "2 seeds"
    assert seeds_text(study, "smoke", "main", {"transport": ("sack",), "restart": (True,)}) == "1 seed"
    assert count(study, "smoke") == len({(*sorted(run.axes.items()), run.seed) for run in plan(study, "smoke")})


def test_a_grid_needs_a_seed(tmp_path: Path) -> None:
    study = STUDY.replace('scales = ["smoke"]', 'scales = ["smoke"]\nseeds = 0')
    with pytest.raises(InputError, match=r"study.toml: grids\[0\].seeds = 0: it must be at least 1"):
        load(written(tmp_path, ITEMS, study))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("frozen_s,2,sack,", "frozen_s,7,sack,", r"line 2\.n = 7: there is no such value of 'n'"),
        ("frozen_s,2,sack,", "frozen_m,2,sack,", r"line 2\.metric = 'frozen_m': .*; did you mean 'frozen_s'\?"),
        (",1.5,", ",1;5,", r"line 2\.value = '1;5': it must be a number"),
        ("over.transport", "over.trasnport", r"line 3\.over\.trasnport = 'sack': .*'transport'\?"),
    ],
)
def test_the_papers_numbers_are_of_what_is_run(tmp_path: Path, old: str, new: str, message: str) -> None:
    made = small_study(tmp_path / "small-study")
    (made / "expected" / "numbers.csv").write_text(NUMBERS.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError, match=rf"small-study/expected/numbers\.csv: {message}"):
        load(made)


def test_a_number_in_a_table_was_not_the_text_of_its_axis(tmp_path: Path) -> None:
    study = STUDY.replace("n = [1, 2]", 'n = ["1", "2"]').replace('key = "pairs"', 'key = "pairs"')
    made = written(tmp_path, ITEMS.replace("[1, 2]", '["1", "2"]'), study)
    assert load(made).numbers["numbers"][0].point["n"] == "2"


def test_two_checks_of_a_study_have_different_names(tmp_path: Path) -> None:
    items = ITEMS + ITEMS.replace("S-1", "S-2").replace("frozen =", "again =")
    with pytest.raises(
        InputError, match=r"two checks or panels of the study are called '(nothing-negative|as-printed)'"
    ):
        load(written(tmp_path, items))


def test_conditions_of_metrics_name_what_there_is() -> None:
    conditions = {when for entry in studies().values() for when in entry.when}
    parts = {f"part.{field.name.replace('_', '-')}" for field in fields(Part)}
    measured = {
        f"measure.{key}" for key in ("bursts", "deliveries", "duplicates", "percentiles", "queue-positions", "series")
    }
    models = {"model.streaming-chain", "model.session"}
    others = {"flows", "testbed", "real-time", "program", "measure.transmissions", *models}
    assert conditions <= parts | measured | others


def test_runs_have_no_quantity_that_is_not_known_of_their_part(tmp_path: Path) -> None:
    study = load(small_study(tmp_path / "small-study"))
    make_runs([study], "smoke", jobs=1, output=tmp_path / "results")
    made, missing = observations(study, "smoke", Store(tmp_path / "results"))
    assert (len(made), missing) == (8, 0)
    for run in made:
        assert set(run.values) <= set(observed(study, study.parts[run.part]))
