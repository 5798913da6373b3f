"""Measurements of other programs: files as they write them, and files that are damaged."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from typer.testing import CliRunner

import earlybird
from earlybird import InputError
from earlybird.cli.application import application
from earlybird.outputs import Outputs
from earlybird.planning.measured import iperf3, irtt, kinds, mahimahi, pcap, ping
from earlybird.planning.path import Measurements, completed

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).parents[2]
MEASURED = Path(__file__).parent / "measured"
"""Files of these programs from a link of 10 Mb/s with a round trip of 40 ms (tests/python/measured/README.md)."""
ROUND_TRIP = pytest.approx(0.040, abs=0.001)
RATE = pytest.approx(10e6, rel=0.03)

LINUX = """PING example.org (93.184.216.34) 56(84) bytes of data.
64 bytes from 93.184.216.34: icmp_seq=1 ttl=56 time=40.1 ms
64 bytes from 93.184.216.34: icmp_seq=2 ttl=56 time=42.3 ms
64 bytes from 93.184.216.34: icmp_seq=2 ttl=56 time=43.0 ms (DUP!)
64 bytes from 93.184.216.34: icmp_seq=4 ttl=56 time=41.0 ms

--- example.org ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 40.100/41.133/42.300/0.903 ms
"""
MACOS = """64 bytes from 93.184.216.34: icmp_seq=0 ttl=56 time=40.1 ms
Request timeout for icmp_seq 1
64 bytes from 93.184.216.34: icmp_seq=2 ttl=56 time=42.1 ms
2 packets transmitted, 2 packets received, 0.0% packet loss
"""
WINDOWS = """Reply from 93.184.216.34: bytes=32 time=40ms TTL=56
Reply from 93.184.216.34: bytes=32 time<1ms TTL=56
Request timed out.
    Packets: Sent = 3, Received = 2, Lost = 1 (33% loss),
