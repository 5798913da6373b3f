"""Reasons why statements do not hold: each failure has a reason with evidence, or states that it has none."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from earlybird.errors import InputError
from earlybird.report.overview import Row, overview
from earlybird.report.site import verdict_table, write_site
from earlybird.store import Store
from earlybird.study.evaluation import Evaluation
from earlybird.study.language.items import Cause, Check, Item, Panel
from earlybird.study.language.loading import load
from earlybird.study.language.register import Entry, Paper, Register
from earlybird.study.statements.checks import verdicts
from earlybird.study.statements.quantities import Measurements
from earlybird.study.statements.reasons import Reason, reasons
from earlybird.study.statements.sensitivity import sensitivities
from study_parts import run, small_study, study

if TYPE_CHECKING:
    from earlybird.study.language.definition import Study

LONG = Check(
    "sack-freezes-for-9-s", "claim", "SACK freezes for 9 s", "range", "frozen_s", at={"transport": "sack"}, least=9.0
)
REGISTER = Register({"T": Paper("A paper", "the paper")}, (Entry("T-1", "An item", "figure", study="toy"),))


def evaluated(*checks: Check, panels: tuple[Panel, ...] = ()) -> Evaluation:
    """Evaluate statements about SACK, which freezes for 8 s, and for 12 s if its timer is restarted."""
    whole = study([Item("T-1", "An item", checks=checks, panels=panels)])
    frozen = ((False, 8.0), (True, 12.0))
    runs = [run(seed, sft + seed / 10, restart=restart) for restart, sft in frozen for seed in (1, 2)]
    measured = Measurements(whole, runs)
    found = [each for item in whole.items for each in verdicts(item, measured)]
    shown = {item.id: sensitivities(item, measured) for item in whole.items}
    return Evaluation(whole, "smoke", Store(Path()), measured, 0, found, shown, reasons(measured, found, shown))


def failing(*shown_by: str) -> Check:
    """Add a reason to the statement that fails, shown by panels and checks of these names."""
    return dataclasses.replace(LONG, because="So.", shown_by=shown_by)


def reason_of(evaluation: Evaluation) -> Reason:
    """Return the reason of the first statement."""
    reason = evaluation.reason(evaluation.verdicts[0])
    assert reason is not None
    return reason


def row_of(evaluation: Evaluation) -> Row:
    """Return the first row of the verdict table."""
    whole: Study = evaluation.study
    return overview(REGISTER, {whole.name: whole}, {whole.name: evaluation})[0]


def why(**vary: tuple[object, ...]) -> tuple[Panel, ...]:
    """Return a panel of the failing statement."""
    return (Panel("why", "Why?", LONG.id, vary),)  # type: ignore[arg-type]


def test_a_panel_states_in_which_settings_the_statement_holds() -> None:
    reason = reason_of(evaluated(failing("why"), panels=why(restart=(True,))))
    assert [each.outcome for each in reason.evidence] == ["holds in 1 of 1 settings: restarted"]
    assert reason.is_shown


def test_a_panel_in_which_nothing_helps_shows_that_nothing_of_it_matters() -> None:
    panels = (Panel("why", "Why?", "sack-freezes-for-99-s", {"restart": (True,)}),)
    longest = Check(
        "sack-freezes-for-99-s",
        "report",
        "SACK freezes for 99 s",
        "range",
        "frozen_s",
        at={"transport": "sack"},
        least=99.0,
    )
    reason = reason_of(evaluated(failing("why"), longest, panels=panels))
    assert reason.evidence[0].outcome == "holds in none of 1 settings"
    assert reason.is_shown


def test_a_panel_that_was_not_run_shows_nothing() -> None:
    evaluation = evaluated(failing("why"), panels=why(buffer=(320,)))
    assert reason_of(evaluation).evidence[0].outcome == "nothing that the paper leaves open was run at this scale"
    assert row_of(evaluation).explained == "explained, but not shown at this scale"


@pytest.mark.parametrize(("least", "outcome", "shown"), [(7.0, "holds: sack", True), (99.0, "does not hold: ", False)])
def test_another_statement_shows_a_reason_only_if_it_holds(least: float, outcome: str, shown: object) -> None:
    other = Check("another", "report", "Another", "range", "frozen_s", at={"transport": "sack"}, least=least)
    reason = reason_of(evaluated(failing("another"), other))
    assert reason.evidence[0].outcome.lower().startswith(outcome)
    assert reason.is_shown is shown


def test_a_failure_without_a_reason_is_called_not_explained() -> None:
    row = row_of(evaluated(LONG))
    assert (row.holds, row.explained) == ("no", "not explained")


def test_what_contradicts_the_paper_explains_nothing() -> None:
    panels = (Panel("why", "Why?", LONG.id, {"restart": (True,)}, against={"restart": (True,)}),)
    evaluation = evaluated(failing("why"), panels=panels)
    assert reason_of(evaluation).evidence[0].outcome == "nothing that the paper leaves open was run at this scale"
    assert row_of(evaluation).explained == "explained, but not shown at this scale"
    assert evaluation.sensitivities["T-1"][0].settings[1].name == "restarted (against the paper)"


@pytest.mark.parametrize(
    ("least", "outcome", "shown"), [(8.0, "in 1 of 1 cells", True), (9.0, "in 0 of 1 cells", False)]
)
def test_a_cause_has_to_show_in_the_cells_that_fail(least: float, outcome: str, shown: object) -> None:
    cause = Cause("frozen_s", {"transport": "sack"}, least=least)
    reason = reason_of(evaluated(dataclasses.replace(failing(), cause=cause)))
    assert reason.evidence[0].outcome == f"{outcome} that fail (8.15 s)"
    assert reason.evidence[0].title == f"frozen time per flow: ≥ {least:.2f} s"
    assert reason.is_shown is shown


def test_what_holds_needs_no_reason() -> None:
    row = row_of(
        evaluated(Check("something", "claim", "Something", "range", "frozen_s", at={"transport": "sack"}, least=0.0))
    )
    assert (row.holds, row.explained, row.reason) == ("yes", "", None)


def test_the_verdict_table_has_the_reason_and_the_link_to_its_evidence() -> None:
    row = row_of(evaluated(failing("why"), panels=why(restart=(True,))))
    cells = verdict_table([row]).row(0, named=True)
    assert (cells["why"], cells["explained"]) == ("So.", "explained")
    assert cells["shown_by"] == "Why? – holds in 1 of 1 settings: restarted"
    assert dict(row.evidence) == {"Why?": "panel-why"}


def test_pages_have_reasons_and_what_is_not_explained(tmp_path: Path) -> None:
    other = Check(
        "sack-freezes-for-10-s",
        "claim",
        "SACK freezes for 10 s",
        "range",
        "frozen_s",
        at={"transport": "sack"},
        least=10.0,
    )
    evaluation = evaluated(failing("why"), other, panels=why(restart=(True,)))
    start, _ = write_site(REGISTER, [evaluation.study], {"toy": evaluation}, "smoke", tmp_path)
    verdicts = start.with_name("verdicts.html")
    for page, path in ((verdicts, "toy/index.html#panel-why"), (tmp_path / "toy" / "index.html", "#panel-why")):
        text = page.read_text(encoding="utf-8")
        assert f'<b>Why:</b> So. <span class="shown"><a href="{path}"' in text
        assert '<span class="why unexplained">Not explained</span>' in text
    assert 'id="panel-why"' in (tmp_path / "toy" / "index.html").read_text(encoding="utf-8")


def with_reason(folder: Path, lines: str) -> Path:
    """Write a small study whose first statement has these lines in addition."""
    made = small_study(folder / "small-study")
    items = made / "items.toml"
    text = items.read_text(encoding="utf-8").replace("least = 0.0\n", f"least = 0.0\n{lines}\n")
    items.write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize("lines", ['because = "So."', 'shown-by = ["as-printed"]'])
def test_a_reason_needs_something_that_shows_it(tmp_path: Path, lines: str) -> None:
    with pytest.raises(
        InputError, match=r"item S-1: checks\.nothing-negative: `because` and `shown-by` or `cause` belong"
    ):
        load(with_reason(tmp_path, lines))


def test_what_shows_a_reason_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"shown-by = 'as-print': there is no such panel or check of the study; did you mean 'as-printed'",
    ):
        load(with_reason(tmp_path, 'because = "So."\nshown-by = ["as-print"]'))
