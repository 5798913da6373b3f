"""Losses as a sample: what a measurement leaves open, and whether the answer depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scipy import stats

import earlybird
from earlybird import InputError
from earlybird.emulation import link
from earlybird.planning.answer import unseen
from earlybird.planning.measured import iperf3, ping
from earlybird.planning.samples import LossSample, exact_interval
from earlybird.planning.view import description, instructions

if TYPE_CHECKING:
    from earlybird.planning import Plan

FIELD = Path(__file__).parent / "field"


@pytest.mark.parametrize(("lost", "sent"), [(0, 100), (1, 100), (7, 2000), (300, 1000), (5, 5)])
def test_an_interval_is_the_exact_one(lost: int, sent: int) -> None:
    expected = stats.binomtest(lost, sent).proportion_ci(0.9, method="exact")
    assert exact_interval(lost, sent) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_no_loss_of_a_hundred_means_up_to_three_per_cent() -> None:
    low, high = LossSample(0, 100).interval
    assert (low, round(high, 3)) == (0.0, 0.03)


def test_losses_in_bursts_have_a_wider_interval() -> None:
    single, bursts = LossSample(20, 1000), LossSample(20, 1000, mean_burst=4.0)
    assert bursts.interval[0] < single.interval[0] < 0.02 < single.interval[1] < bursts.interval[1]


def pings(folder: Path, sent: int) -> Path:
    lines = [f"64 bytes from 192.0.2.7: icmp_seq={number} ttl=57 time=60.0 ms" for number in range(1, sent + 1)]
    path = folder / "ping.txt"
    path.write_text("\n".join([*lines, f"{sent} packets transmitted, {sent} received, 0% packet loss"]))
    return path


def test_a_hundred_pings_without_a_loss_were_taken_for_a_line_without_losses(tmp_path: Path) -> None:
    measured = [ping.read(pings(tmp_path, 100))]
    request = earlybird.PlanRequest(
        bitrate="4Mb/s", rate="20Mb/s", measured=measured, duration="20s", seeds=range(1, 5), transports=["bbr"]
    )
    found = earlybird.plan(request)
    assert not found.is_settled
    assert found.answer.startswith("0 of 100 lost means up to 3 % of the packets, and that decides: with nothing lost ")
    assert "with 3 % lost use bbr" in found.answer
    assert "Ping 2000 times, or capture a transfer" in found.answer
    assert found.to_dict()["clear"] is False


def test_what_is_stated_on_the_command_line_is_no_sample(tmp_path: Path) -> None:
    measured = [ping.read(pings(tmp_path, 100))]
    path = earlybird.PlanRequest(rate="20Mb/s", loss="1%", measured=measured).path
    assert path.loss_ends == ()


def test_odds_are_not_below_those_of_the_seeds() -> None:
    assert unseen(40) == pytest.approx(0.072, abs=1e-3)
    request = earlybird.PlanRequest(bitrate="1Mb/s", rate="20Mb/s", rtt="20ms", duration="10s", seeds=[1])
    found = earlybird.plan(request)
    assert not found.is_clear
    assert "the choice of 1 session of 10 s, too few" in found.answer


def test_round_trips_of_half_a_second_were_not_in_the_answer(tmp_path: Path) -> None:
    lines = [
        f"64 bytes from 192.0.2.7: icmp_seq={number} ttl=57 time={500 if number % 8 == 0 else 25} ms"
        for number in range(1, 401)
    ]
    (tmp_path / "ping.txt").write_text("\n".join(lines))
    request = earlybird.PlanRequest(
        bitrate="1Mb/s", rate="20Mb/s", measured=[ping.read(tmp_path / "ping.txt")], loss=0, duration="10s", seeds=[1]
    )
    found = earlybird.plan(request)
    assert found.longest_delay == found.delay
    assert 0.475 < found.delay < 0.7
    assert "round trips of up to 0.50 s, as measured" in found.answer


# Other traffic, and queues in time


def short_plan(**given: object) -> Plan:
    common = {"bitrate": "1Mb/s", "rate": "10Mb/s", "rtt": "20ms", "duration": "10s", "seeds": [1, 2]}
    return earlybird.plan(earlybird.PlanRequest(**{**common, "transports": ["bbr"], **given}))  # type: ignore[arg-type]


def test_a_queue_is_stated_in_time() -> None:
    assert earlybird.PlanRequest(rate="10Mb/s", rtt="20ms", queue="400ms").path.queue == "500000B"
    assert link(rate="10M", queue="400ms")["queue"] == {"bytes": 500_000}
    with pytest.raises(InputError, match="needs the rate of the link"):
        link(queue="400ms")


def test_a_large_queue_without_an_upload_was_the_whole_answer() -> None:
    found = short_plan(queue="400ms")
    assert found.other is not None
    assert found.other.path.beside == "upload"
    assert found.other.delay > found.delay + 0.1
    assert " With an upload on the line " in found.answer
    assert short_plan(queue="30ms").other is None
    assert short_plan(queue="400ms", beside="none").other is None


def test_a_queue_that_other_traffic_fills_was_not_called_the_cause() -> None:
    found = short_plan(queue="400ms")
    assert found.other is not None
    assert found.cake is not None
    assert found.cake.path.network()["links"][0]["queue"] == {"cake": {}}
    assert found.cake.path.rate == 9.5e6
    assert found.cake.delay < min(found.other.delay - 0.1, found.delay + 0.1)
    sentence = "The queue is the cause: with CAKE at 9.50 Mb/s on the router that sends into the line, and an upload"
    assert sentence in found.answer
    assert found.router_instructions[1].startswith("tc qdisc replace dev IFACE root cake bandwidth 9500kbit")
    assert [line.strip() for line in instructions(found)][-4:] == found.router_instructions
    document = found.to_dict()
    assert document["router_instructions"] == found.router_instructions


def test_a_measured_queue_of_800_ms_has_a_remedy() -> None:
    """danopstech/starlink#3: a transfer finds round trips of 41 to 842 ms."""
    measured = [iperf3.read(FIELD / "bufferbloat.json")]
    found = short_plan(rate=None, rtt=None, bitrate="8Mb/s", measured=measured)
    assert found.other is not None
    assert found.other.delay > 1.0
    assert found.cake is not None
    assert found.cake.delay < found.other.delay / 4
    assert "The queue is the cause" in found.answer