"""


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "measured"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ping


@pytest.mark.parametrize(
    ("text", "round_trip", "loss"),
    [(LINUX, 0.041, 0.25), (MACOS, 0.0411, 0.0), (WINDOWS, 0.0205, 1 / 3), (LINUX[: LINUX.find("---")], 0.041, 0.25)],
)
def test_pings_of_three_systems_and_one_cut_off(tmp_path: Path, text: str, round_trip: float, loss: float) -> None:
    found = ping.read(written(tmp_path, text))
    assert found.round_trip == pytest.approx(round_trip)
    assert found.loss == pytest.approx(loss)
    assert found.rate is None


def test_pings_that_were_all_lost_report_nothing(tmp_path: Path) -> None:
    text = "PING x (10.0.0.1) 56(84) bytes of data.\n\n10 packets transmitted, 0 received, 100% packet loss, time 9ms\n"
    with pytest.raises(InputError, match="none of 10 pings came back"):
        ping.read(written(tmp_path, text))


@pytest.mark.parametrize(("name", "loss"), [("iputils", 0.01), ("busybox", 0.01), ("quiet", 2 / 300)])
def test_real_pings_have_the_round_trip_of_the_line(name: str, loss: float) -> None:
    found = ping.read(MEASURED / f"ping-{name}.txt")
    assert found.round_trip == ROUND_TRIP
    assert found.loss == pytest.approx(loss)
    assert any("as no reply is listed" in fact for fact in found.facts) == (name == "quiet")


def test_real_pings_that_were_all_lost_report_nothing() -> None:
    with pytest.raises(InputError, match="none of 5 pings came back"):
        ping.read(MEASURED / "ping-lost.txt")


# iperf3


@pytest.mark.parametrize("path", ["forward", "reverse", "udp-overload"])
def test_a_real_transfer_has_the_rate_of_the_line(path: str) -> None:
    found = iperf3.read(MEASURED / f"iperf3-{path}.json.gz")
    assert found.rate == RATE
    assert found.loss is None


def test_a_real_test_in_both_directions_reports_the_other_one() -> None:
    found = iperf3.read(MEASURED / "iperf3-bidir.json.gz")
    assert found.rate == pytest.approx(9.6e6, rel=0.02)  # the acknowledgements of the other way take the rest
    assert found.round_trip == ROUND_TRIP
    assert any("Mb/s went the other way meanwhile" in fact for fact in found.facts)


def test_a_round_trip_of_iperf3_has_its_own_queue_in_it() -> None:
    found = iperf3.read(MEASURED / "iperf3-forward.json.gz")
    assert found.round_trip == pytest.approx(0.059701)
    assert any("what the test itself put into the queue; ping knows better" in fact for fact in found.facts)


@pytest.mark.parametrize(("path", "lost"), [("udp", 16 / 2158), ("udp-reverse", 0.0)])
def test_real_datagrams_below_the_lines_rate_have_its_losses(path: str, lost: float) -> None:
    found = iperf3.read(MEASURED / f"iperf3-{path}.json.gz")
    assert found.loss == pytest.approx(lost)  # the line loses 1 % on the way there, none on the way back
    assert found.rate == pytest.approx(5e6, rel=0.03)


@pytest.mark.parametrize(("name", "word"), [("cut", "the client has terminated"), ("refused", "Connection refused")])
def test_a_real_test_that_failed_is_reported_with_the_reason(name: str, word: str) -> None:
    with pytest.raises(InputError, match=f"iperf3 failed: .*{word}"):
        iperf3.read(MEASURED / f"iperf3-{name}.json.gz")


def of_iperf3(**changed: object) -> dict[str, Any]:
    end = {
        "streams": [{"sender": {"min_rtt": 31000, "mean_rtt": 60000}}, {"sender": {"min_rtt": 30000}}],
        "sum_sent": {"bytes": 14_480_000, "retransmits": 50, "bits_per_second": 10.1e6},
        "sum_received": {"bits_per_second": 10e6},
    }
    return {"start": {}, "intervals": [], "end": {**end, **changed}}


def test_a_transfer_has_a_rate_with_headers_and_the_shortest_round_trip(tmp_path: Path) -> None:
    found = iperf3.read(written(tmp_path, json.dumps(of_iperf3())))
    assert found.rate == pytest.approx(10e6 * 1500 / 1448)
    assert found.round_trip == 0.030
    assert found.loss is None
    assert any("50 retransmissions, 0.5 %" in fact for fact in found.facts)


def test_datagrams_have_losses(tmp_path: Path) -> None:
    whole = {"bits_per_second": 1e6, "lost_percent": 5.0, "packets": 1000, "bytes": 1_000_000}
    found = iperf3.read(written(tmp_path, json.dumps({"end": {"sum": whole, "streams": []}})))
    assert found.loss == 0.05
    assert found.rate == pytest.approx(0.95e6 * 1.028)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (json.dumps({"start": {}, "error": "unable to connect to server"}), "unable to connect to server"),
        (json.dumps({"start": {}, "intervals": []}), "cut off"),
        ('{"start": {', "Is it complete"),
        (json.dumps(of_iperf3(sum_received={}, sum_sent={})), "transferred nothing"),
        ("[1]", "holds no table"),
    ],
)
def test_a_test_that_failed_is_reported_with_the_reason(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        iperf3.read(written(tmp_path, text))


# irtt


def test_real_round_trips_of_irtt() -> None:
    clean, bursty = (irtt.read(MEASURED / f"irtt-{name}.json.gz") for name in ("clean", "bursty"))
    assert clean.round_trip == ROUND_TRIP
    assert (clean.loss, clean.mean_burst) == (0.0, 1.0)
    assert bursty.round_trip == ROUND_TRIP
    # The emulator dropped 22 packets of 1983, of a channel that loses three in a row on average.
    assert (bursty.loss, bursty.mean_burst) == (22 / 1983, 2.75)


def of_irtt(lost: list[str]) -> dict[str, Any]:
    trips = [{"seqno": number, "lost": state} for number, state in enumerate(lost)]
    return {"stats": {"rtt": {"min": 29e6, "median": 30e6}}, "round_trips": trips}


def test_losses_of_irtt_have_their_bursts_packed_or_not(tmp_path: Path) -> None:
    document = json.dumps(of_irtt(["false"] * 8 + ["true", "true_down", "true_up"] + ["false"] * 8 + ["true"]))
    for content in (document.encode(), gzip.compress(document.encode())):
        found = irtt.read(written(tmp_path, content))
        assert (found.round_trip, found.loss, found.mean_burst) == (0.030, 0.2, 2.0)


def test_irtt_without_an_answer_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of 2 packets came back"):
        irtt.read(written(tmp_path, json.dumps({"stats": {}, "round_trips": [{"lost": "true"}] * 2})))


# mahimahi


def test_a_trace_has_its_mean_rate_and_is_kept() -> None:
    found = mahimahi.read(REPOSITORY / "media" / "cellular.mahi")
    assert found.trace is not None
    assert found.rate == pytest.approx(12e6 * len(found.trace) / found.trace[-1])
    line = completed(Measurements(round_trip=0.05).updated_with(found))
    (link,) = line.network()["links"]
    assert "rate" not in link
    assert link["trace"] == list(found.trace)


@pytest.mark.parametrize(
    ("text", "word"),
    [("1\n5\n3\n", "`3` is earlier than the line before in line 3"), ("a\n", "line 1"), ("0\n", "0 ms")],
)
def test_a_damaged_trace_is_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        mahimahi.read(written(tmp_path, text))


# Captures


SCENARIO = """
duration = "20s"
endpoint = { profile = "linux", transport = "cubic" }
flows = [{ name = "file", from = "a", to = "b", application.bulk = {} }]
[[network.links]]
from = "a"
to = "b"
rate = "5Mb/s"
delay = "20ms"
queue = { packets = 40 }
loss = [LOSS]
"""


FIRST_RATE = pytest.approx(9.5e6, rel=0.05)
"""Of the first 1600 packets, some of which wait for the window to grow."""
FIRST_ROUND_TRIP = pytest.approx(0.040, abs=0.0015)


def of_tcpdump(folder: Path, name: str) -> Path:
    return written(folder, lzma.decompress((MEASURED / f"{name}.xz").read_bytes()))


def test_a_capture_of_headers_only_was_reported_to_break_off(tmp_path: Path) -> None:
    found = pcap.read(of_tcpdump(tmp_path, "sender-clean.pcap"))
    assert not any("breaks off" in fact for fact in found.facts)
    assert found.round_trip == FIRST_ROUND_TRIP
    assert found.rate == FIRST_RATE


def test_drops_of_a_full_queue_were_taken_for_losses_of_the_line(tmp_path: Path) -> None:
    found = pcap.read(of_tcpdump(tmp_path, "sender-clean.pcap"))
    assert found.loss is not None
    assert found.loss < 0.003  # the line loses none
    assert any("drops of a full queue" in fact for fact in found.facts)


def test_real_losses_are_those_of_the_line(tmp_path: Path) -> None:
    found = pcap.read(of_tcpdump(tmp_path, "sender-lossy.pcapng"))
    assert found.round_trip == FIRST_ROUND_TRIP
    assert found.rate == FIRST_RATE
    assert found.loss == pytest.approx(0.01, abs=0.005)
    assert found.mean_burst == pytest.approx(1.0, abs=0.2)


def test_a_receivers_capture_shows_the_bursts(tmp_path: Path) -> None:
    found = pcap.read(of_tcpdump(tmp_path, "receiver-bursty.pcap"))
    assert found.round_trip == FIRST_ROUND_TRIP
    assert found.rate == FIRST_RATE
    assert found.loss == pytest.approx(0.02, abs=0.015)
    assert found.mean_burst is not None
    assert found.mean_burst > 1.5


def captured(folder: Path, loss: str = "") -> Path:
    path = folder / "packets.pcapng"
    earlybird.run(SCENARIO.replace("LOSS", loss), seed=1, outputs=Outputs(pcap=path))
    return path


def test_a_simulated_transfer_shows_the_line_it_went_over(tmp_path: Path) -> None:
    found = pcap.read(captured(tmp_path, "{ bernoulli = { probability = 0.01 } }"))
    assert found.round_trip == pytest.approx(0.040, abs=0.006)
    assert found.rate is not None
    assert 1e6 < found.rate <= 5.1e6
    assert found.loss == pytest.approx(0.01, abs=0.006)
    assert found.mean_burst == pytest.approx(1.0, abs=0.3)


def test_bursts_of_losses_are_seen_as_such(tmp_path: Path) -> None:
    found = pcap.read(captured(tmp_path, "{ periodic = { period = 400, burst = 4, first = 300 } }"))
    assert found.mean_burst is not None
    assert found.mean_burst > 2


def test_a_capture_that_breaks_off_is_read_so_far(tmp_path: Path) -> None:
    whole = captured(tmp_path).read_bytes()
    found = pcap.read(written(tmp_path, whole[: len(whole) // 2 + 3]))
    assert any("breaks off" in fact for fact in found.facts)
    assert found.rate is not None


def test_a_capture_of_one_direction_has_no_round_trip(tmp_path: Path) -> None:
    found = pcap.read(one_way(captured(tmp_path), tmp_path / "one.pcapng"))
    assert found.round_trip is None
    assert any("no round trip can be told" in fact for fact in found.facts)
    with pytest.raises(InputError, match="no round trip can be told"):
        completed(found)


def test_what_the_capture_missed_is_reported(tmp_path: Path) -> None:
    found = pcap.read(thinned(captured(tmp_path), tmp_path / "thin.pcapng"))
    assert any("are missing in it" in fact for fact in found.facts)


@pytest.mark.parametrize("text", ["", "some text that is long enough to be no capture at all"])
def test_what_is_no_capture_is_reported(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="is no capture that can be read"):
        pcap.read(written(tmp_path, text))


def test_a_capture_without_tcp_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of its 0 packets is a TCP segment"):
        pcap.read(written(tmp_path, only(captured(tmp_path).read_bytes(), lambda _: False)))


def test_sequence_numbers_go_on_beyond_their_end() -> None:
    numbers = np.array([2**32 - 10, 5, 2**32 - 1], dtype=np.uint32)
    assert pcap.unwrapped(numbers, 2**32 - 10).tolist() == [0, 15, 9]


def only(capture: bytes, keep: Callable[[bytes], bool]) -> bytes:
    """Keep those packets of a pcapng file of ours (big-endian blocks) of which `keep` says so."""
    kept, place = b"", 0
    while place < len(capture):
        kind, length = (int.from_bytes(capture[place + at : place + at + 4], "big") for at in (0, 4))
        block = capture[place : place + length]
        if kind != 6 or keep(block[28:]):  # an enhanced packet, whose data begin there
            kept += block
        place += length
    return kept


def has_payload(packet: bytes) -> bool:
    """Return whether an IPv4 packet carries more than headers."""
    return int.from_bytes(packet[2:4], "big") > 100


def one_way(capture: Path, path: Path) -> Path:
    path.write_bytes(only(capture.read_bytes(), has_payload))
    return path


def thinned(capture: Path, path: Path) -> Path:
    numbers = iter(range(10**9))
    path.write_bytes(only(capture.read_bytes(), lambda packet: not has_payload(packet) or next(numbers) % 50 != 7))
    return path


# All together


def test_what_is_found_is_reported_and_what_is_given_counts_more(tmp_path: Path) -> None:
    (tmp_path / "ping").write_text(LINUX)
    (tmp_path / "iperf3").write_text(json.dumps(of_iperf3()))
    files = ["--from-ping", str(tmp_path / "ping"), "--from-iperf3", str(tmp_path / "iperf3")]
    given = ["--bitrate", "500k", "--loss", "0", "--seeds", "2", "--duration", "10s", "--json"]
    done = CliRunner().invoke(application, ["plan", *files, *given])
    assert done.exit_code == 0, done.output
    line = json.loads(done.stdout)["path"]
    assert (line["rtt_s"], line["loss"]) == (0.041, 0)
    assert line["rate_bps"] == pytest.approx(10e6 * 1500 / 1448)
    assert len(line["facts"]) == 6


@pytest.mark.parametrize("tool", ["ping", "iperf3", "irtt", "mahimahi", "pcap"])
def test_a_file_that_is_not_there_is_one_line_and_code_2(tool: str) -> None:
    done = CliRunner().invoke(application, ["plan", "--bitrate", "1M", f"--from-{tool}", "nothing"])
    assert done.exit_code == 2
    assert "nothing" in done.output
    assert len(done.output.strip().splitlines()) == 1


BAD = {
    "ping": (MEASURED / "ping-lost.txt", "none of 5 pings came back"),
    "iperf3": (MEASURED / "iperf3-refused.json.gz", "iperf3 failed"),
    "irtt": (MEASURED / "iperf3-forward.json.gz", "is not what `irtt client -o FILE` writes"),
    "mahimahi": (MEASURED / "ping-lost.txt", "is not a trace of mahimahi's"),
    "pcap": (MEASURED / "ping-lost.txt", "is no capture that can be read"),
}


@pytest.mark.parametrize("tool", BAD)
def test_a_measurement_that_reports_nothing_is_one_line_and_code_2(tool: str) -> None:
    path, problem = BAD[tool]
    done = CliRunner().invoke(application, ["plan", "--bitrate", "1M", f"--from-{tool}", str(path)])
    assert done.exit_code == 2
    assert problem in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_measured_line_below_the_films_rate_is_reported_with_the_rate_that_would_do() -> None:
    files = ["--from-iperf3", str(MEASURED / "iperf3-forward.json.gz"), "--rtt", "40ms"]
    done = CliRunner().invoke(application, ["plan", "--bitrate", "12Mb/s", *files])
    assert done.exit_code == 2
    assert "rate = 9.91 Mb/s: the film has 12.00 Mb/s" in done.output
    assert "would do, or a film of" in done.output
    assert len(done.output.strip().splitlines()) == 1


@pytest.mark.parametrize("tool", ["ping", "iperf3", "irtt", "mahimahi", "pcap"])
def test_a_file_of_another_kind_is_reported(tmp_path: Path, tool: str) -> None:
    readers = {
        "ping": ping.read,
        "iperf3": iperf3.read,
        "irtt": irtt.read,
        "mahimahi": mahimahi.read,
        "pcap": pcap.read,
    }
    with pytest.raises(InputError, match="is no"):
        readers[tool](written(tmp_path, "nothing of the kind, and nothing else\n"))


@pytest.mark.parametrize("stamp", ["Nov 27 05:36:{:02} ", "Fri Nov  6 05:36:{:02} 2026 ", "[2026-11-27 05:36:{:02}] "])
def test_times_in_front_of_the_lines_of_iperf3_made_them_unreadable(tmp_path: Path, stamp: str) -> None:
    """`iperf3 --json | ts`, and `iperf3 --timestamps`."""
    text = gzip.decompress((MEASURED / "iperf3-forward.json.gz").read_bytes()).decode()
    lines = [stamp.format(number % 60) + line for number, line in enumerate(text.splitlines())]
    (tmp_path / "timed.json").write_text("\n".join(lines))
    (tmp_path / "plain.json").write_text(text)
    assert iperf3.read(tmp_path / "timed.json") == iperf3.read(tmp_path / "plain.json")
    assert kinds.kind_of(tmp_path / "timed.json") == "iperf3"
