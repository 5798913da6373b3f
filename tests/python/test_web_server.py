"""The six lines of docs/web-server.md, applied and undone under real web servers in a network namespace (root)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))

import web_server
from earlybird.emulation import THERE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STATE = "sysctl -a 2> /dev/null | grep -E '^net.ipv4.tcp_' ; ip route; tc qdisc show dev eb0"

BEFORE = ("/root/before.conf", "/root/before.route")
"""Files that the page names, which a test writes to its own folder."""

CADDY = """
{{
    admin off
    auto_https off
}}
:{port} {{
    root * {folder}/www
    file_server
}}
"""

APACHE = """
ServerRoot {folder}
ServerName server
PidFile {folder}/pid
ErrorLog {folder}/error.log
Listen {port}
LoadModule mpm_event_module {modules}/mod_mpm_event.so
LoadModule authz_core_module {modules}/mod_authz_core.so
DocumentRoot {folder}/www
"""

APACHE_MODULES = "/usr/lib/apache2/modules"


def nginx(folder: Path) -> str:
    """Write nginx's files, and return the command that starts it."""
    return web_server.nginx(folder)[0]


def caddy(folder: Path) -> str:
    """Write Caddy's file, and return the command that starts it."""
    (folder / "Caddyfile").write_text(CADDY.format(folder=folder, port=web_server.PORT), encoding="utf-8")
    return f"HOME={folder} exec caddy run --config {folder}/Caddyfile --adapter caddyfile"


def apache2(folder: Path) -> str:
    """Write Apache's file, and return the command that starts it."""
    text = APACHE.format(folder=folder, port=web_server.PORT, modules=APACHE_MODULES)
    (folder / "apache.conf").write_text(text, encoding="utf-8")
    return f"exec apache2 -d {folder} -f {folder}/apache.conf -D FOREGROUND"


def film(folder: Path) -> None:
    """Write HLS segments and a progressive film."""
    make = ["ffmpeg", "-y", "-v", "error", "-i", str(REPOSITORY / "media" / "test-clip.mp4"), "-t", "6", "-c", "copy"]
    www = folder / "www"
    subprocess.run([*make, "-hls_list_size", "0", str(www / "film.m3u8")], check=True)
    subprocess.run([*make, "-movflags", "faststart", str(www / "film.mp4")], check=True)


CLIENT = """
until [ -e applied ]; do sleep 0.1; done
curl -s -o received.mp4 {url}/film.mp4
cmp received.mp4 www/film.mp4
ffmpeg -v error -i {url}/film.m3u8 -c copy -f null -
touch done
for _ in $(seq 100); do [ ! -e after ] || exit 0; sleep 0.1; done
exit 1
"""
"""Fetches the progressive film, and then the segments."""


@pytest.fixture(scope="module")
def _allowed() -> None:
    probe = ["unshare", "--net", "ip", "link", "set", "lo", "up"]
    if not shutil.which("ffmpeg") or not shutil.which("curl"):
        pytest.skip("ffmpeg or curl is missing")
    done = subprocess.run(probe, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"this system gives no network namespace: {done.stderr.strip()}")


def has_fq() -> bool:
    """Return whether this kernel has the queueing discipline `fq`."""
    probe = ["unshare", "--net", "tc", "qdisc", "replace", "dev", "lo", "root", "fq"]
    return not subprocess.run(probe, capture_output=True, check=False).returncode


def commands(heading: str, folder: Path) -> list[str]:
    """Return the page's commands that this kernel has, with the files of the folder."""
    lines = web_server.page_block(heading)
    for place in BEFORE:
        lines = [line.replace(place, str(folder / place.rsplit("/", maxsplit=1)[1])) for line in lines]
    return [line for line in lines if has_fq() or "qdisc" not in line]


@pytest.mark.usefixtures("_allowed")
@pytest.mark.parametrize("start", [nginx, caddy, apache2], ids=lambda start: start.__name__)
def test_the_lines_reach_the_connections_of_a_web_server_and_are_undone(
    start: Callable[[Path], str], tmp_path: Path
) -> None:
    if not shutil.which(start.__name__):
        pytest.skip(f"{start.__name__} is missing (Debian: apt-get install {start.__name__})")
    tmp_path.chmod(0o755)
    (tmp_path / "www").mkdir()
    started = start(tmp_path)
    film(tmp_path)
    # The server runs already, as it does where the lines are typed.
    server = [
        f"({started}) > log 2>&1 &",
        f"until ss -Htln | grep -q :{web_server.PORT}; do sleep 0.1; done",
        f"{{ {STATE}; }} > before",
        *commands("Before", tmp_path),
        *commands("The six lines", tmp_path),
        f"{{ {STATE}; }} > applied.part; mv applied.part applied",
        "(while sleep 0.05; do ss -Htin state established; done) > sockets.txt &",
        "while [ ! -e done ]; do sleep 0.1; done",
        *commands("Undo", tmp_path),
        f"{{ {STATE}; }} > after.part; mv after.part after; sleep 60",
    ]
    client = CLIENT.format(url=f"http://{THERE}:{web_server.PORT}")
    web_server.emulated(tmp_path, server, ["sh", "-ec", f"cd {tmp_path}\n{client}"], loss="1%")
    before, applied, after = ((tmp_path / name).read_text(encoding="utf-8") for name in ("before", "applied", "after"))
    assert after == before
    for wanted in (
        "net.ipv4.tcp_congestion_control = bbr",
        "net.ipv4.tcp_notsent_lowat = 131072",
        "net.ipv4.tcp_slow_start_after_idle = 0",
        "initcwnd 20 rto_min lock 50ms",
        *(["qdisc fq"] if has_fq() else []),
    ):
        assert wanted in applied
    sockets = (tmp_path / "sockets.txt").read_text(encoding="utf-8")
    check_connections([line for line in sockets.splitlines() if " rto:" in line])


def check_connections(lines: list[str]) -> None:
    """Check what the kernel reports of the server's connections, whose round trip is 60 ms."""
    assert all(" bbr " in line for line in lines)
    new = [line for line in lines if "bytes_acked:" not in line]
    assert {value(line, "cwnd") for line in new} == {20}
    # By default it would be the round trip and 200 ms at least.
    assert min(value(line, "rto") for line in lines) < 200
    assert all("pacing_rate" in line for line in lines if "bytes_acked:" in line)
    # A server exceeds the limit by one write at most.
    assert max(value(line, "notsent") for line in lines) < 131072 + 2**18


def value(line: str, name: str) -> float:
    """Return a number of a line of `ss -tin`; 0 if it is not there."""
    found = re.search(rf"\b{name}:([0-9.]+)", line)
    return float(found[1]) if found else 0.0
