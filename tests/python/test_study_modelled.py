"""Models among the runs of a study: from a part of study.toml to a result in a store and what is observed of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from earlybird import InputError
from earlybird.store import Store
from earlybird.study.language.loading import load
from earlybird.study.reductions.modelled import rare_delay
from earlybird.study.reductions.reading import observations
from earlybird.study.runs.execution import resolved
from earlybird.study.runs.plan import plan
from earlybird.study.statements.quantities import Measurements, Quantity
from study_parts import small_study

if TYPE_CHECKING:
    from pathlib import Path

PART = """
[parts.chain]
model = "streaming-chain"
settings = { loss = 0.02, round-trip = 0.1, timeout = 4, per-ack = 2, start-up-delays = [1, 2], steps = 1 }

[parts.renamed]
scenario = "small.toml"
flows = "video"
written = { n = { "1" = 3 } }

[axes.load]
key = "load"

[[grids]]
part = "chain"
scales = ["smoke"]
load = [1.2, 2.0]

[[grids]]
part = "renamed"
scales = ["smoke"]
n = [1, 2]
transport = ["sack"]
"""


def write(folder: Path, part: str = PART) -> Path:
    small_study(folder)
    file = folder / "study.toml"
    file.write_text(file.read_text(encoding="utf-8") + part, encoding="utf-8")
    return folder


def test_a_model_is_computed_kept_and_observed_like_a_simulation(tmp_path: Path) -> None:
    study, store = load(write(tmp_path / "study")), Store(tmp_path / "results").open()
    planned = [resolved(run) for run in plan(study, "smoke") if run.part.model]
    for run in planned:
        store.save(run.spec.make(run.seed))
    assert all(store.has(run.key) for run in planned)
    measured = Measurements(study, observations(study, "smoke", store)[0])
    quantity = Quantity("late_share", {"part": "chain", "load": 1.2, "delay": 1})
    late = measured.by_seed(quantity)
    assert sorted(late) == [1, 2]
    assert all(0.3 < share < 0.6 for share in late.values()), "about 0.45"
    assert late[1] != late[2]
    assert measured.by_seed(Quantity("pftk_ratio", {"part": "chain", "load": 2.0})) == {
        1: pytest.approx(0.831, abs=1e-3),
        2: pytest.approx(0.831, abs=1e-3),
    }


def test_values_of_an_axis_may_be_written_differently_in_a_part(tmp_path: Path) -> None:
    runs = [run for run in plan(load(write(tmp_path / "study")), "smoke") if run.part.name == "renamed"]
    assert [(run.axes["n"], run.settings["pairs"]) for run in runs if run.seed == 1] == [(1, 3), (2, 2)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"streaming-chain"', '"streaming-chan"', "there is no model 'streaming-chan'; there is streaming-chain"),
        ("steps = 1", "step = 1", "parts.chain: there is no key 'step' here; is it steps"),
        ("timeout = 4, ", "", "parts.chain: timeout must be given"),
        (
            'model = "',
            'scenario = "small.toml"\nmodel = "',
            "each part needs a scenario, or a model, a test bed or a program in its place",
        ),
    ],
)
def test_mistakes_about_models_are_errors(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = write(tmp_path / "study", PART.replace(old, new))
    with pytest.raises(InputError, match=message):
        [resolved(run) for run in plan(load(folder), "smoke")]


def test_the_delay_at_which_one_in_ten_thousand_is_late() -> None:
    delays = np.array([1.0, 2.0, 3.0, 4.0])
    assert rare_delay(delays, np.array([0.1, 0.001, 0.00001, 0.0])) == pytest.approx(2.5)
    assert math.isnan(rare_delay(delays, np.array([0.1, 0.01, 0.001, 0.0002])))
    assert math.isnan(rare_delay(delays, np.array([0.1, 0.01, 0.001, 0.0]))), "how fast it falls is not known"
