"""Live displays: tables on terminals, files that others follow, and Prometheus."""

from __future__ import annotations

import csv
import io
import json
import socket
import struct
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from rich.console import Console

from earlybird.cli.live import SECONDS, SIGNS, Minute, Screen, curve, relay_line
from earlybird.cli.prometheus import METRICS, MOST_CONNECTIONS, STALE, LastReport, serving
from earlybird.cli.transmit import LogLevel, _shown
from earlybird.errors import InputError
from earlybird.plots.chart import Curve
from earlybird.plots.states import relay_panels
from earlybird.state_file import follow, states_to
from test_cli_input import complaint
from test_transmit import free_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from test_cli_input import Program


def report(second: float, **changes: object) -> dict[str, Any]:
    """Make a report of a relay that gets 1 MB each second."""
    every: dict[str, Any] = {
        "time_s": second,
        "peers": 1,
        "reconnects": 0,
        "refusal": None,
        "units": int(800 * second),
        "bytes": int(1e6 * second),
        "bytesOut": int(2e6 * second),
        "pktSndDrop": 0,
        "pktRetrans": 3,
        "pktRcvDrop": int(2 * second),
        "pktRcvBelated": 0,
        "refused": 0,
        "refusedConnections": 0,
        "foreign": None,
        "notice": None,
        "msRcvBuf": 118.0,
        "msRTT": 43.2,
        "pktCongestionWindow": 34.0,
        "pktFlightSize": 12,
        "connections": [],
    }
    return {**every, **changes}


def receiver(number: int, second: float, **changes: object) -> dict[str, Any]:
    """Make the part of a report for one receiver."""
    every = {
        "address": f"192.0.2.{number}:4000",
        "caller": None,
        "age_s": second,
        "bytesOut": int(1e6 * number * second),
        "pktSndDrop": number,
        "pktRetrans": 3,
        "msRTT": 40.0 + number,
        "pktCongestionWindow": 34.0,
        "pktFlightSize": 12,
    }
    return {**every, **changes}


def network(second: float, **changes: object) -> dict[str, Any]:
    """Make a state of an emulated network of one link."""
    link = {
        "link": "near-far",
        "packets_in": 1000,
        "packets_out": 990,
        "packets_dropped": 10,
        "packets_marked": 0,
        "bytes_out": int(125_000 * second),
        "queue_packets": 7,
        "max_queue_packets": 20,
        "mean_queue_delay_ms": 12.3,
    }
    late = {"p50_us": 40.0, "p99_us": 90.0, "max_us": 300.0}
    return {
        "time_s": second,
        "links": [link],
        "overflows": 0,
        "undelivered": 0,
        "device_drops": 0,
        "delay_added": late,
        **changes,
    }


def shown(*states: dict[str, Any]) -> str:
    """Return what a stranger sees in the end where there is no terminal."""
    console = Console(file=io.StringIO(), width=80)
    with Screen("a relay", console) as screen:
        for state in states:
            screen.take(state)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_table_has_rates_of_now_and_counts_of_all_time() -> None:
    table = shown(*(report(second) for second in range(90)))
    rows = {line.split("  ")[0].strip(): line for line in table.splitlines()}
    assert "8.00 Mb/s" in rows["in"]
    assert "89.0 MB" in rows["in"]
    assert "16.00 Mb/s" in rows["out"]
    assert "2 /s" in rows["lost"]
    assert "178" in rows["lost"]
    assert SIGNS[-1] * (60 // SECONDS) in rows["lost"]
    assert rows["late"].count(SIGNS[0]) == 60 // SECONDS
    assert max(map(len, table.splitlines())) <= 80
    assert "It has ended." in table


def test_a_relay_without_another_shows_no_number_of_before() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    with Screen("a relay", console) as screen:
        screen.take(report(1))
        screen.take(report(2, peers=0, msRTT=None, msRcvBuf=0.0, pktCongestionWindow=0.0, pktFlightSize=0))
        assert isinstance(console.file, io.StringIO)
        last = console.file.getvalue().rpartition("round trip")[2]
    assert "43.2" not in last
    assert "No relay is connected." in last


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"peers": 0}, "10 s: No relay is connected."),
        ({"peers": 0, "refusal": "another stream"}, "10 s: Not connected: another stream."),
        (
            {},
            "10 s: 8,000 units, 10.0 MB, round trip 43.2 ms, buffer 118 ms, "
            "lost 20, late 0, dropped 0, retransmitted 3",
        ),
    ],
)
def test_a_relay_states_where_it_is_on_one_line(changes: dict[str, object], line: str) -> None:
    assert relay_line(report(10, **changes)) == line


def test_an_emulated_network_has_a_row_for_each_link() -> None:
    table = shown(network(1), network(2))
    (row,) = (line for line in table.splitlines() if line.startswith("near-far"))
    for cell in ("1.00", "7", "12.3 ms", "10 (1.00%)"):
        assert f" {cell} " in row
    assert "Packets left 40 µs late" in table


