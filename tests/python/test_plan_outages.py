"""Outages, policers and retransmission by the link in plans, with the words of `earlybird emulate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from typer.testing import CliRunner

import earlybird
from earlybird import PlanRequest
from earlybird.cli.application import application
from earlybird.emulation import link
from earlybird.planning.beside import UPLOAD
from earlybird.planning.candidates import candidate
from earlybird.planning.session import SessionRunner, scenario
from earlybird.planning.stream import StreamSpec, synthetic_clip
from earlybird.planning.view import description

if TYPE_CHECKING:
    from pathlib import Path

LINE: Final[dict[str, Any]] = {"bitrate": "1Mb/s", "rate": "20Mb/s", "rtt": "60ms"}
STREAM = StreamSpec.of(synthetic_clip(1e6, "live"), "live", 30.0, 6.0)
IMPAIRED: Final[dict[str, Any]] = {"outages": ("2s@10s/60s",), "policer": "10Mb/s,125kB", "arq": "10%,8ms,4"}


def needed(outages: tuple[str, ...] = (), policer: str | None = None, arq: str | None = None) -> float:
    path = PlanRequest(**LINE, outages=outages, policer=policer, arq=arq).path
    return SessionRunner(path, STREAM, candidate("cubic")).session(1).delay_needed


def test_outages_policers_and_retransmission_changed_no_delay() -> None:
    without = needed()
    assert needed(outages=("2s@10s",)) > 2.0 > 10 * without
    assert needed(policer="1.1Mb/s,3000B") > 2 * without
    assert needed(arq="30%,20ms,8") >= without + 0.02


def test_every_session_has_the_outage_at_the_same_time_of_the_film() -> None:
    path = PlanRequest(**LINE, outages=("2s@10s",), beside=UPLOAD).path
    outages = scenario(path, STREAM, candidate("cubic"))["network"]["links"][0]["outages"]
    assert outages == [{"start": "20000000us", "duration": "2s"}]  # the other traffic begins 10 s before the film


def test_what_is_assumed_stands_in_the_answer_and_in_the_scenario(tmp_path: Path) -> None:
    options = ["--bitrate", "300k", "--rate", "20M", "--rtt", "60ms", "--seeds", "2", "--duration", "20s"]
    options += ["--outage", "2s@10s/60s", "--policer", "10Mb/s,125kB", "--arq", "10%,8ms,4", "--transport", "cubic"]
    file = tmp_path / "line.toml"
    done = CliRunner().invoke(application, ["plan", *options, "--json", "--write-scenario", str(file)])
    assert done.exit_code == 0, done.output
    path = json.loads(done.stdout)["path"]
    assert path["outages"] == ["2s@10s/60s"]
    assert (path["policer"], path["arq"]) == ("10Mb/s,125kB", "10%,8ms,4")
    result = earlybird.run(file, seed=1)
    assert result.flows["units_delivered"].sum() > 0
    plan = earlybird.plan(PlanRequest(**LINE, **IMPAIRED, transports=("cubic",), seeds=(1,), duration="20s"))
    stated = "retransmission by the link (10%,8ms,4), a policer (10Mb/s,125kB), outages (2s@10s/60s)"
    assert stated in description(plan)


def test_plan_and_emulate_read_the_same_words() -> None:
    forward = PlanRequest(**LINE, **IMPAIRED).path.network()["links"][0]
    there = link(rate="20Mb/s", **IMPAIRED)
    assert {key: forward[key] for key in ("loss", "arq", "outages")} == {
        key: there[key] for key in ("loss", "arq", "outages")
    }


def test_cake_takes_the_place_of_a_policer_that_is_slower_than_the_line() -> None:
    shaped = PlanRequest(**LINE, policer="10Mb/s,125kB").path.with_cake()
    assert shaped.rate == pytest.approx(9.5e6)
    assert "loss" not in shaped.network()["links"][0]


BAD = [
    (["--outage", "2s"], "outage = 2s: a length and a start"),
    (["--outage", "2@30s"], "did you mean `2s`?"),
    (["--outage", "2s@x"], "`x` is not a duration"),
    (["--policer", "10Mb/s"], "policer = 10Mb/s: a rate and the size of the bucket"),
    (["--policer", "10Mb/s,100B"], "from 1500 bytes"),
    (["--policer", "x,15kB"], "`x` is not a rate"),
    (["--arq", "10%"], "arq = 10%: the share of transmissions that fail"),
    (["--arq", "10%,8"], "did you mean `8ms`?"),
    (["--arq", "110%,8ms"], "`110%` is not a share"),
    (["--arq", "10%,8ms,101"], "a whole number from 0 to 100"),
    (["--arq", "10%,8ms,x"], "arq = 10%,8ms,x"),
]


@pytest.mark.parametrize(("given", "word"), BAD)
@pytest.mark.parametrize(
    "command", [["plan", "--bitrate", "1M", "--rate", "20M", "--rtt", "60ms"], ["emulate", "--rate", "20M"]]
)
def test_impairments_that_make_no_sense_are_one_line(command: list[str], given: list[str], word: str) -> None:
    done = CliRunner().invoke(application, [*command, *given, *(["--", "true"] if command[0] == "emulate" else [])])
    assert done.exit_code == 2
    assert word in done.output
    assert given[0].strip("-") in done.output
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"outages": ("2s@400s",)}, r"outage = 2s@400s: it begins when sessions of \d+ s have ended"),
        ({"policer": "500kb/s,125kB"}, "policer = 500 kb/s: the film has 1.00 Mb/s"),
    ],
)
def test_impairments_that_no_session_meets_or_survives_are_refused(given: dict[str, Any], word: str) -> None:
    with pytest.raises(earlybird.InputError, match=word):
        earlybird.plan(PlanRequest(**LINE, **given))
