"""Results as shells show them."""

from __future__ import annotations

from pathlib import Path

import earlybird
from conftest import REPOSITORY, SMALL
from earlybird import SweepResult
from earlybird.compare import compare_media
from earlybird.loading import resolve
from earlybird.run_specs import ScenarioRun
from earlybird.store import Store
from earlybird.sweeps import PlannedRun
from earlybird.text_view import COLUMNS, LINES, fitted


def fits(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= LINES and all(len(line) <= COLUMNS for line in lines)


def test_the_text_of_a_sweep_of_5000_runs_did_not_fit_a_screen() -> None:
    spec, keys = ScenarioRun(resolve(SMALL)), [f"key.with.a.long.name.{number}" for number in range(30)]
    planned = [PlannedRun(spec, seed, {key: ["1s", seed] for key in keys}) for seed in range(1, 5001)]
    new = frozenset(run.key for run in planned[:12])
    text = repr(SweepResult(planned, Store(Path("results")), new, awaited=3))
    assert fits(text)
    assert text.startswith("SweepResult: 5000 runs, 12 made now, 3 of other shards are missing, in results\n")
    assert "… 11 more lines" in text


def test_the_text_of_a_sweep_has_its_grid_and_seeds() -> None:
    spec = ScenarioRun(resolve(SMALL))
    planned = [PlannedRun(spec, seed, {"pairs": pairs}) for pairs in (1, 2) for seed in range(1, 14)]
    lines = repr(SweepResult(planned, Store(Path("results")))).splitlines()
    assert lines[1:3] == ["  pairs  1, 2", "  seed   1, 2, 3, …, 13 (13 values)"]


def test_the_texts_of_results_did_not_fit_a_screen(tmp_path: Path) -> None:
    result = earlybird.run(SMALL)
    clip = REPOSITORY / "media" / "test-clip.mp4"
    comparison = compare_media(clip, transports=["sack"], duration="40s", jobs=1, output=tmp_path)
    assert all(map(fits, map(repr, (result, comparison, comparison.plot()))))
    assert f"drop rate at the bottleneck                           {100 * result.summary['drop_rate']:.2f} %" in repr(
        result
    )


def test_what_does_not_fit_is_cut() -> None:
    assert fitted(["a" * 81, "b" * 80]) == "a" * 79 + "…\n" + "b" * 80
    assert fitted(map(str, range(24))).endswith("22\n23")
    assert fitted(map(str, range(25))).endswith("22\n… 2 more lines")