def test_a_curve_is_as_high_as_the_most_of_the_minute_and_keeps_single_peaks() -> None:
    assert curve([]) == ""
    assert curve([0.0, 0.0]) == SIGNS[0]
    assert curve([0.0] * 9 + [5.0]) == SIGNS[0] * 4 + SIGNS[-1]
    assert len(curve([1.0] * 1000)) == 60 // SECONDS


def test_counts_that_begin_anew_are_no_negative_rate() -> None:
    minute = Minute()
    for second, count in enumerate([5, 9, 0, 2]):
        minute.add({"time_s": second, "count": count})
    assert minute.changes(lambda state: state["count"]) == [4, 0, 2]


def state(second: int) -> dict[str, Any]:
    """Make a state with nothing but times."""
    return {"timepoint": "2026-11-26T22:00:00.000+00:00", "time_s": second}


def test_a_file_is_followed_until_its_writer_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "states.jsonl"
    with states_to(path) as write:
        write(state(1))
        states = follow(path)
        assert [next(states), next(states), next(states)] == [state(1), None, None]
        write(state(2))
        assert next(states) == state(2)
        assert next(states) is None
        write(state(3))
    assert [*states] == [state(3), None]


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    path = tmp_path / "states.jsonl"
    with states_to(path):
        states = follow(path)
        with path.open("a") as file:
            file.write('{"time')
            file.flush()
            assert next(states) is None
            file.write('_s": 1}\n')
        assert next(states) == {"time_s": 1}


def test_a_statistics_line_had_no_time_of_day(tmp_path: Path) -> None:
    path, before = tmp_path / "states.jsonl", datetime.now(UTC) - timedelta(milliseconds=1)
    with states_to(path) as write:
        write(report(1))
    line = json.loads(path.read_text())
    assert before <= datetime.fromisoformat(line["timepoint"]) <= datetime.now(UTC)
    assert next(iter(line)) == "timepoint"


def test_csv_has_a_row_for_each_receiver_with_its_address(tmp_path: Path) -> None:
    path = tmp_path / "states.csv"
    with states_to(path) as write:
        write(report(1))
        write(report(2, peers=2, connections=[receiver(1, 2), receiver(2, 2)]))
    rows = [*csv.DictReader(path.read_text().splitlines())]
    assert [row["address"] for row in rows] == ["", "", "192.0.2.1:4000", "192.0.2.2:4000"]
    assert [row["bytesOut"] for row in rows] == ["2000000", "4000000", "2000000", "4000000"]
    assert [row["time_s"] for row in rows] == ["1", "2", "2", "2"]
    assert {row["units"] for row in rows[2:]} == {""}


def test_a_table_had_no_row_for_each_of_several_receivers() -> None:
    both = [report(second, connections=[receiver(1, second), receiver(2, second)]) for second in (1, 2)]
    table = shown(*both)
    (row,) = (line for line in table.splitlines() if line.startswith("192.0.2.2:4000"))
    for cell in ("16.00", "4.0 MB", "42.0 ms"):
        assert f" {cell} " in row
    assert max(map(len, table.splitlines())) <= 80
    assert "192.0.2.1" not in shown(report(1, connections=[receiver(1, 1)]))
    many = [receiver(number, 1) for number in range(13)]
    assert "and 3 more" in shown(report(1, connections=many))


def test_top_shows_the_last_state_of_what_has_ended(earlybird: Program, tmp_path: Path) -> None:
    path = tmp_path / "links.jsonl"
    path.write_text("".join(json.dumps(network(second)) + "\n" for second in (1, 2)))
    finished = earlybird("top", path)
    assert finished.code == 0
    assert "links.jsonl   0:00:02" in finished.out
    assert "near-far" in finished.out


@pytest.mark.parametrize("kind", [report, network])
@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_states_had_no_picture(earlybird: Program, tmp_path: Path, kind: Callable[..., Any], ending: str) -> None:
    path, out = tmp_path / "states.jsonl", tmp_path / f"states.{ending}"
    path.write_text("".join(json.dumps(kind(second)) + "\n" for second in (1, 2, 3)))
    finished = earlybird("plot", path, "--output", out)
    assert (finished.code, finished.err) == (0, "")
    assert out.stat().st_size > 0


def test_a_picture_of_states_has_their_rates_and_leaves_out_what_was_not_known() -> None:
    states = [report(1), report(2, msRTT=None, peers=0, pktCongestionWindow=0.0), report(4)]
    panels = relay_panels(states)
    drawn = {panel.y.title: [mark for mark in panel.marks if isinstance(mark, Curve)] for panel in panels if panel.y}
    carried, round_trip, _, window, counts = drawn.values()
    assert [[*line.y] for line in carried] == [[8.0, 8.0], [16.0, 16.0]]
    assert [[*lines[0].x] for lines in (round_trip, window)] == [[1, 4], [1, 4]]
    assert {line.name: [*line.y] for line in counts}["lost"] == [2.0, 2.0]
    assert len({line.style for line in (*carried, *counts)}) == 6


