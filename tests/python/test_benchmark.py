"""Measurements of the benchmark."""

import dataclasses
import json

import pytest
from typer.testing import CliRunner

from earlybird._core import rate
from earlybird.benchmark import CASES, CROWDS, FULL, SHORT, duration_text, measure_all, number_of_runs, transport_names
from earlybird.cli.application import application
from earlybird.cli.display import show_bench
from earlybird.cli.signals import Terminated
from earlybird.loading import resolve
from earlybird.paths import shipped_file


def test_the_benchmark_leaves_out_transports_that_cannot_carry_a_long_transfer() -> None:
    names = transport_names()
    assert {"sack", "cubic-rack", "bbr-rack", "tfrc"} <= set(names)
    assert not {"udp", "srt", "mtcp", "earlybird-rt"} & set(names)


def test_the_short_benchmark_takes_less_than_a_minute_and_states_it_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.benchmark._ours", lambda *_: {"packets_per_cpu_second": 1e6, "peak_memory_mb": 40.0})
    outcome = CliRunner().invoke(application, ["bench"])
    assert outcome.exit_code == 0, outcome.exception
    assert outcome.stderr.startswith(f"This takes about {duration_text(SHORT)}. With --full everything is measured.")
    assert duration_text(SHORT).endswith(" s")
    assert int(duration_text(SHORT).removesuffix(" s")) < 60
    assert duration_text(FULL).endswith(" min")
    assert number_of_runs(SHORT) < 10 < number_of_runs(FULL)


def test_every_flow_of_a_crowd_has_the_same_share_of_the_bottleneck() -> None:
    for crowd in CROWDS:
        settings = [(key, value) for key, _, value in (setting.partition("=") for setting in crowd.settings)]
        scenario = resolve(shipped_file("scenarios", CASES[0].scenario), settings).to_dict()
        assert scenario["flows"][0]["count"] == crowd.flows
        bottleneck = scenario["network"]["dumbbell"]["bottleneck"]
        assert rate(bottleneck["rate"]) / crowd.flows == pytest.approx(25e6 / 56, rel=1e-6)
        assert bottleneck["queue"]["packets"] / crowd.flows == pytest.approx(160 / 56, abs=1 / crowd.flows)


def test_memory_per_flow_is_what_more_flows_take_beyond_the_fewest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    peaks = iter([40.0] * 4 + [*(40.0 + crowd.flows / 100 for crowd in CROWDS)])
    monkeypatch.setattr(
        "earlybird.benchmark._ours", lambda *_: {"packets_per_cpu_second": 2e6, "peak_memory_mb": next(peaks)}
    )
    plan = dataclasses.replace(SHORT, transports=("sack", "bbr-rack"), crowds=CROWDS)
    show_bench(list(measure_all(plan)))
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["10", "2.00", "million", "40", "MB", "–"] in lines
    assert ["10,000", "2.00", "million", "140", "MB", "10.0", "kB"] in lines


@pytest.mark.parametrize(("asked_to_end", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
@pytest.mark.parametrize("runs", [1, 2, 3, 4])
def test_a_benchmark_ended_early_printed_nothing_of_what_it_had_measured(
    monkeypatch: pytest.MonkeyPatch, asked_to_end: type[KeyboardInterrupt], code: int, runs: int
) -> None:
    left = iter(range(runs))

    def measured(*_: object) -> dict[str, float]:
        if next(left, None) is None:
            raise asked_to_end
        return {"packets_per_cpu_second": 1e6, "peak_memory_mb": 40.0}

    monkeypatch.setattr("earlybird.benchmark._ours", measured)
    outcome = CliRunner().invoke(application, ["bench", "--json"])
    assert outcome.exit_code == code
    assert "interrupted" in outcome.stderr
    rows = json.loads(outcome.stdout)
    assert [row.get("case") or row.get("transport") for row in rows] == [
        *["long-flows-56", "dumbbell", "sack", "cubic-rack"][:runs]
    ]


def test_a_benchmark_ended_before_its_baseline_sets_nothing_beside_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("earlybird.benchmark._ours", lambda *_: {"packets_per_cpu_second": 1e6, "peak_memory_mb": 40.0})
    rows = list(measure_all(dataclasses.replace(SHORT, transports=("bbr-rack",))))
    assert rows[-1] == {"transport": "bbr-rack", "bottleneck_packets_per_cpu_second": 1e6, "relative_to_sack": None}
    show_bench(rows)
    assert capsys.readouterr().out.splitlines()[-1].split() == ["bbr-rack", "1.00", "million", "–"]
