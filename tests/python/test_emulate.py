"""Commands in emulated networks; what needs namespaces is skipped, with the reason, where the machine gives none."""

from __future__ import annotations

import json
import re
import shlex
import statistics
import sys
from typing import TYPE_CHECKING, Any

import pytest

from conftest import REPOSITORY
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from test_cli_input import complaint

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli_input import Program

CELLULAR = str(REPOSITORY / "media" / "cellular.mahi")
SERVER = f"{sys.executable} -m http.server 8000"
FETCH = (
    "import sys, time, urllib.request as r; t = time.monotonic();"
    "n = len(r.urlopen('http://10.77.0.2:8000/file').read()); print(n, time.monotonic() - t)"
)


@pytest.fixture(scope="module")
def _allowed() -> None:
    try:
        emulate(network(link(rate="1M"), link(rate="1M")), ["true"], servers=[["true"]])
    except EarlybirdError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("_allowed")
def test_a_download_takes_the_time_of_the_link(program: Program, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(500_000))
    server = f"{SERVER} --directory {tmp_path}"
    statistics, packets = tmp_path / "statistics.jsonl", tmp_path / "packets.pcapng"
    files = ["--statistics", statistics, "--pcap", packets]
    shape = ["--rate", "2M", "--delay", "20ms", "--queue", "100"]
    finished = program("emulate", *shape, "--json", *files, "--server", server, "--", sys.executable, "-c", FETCH)
    assert finished.code == 0, finished
    fetched, _, summary = finished.out.partition("\n")
    bytes_read, seconds = fetched.split()
    # 4 Mb take 2 s at 2 Mb/s, headers and the way there and back apart.
    assert int(bytes_read) == 500_000
    assert 2.0 < float(seconds) < 6.0
    there, back = json.loads(summary)["links"]
    assert back["bytes_out"] > 500_000 > there["bytes_out"]
    assert [json.loads(line)["links"][0]["link"] for line in statistics.read_text().splitlines()] >= ["near-far"] * 2
    assert packets.stat().st_size > 2 * 500_000


@pytest.mark.usefixtures("_allowed")
@pytest.mark.parametrize(("shell", "code"), [("exit 7", 7), ("kill -9 $$", 137)])
def test_the_exit_code_is_the_commands(earlybird: Program, shell: str, code: int) -> None:
    finished = earlybird("emulate", "--rate", "1M", "--server", "true", "--", "sh", "-c", shell)
    assert (finished.code, finished.out) == (code, "")
    assert "near-far" in finished.err


@pytest.mark.usefixtures("_allowed")
@pytest.mark.parametrize("option", ["--pcap", "--statistics"])
def test_a_command_goes_on_when_a_disk_is_full(earlybird: Program, option: str) -> None:
    talk = [sys.executable, "-c", "import socket as s; s.socket(2, 2).sendto(b'', ('10.77.0.2', 9)); exit(7)"]
    finished = earlybird("emulate", "--rate", "1M", option, "/dev/full", "--server", "true", "--", *talk)
    assert finished.code == 7
    assert "earlybird: /dev/full: No space left on device" in finished.err
    assert finished.err.endswith("The file ends there; the command went on.\n")


ECHO = """
import socket
far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
far.bind(("0.0.0.0", 9000))
while True:
    far.sendto(*far.recvfrom(9))
"""
ASK = """
import socket, sys, time
near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
near.settimeout(0.5)
for _ in range(int(sys.argv[1])):
    started = time.monotonic()
    near.sendto(b"x", ("10.77.0.2", 9000))
    try:
        near.recv(9)
        print(time.monotonic() - started)
    except TimeoutError:
        pass
"""


def round_trips(program: Program, count: int, *shape: str) -> tuple[list[float], dict[str, Any]]:
    """Return the seconds of the echoes that came back over a link of this shape, and what its first direction did."""
    far, near = ([sys.executable, "-c", text] for text in (ECHO, ASK))
    shape = ("--rate", "10M", *shape, "--json")
    finished = program("emulate", *shape, "--server", shlex.join(far), "--", *near, str(count))
    assert finished.code == 0, finished
    times, _, summary = finished.out.partition("{")
    return [float(time) for time in times.split()], json.loads("{" + summary)["links"][0]


