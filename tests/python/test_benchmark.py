"""What the benchmark measures."""

import pytest
from typer.testing import CliRunner

from earlybird.benchmark import FULL, SHORT, duration_text, number_of_runs, transport_names
from earlybird.cli.application import application


def test_the_benchmark_leaves_out_transports_that_cannot_carry_a_long_transfer() -> None:
    names = transport_names()
    assert {"sack", "cubic-rack", "bbr-rack", "tfrc"} <= set(names)
    assert not {"udp", "srt", "mtcp", "earlybird-rt"} & set(names)


def test_the_short_benchmark_takes_less_than_a_minute_and_says_so_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.benchmark._ours", lambda *_: {"packets_per_cpu_second": 1e6, "peak_memory_mb": 40.0})
    outcome = CliRunner().invoke(application, ["bench"])
    assert outcome.exit_code == 0, outcome.exception
    assert outcome.stderr.startswith(f"This takes about {duration_text(SHORT)}. With --full everything is measured.")
    assert duration_text(SHORT).endswith(" s")
    assert int(duration_text(SHORT).removesuffix(" s")) < 60
    assert duration_text(FULL).endswith(" min")
    assert number_of_runs(SHORT) < 10 < number_of_runs(FULL)