@pytest.mark.parametrize(
    "line", [{"queue": "20ms", "beside": "none"}, {"queue": "codel", "beside": "upload"}], ids=["small queue", "AQM"]
)
def test_cake_is_not_advised_where_the_queue_is_not_the_cause(line: dict[str, str]) -> None:
    found = short_plan(**line)
    assert "The queue is the cause" not in found.answer
    assert found.router_instructions == []


@pytest.mark.parametrize(
    ("beside", "words"),
    [("upload", "an upload on"), ("household", "an upload and a call on")],
)
def test_other_traffic_that_is_asked_for_is_in_the_answer(beside: str, words: str) -> None:
    found = short_plan(beside=beside)
    assert found.path.beside == beside
    assert found.other is not None
    assert found.other.path.beside == "none"
    assert found.other.delay <= found.delay
    assert "With nothing else on the line" in found.answer
    assert found.to_dict()["beside"] == beside
    assert words in description(found)


def test_twenty_viewers_on_one_port_were_not_possible() -> None:
    one = short_plan(rate="12Mb/s", transports=["srt"])
    found = short_plan(rate="12Mb/s", transports=["srt"], viewers=10)
    assert found.delay > one.delay
    assert "for the slowest of 10 viewers" in found.answer
    assert "to 10 viewers over 12.00 Mb/s" in description(found)
    assert found.to_dict()["viewers"] == 10


def test_two_ingests_over_a_line_for_one_are_refused_with_what_would_do() -> None:
    """Two encoders of 10 Mb/s over 10 Mb/s (sorayuki/obs-multi-rtmp#401)."""
    with pytest.raises(InputError, match=r"10.00 Mb/s for each of 2 viewers, which is 20.72 Mb/s"):
        short_plan(bitrate="10Mb/s", rate="10Mb/s", viewers=2)


@pytest.mark.parametrize("viewers", [0, 201])
def test_a_number_of_viewers_out_of_range_is_an_error(viewers: int) -> None:
    with pytest.raises(InputError, match=f"viewers = {viewers}: a number from 1 to 200"):
        short_plan(viewers=viewers)


def test_further_viewers_as_other_traffic_are_refused_with_the_option_for_them() -> None:
    with pytest.raises(InputError, match="--viewers 4"):
        short_plan(beside="3")


@pytest.mark.parametrize("beside", ["0", "201", "cats", "²"])
def test_other_traffic_that_is_not_known_is_an_error(beside: str) -> None:
    with pytest.raises(InputError, match=f"beside = {beside}"):
        short_plan(beside=beside)
