"""Commands in emulated networks; what needs namespaces is skipped, with the reason, where the machine gives none."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from test_cli_input import complaint

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli_input import Program

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
        (["--rate", "1M", "--back-delay", "5"], ["--back-delay", "5"]),
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