@pytest.mark.parametrize(
    ("content", "words"), [("", "nothing to draw yet"), ('{"time_s": 1}\n', "1 of at least 2"), ("other\n", "--stat")]
)
def test_what_is_no_picture_of_states_is_reported(earlybird: Program, tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "states.jsonl").write_text(content)
    assert words in complaint(earlybird("plot", tmp_path / "states.jsonl", "--output", tmp_path / "states.png"))


@pytest.mark.parametrize(("content", "words"), [("time,event\n", "--statistics"), (None, "No such file")])
def test_top_states_what_it_follows(earlybird: Program, tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "other"
    if content:
        path.write_text(content)
    assert words in complaint(earlybird("top", path))


def exposed(report: dict[str, Any]) -> str:
    """Return what Prometheus gets of a report."""
    registry, last = CollectorRegistry(), LastReport()
    registry.register(last)
    last.take(report)
    return generate_latest(registry).decode()


def test_prometheus_gets_every_number_with_its_meaning_and_kind() -> None:
    lines = exposed(report(2)).splitlines()
    assert "# TYPE earlybird_transmit_bytes_total counter" in lines
    assert "earlybird_transmit_bytes_total 2e+06" in lines
    assert "earlybird_transmit_rtt_seconds 0.0432" in lines
    assert sum(line.startswith("# HELP ") for line in lines) == len(METRICS) == len(lines) / 3


def test_prometheus_labels_each_receiver_with_its_address() -> None:
    lines = exposed(report(2, connections=[receiver(1, 2), receiver(2, 2, msRTT=None)])).splitlines()
    name = "earlybird_transmit_connection"
    assert f'{name}_out_bytes_total{{address="192.0.2.2:4000",caller=""}} 4e+06' in lines
    assert [line for line in lines if line.startswith(f"{name}_rtt")] == [
        f'{name}_rtt_seconds{{address="192.0.2.1:4000",caller=""}} 0.041'
    ]


def test_what_is_not_known_is_not_reported() -> None:
    assert "rtt" not in exposed(report(2, msRTT=None))


def fetch(port: int) -> tuple[str, str]:
    """Ask as Prometheus does; return the kind of the answer, and the answer."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def test_prometheus_is_answered_with_the_newest_report_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port(socket.SOCK_STREAM)
    with serving(str(port)) as take:
        kind, nothing = fetch(port)
        assert (kind.partition(";")[0], nothing) == ("text/plain", "")
        take(report(1))
        take(report(2))
        assert fetch(port)[1] == exposed(report(2))
        now = time.monotonic()
        monkeypatch.setattr("earlybird.cli.prometheus.time.monotonic", lambda: now + 2 * STALE)
        assert fetch(port)[1] == ""
        with pytest.raises(InputError, match="in use"), serving(str(port)):
            pass


def test_a_client_of_prometheus_that_vanishes_gave_a_traceback(capfd: pytest.CaptureFixture[str]) -> None:
    port = free_port(socket.SOCK_STREAM)
    with serving(str(port)) as take:
        for asked in (b"", b"GET /metrics HTTP/1.1\r\n\r\n") * 10:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
                client.sendall(asked)
        take(report(1))
        assert fetch(port)[1] == exposed(report(1))
        time.sleep(0.5)  # the threads of the clients end
    assert capfd.readouterr().err == ""


def test_slow_clients_of_prometheus_took_a_thread_each_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("earlybird.cli.prometheus.PATIENCE", 1.0)
    port, before = free_port(socket.SOCK_STREAM), threading.active_count()
    with serving(str(port)) as take, ExitStack() as clients:
        for _ in range(100):
            client = clients.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"GET /metrics HTTP/1.1\r\nX-")
        assert threading.active_count() - before <= MOST_CONNECTIONS + 1
        time.sleep(2.5)  # longer than the server waits for the rest
        take(report(1))
        assert fetch(port)[1] == exposed(report(1))


@pytest.mark.parametrize("address", ["", "x", "0", "host", "host:x", "99999", "127.0.0.1:"])
def test_what_is_no_port_is_reported(address: str) -> None:
    with pytest.raises(InputError, match="give a port"), serving(address):
        pass


@pytest.mark.parametrize("level", [LogLevel.WARNING, LogLevel.INFO])
def test_a_refused_sender_is_reported_once(capsys: pytest.CaptureFixture[str], level: LogLevel) -> None:
    with ExitStack() as files:
        show = _shown(files, "a relay", level)
        events = [None, "SRT: 192.0.2.1 was refused: another streamid", *9 * ["SRT: 192.0.2.2 sends"]]
        for second, notice in enumerate(events):
            show(report(second, notice=notice))
    lines = [line for line in capsys.readouterr().err.splitlines() if "SRT" in line]
    assert lines == ["1 s: SRT: 192.0.2.1 was refused: another streamid.", "2 s: SRT: 192.0.2.2 sends."]


def test_a_table_shows_the_last_event_of_the_local_end() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True)
    with Screen("a relay", console) as screen:
        screen.take(report(1, notice="SRT: 192.0.2.2 sends"))
    assert isinstance(console.file, io.StringIO)
    assert "SRT: 192.0.2.2 sends." in console.file.getvalue()