@pytest.mark.usefixtures("_allowed")
def test_jitter_varies_the_delay_up_and_down(program: Program) -> None:
    times, _ = round_trips(program, 60, "--delay", "20ms", "--jitter", "10ms")
    # Two delays from 10 to 30 ms: of 60 sums one is below 33 ms, surely. Without jitter all are 40 ms or more.
    assert 0.020 <= min(times) < 0.033
    assert statistics.median(times) > 0.033


@pytest.mark.usefixtures("_allowed")
@pytest.mark.parametrize("start", ["0s", "60s"])
def test_an_outage_loses_all_packets_for_its_length(program: Program, start: str) -> None:
    times, link = round_trips(program, 4, "--outage", f"60s@{start}")
    assert link["packets_in"] == 4
    assert link["packets_dropped"] == (4 if start == "0s" else 0)
    assert (not times) == (start == "0s")


@pytest.mark.usefixtures("_allowed")
def test_servers_end_with_the_command() -> None:
    shape = link(rate="1M")
    marker = "an-emulated-server-that-nobody-stops"
    emulate(network(shape, shape), ["true"], servers=[["sh", "-c", f"sh -c ': {marker}; sleep 600' & sleep 600"]])
    processes = command_lines()
    assert not [line for line in processes if marker in line]


def command_lines() -> list[str]:
    from pathlib import Path

    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it has just ended
    return lines


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["--rate", "--scenario"]),
        (["--rate", "10"], ["--rate", "no unit", "10Mb/s"]),
        (["--rate", "1M", "--queue", "codell"], ["--queue", "codel"]),
        (["--rate", "1M", "--loss", "10"], ["--loss", "10%"]),
        (["--rate", "1M", "--back-delay", "5"], ["--back-delay", "did you mean `5ms`"]),
        (["--rate", "1M", "--delay", "50"], ["--delay", "did you mean `50ms`"]),
        (["--rate", "0"], ["--rate: `0` is zero; allowed: a number above 0"]),
        (["--rate", "1M", "--loss", "1"], ["--loss: `1` loses every packet", "did you mean `1%`", "`--outage`"]),
        (["--rate", "1M", "--loss", "2%", "--loss-burst", "0.5"], ["--loss-burst: `0.5` is too small"]),
        (["--rate", "1M", "--loss-burst", "3"], ["--loss-burst describes --loss"]),
        (["--rate", "1M", "--jitter", "10ms"], ["jitter = 10ms: more than the delay of 0ms", "--delay 10ms"]),
        (["--rate", "1M", "--delay", "50ms", "--jitter", "10"], ["--jitter: `10`", "did you mean `10ms`"]),
        (["--rate", "1M", "--jitter-reorder"], ["--jitter-reorder describes --jitter"]),
        (["--rate", "1M", "--link-trace-start", "5s"], ["--link-trace-start describes --link-trace-in"]),
        (["--link-trace-in", CELLULAR, "--link-trace-start", "5"], ["--link-trace-start: `5`", "`5s`"]),
        (["--link-trace-in", CELLULAR, "--link-trace-start", "60s"], ["--link-trace-start: `60s`", "below 10s"]),
        (["--rate", "1M", "--outage", "2s"], ["outage = 2s", "2s@30s"]),
        (["--rate", "1M", "--outage", "2@30s"], ["--outage: `2` has no unit", "did you mean `2s`"]),
        (["--rate", "1M", "--outage", "2s@30s/1s"], ["--outage: `1s` is not longer than the outage"]),
        (["--rate", "1M", "--mtu", "100"], ["mtu", "1280"]),
        (["--rate", "1M", "--scenario", "some.toml"], ["--scenario", "--rate", "--set"]),
    ],
)
def test_a_wrong_option_is_named(earlybird: Program, options: list[str], words: list[str]) -> None:
    message = complaint(earlybird("emulate", *options, "--", "true"))
    assert all(word in message for word in words), message


@pytest.mark.usefixtures("_allowed")
def test_a_program_that_is_not_there_is_named(earlybird: Program) -> None:
    message = complaint(earlybird("emulate", "--rate", "1M", "--server", "true", "--", "no-such-program"))
    assert re.search("no-such-program.*No such file", message)


def test_a_flow_that_is_not_there_is_named(earlybird: Program, small: Path) -> None:
    message = complaint(earlybird("emulate", "--scenario", small, "--flow", "vido0", "--", "true"))
    assert "vido0" in message
    assert "video0" in message
