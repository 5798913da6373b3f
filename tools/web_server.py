"""Measures what the six lines of docs/web-server.md do for HLS and progressive films, and prints the page's tables."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.emulation import HERE, THERE
from generated import REPOSITORY, row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PAGE: Final = REPOSITORY / "docs" / "web-server.md"
PORT: Final = 8080

SEGMENT: Final = 1_000_000  # bytes: two seconds of a film of 4 Mb/s
FILM: Final = 5_000_000
SEGMENTS: Final = 5
PERIOD: Final = 4.0  # seconds from one request of a segment to the next one, at least

LINK: Final = ("--rate", "20Mb/s", "--delay", "30ms", "--queue", "150kB")
LOSSES: Final = {"0%": 3, "1%": 10}
"""Share of the packets to viewers that is lost, and the runs of each variant."""

NGINX: Final = """
user root; daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; sendfile on; tcp_nopush on; keepalive_timeout 75s;
        server {{ listen {port}; root {folder}/www; }} }}
"""

CUBIC: Final = "ip route change $(ip -o route get fibmatch VIEWER) congctl cubic"
"""Today's congestion control for the viewer's route, as a namespace may not have every one as its default."""

COLUMNS: Final = {
    "first_s": "first segment",
    "idle_s": "segment after a pause",
    "start_s": "first 2 s of the film",
    "film_s": "whole film",
}


def page_block(heading: str, viewer: str = HERE) -> list[str]:
    """Return the commands of the page's shell block below a heading, for a viewer's address."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1]
    block = section.split("```sh\n", 1)[1].split("```", 1)[0]
    return [line.replace("VIEWER", viewer) for line in block.splitlines()]


def variants() -> dict[str, list[str]]:
    """Return the commands of each variant by name: today's server, each line by itself, and all of them."""
    lines = page_block("The six lines")
    usable = [line for line in lines if "qdisc" not in line]
    today = CUBIC.replace("VIEWER", HERE)
    single = {_name(line): [line] if "congestion_control" in line else [today, line] for line in usable}
    return {"today: cubic": [today], **single, "all lines": usable}


def _name(line: str) -> str:
    found = re.search(r"(net\.ipv4\.)?((tcp|initcwnd|rto_min)[a-z_]*[= ][0-9a-z]+)$", line)
    if found is None:
        raise ValueError(line)
    return f"`{found[2]}`"


def emulated(folder: Path, server: Sequence[str], client: Sequence[str], *, loss: str, seed: int = 1) -> float:
    """Run a client and a server of shell commands over a link; return the 99 % quantile of the added delay in ms."""
    script = folder / "server.sh"
    script.write_text("\n".join(["set -e", f"cd {folder}", *server, ""]), encoding="utf-8")
    lost = [] if loss == "0%" else ["--back-loss", loss]
    command = [sys.executable, "-m", "earlybird", "emulate", *LINK, *lost, "--seed", str(seed), "--json"]
    done = subprocess.run(
        [*command, "--server", f"sh {script}", "--", *client],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(json.loads(done.stdout)["delay_added"]["p99_us"]) / 1e3


def nginx(folder: Path) -> list[str]:
    """Write the files of a server, and return the command that starts nginx."""
    (folder / "www").mkdir(exist_ok=True)
    (folder / "www" / "segment.ts").write_bytes(os.urandom(SEGMENT))
    (folder / "www" / "film.mp4").write_bytes(os.urandom(FILM))
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=PORT), encoding="utf-8")
    return [f"exec nginx -c {folder}/nginx.conf"]


def run(commands: list[str], loss: str, seed: int) -> dict[str, float]:
    """Run one session of HLS and one of a progressive film; times in seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        watch = "(while sleep 0.05; do ss -Htin; done) > sockets.txt &"
        result = folder / "result.json"
        client = [sys.executable, __file__, "client", str(result)]
        late = emulated(folder, [*commands, watch, *nginx(folder)], client, loss=loss, seed=seed)
        unsent = re.findall(r"notsent:(\d+)", (folder / "sockets.txt").read_text(encoding="utf-8"))
        found: dict[str, float] = json.loads(result.read_text(encoding="utf-8"))
        return found | {"unsent_kb": max(map(int, unsent), default=0) / 1e3, "late_ms": late}


def client() -> dict[str, float]:
    """Fetch the segments over one connection, with pauses, and then the film over another one."""
    _wait_for_server()
    begun = time.monotonic()
    connection = http.client.HTTPConnection(THERE, PORT)
    _fetch(connection, "/segment.ts")
    first = time.monotonic() - begun
    later = []
    for _ in range(SEGMENTS - 1):
        time.sleep(max(PERIOD - (time.monotonic() - begun), 1.0))
        begun = time.monotonic()
        _fetch(connection, "/segment.ts")
        later.append(time.monotonic() - begun)
    begun = time.monotonic()
    film = http.client.HTTPConnection(THERE, PORT)
    film.request("GET", "/film.mp4")
    response = film.getresponse()
    response.read(SEGMENT)
    start = time.monotonic() - begun
    response.read()
    return {
        "first_s": first,
        "idle_s": float(np.median(later)),
        "start_s": start,
        "film_s": time.monotonic() - begun,
    }


def _fetch(connection: http.client.HTTPConnection, path: str) -> None:
    connection.request("GET", path)
    if len(connection.getresponse().read()) != SEGMENT:
        raise RuntimeError(f"{path} was cut off")


def _wait_for_server() -> None:
    for _ in range(100):
        try:
            http.client.HTTPConnection(THERE, PORT, timeout=1).connect()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server did not start")


def table(results: dict[str, list[dict[str, float]]]) -> Iterable[str]:
    """Write the results of one loss rate: medians, and the range in which eight of ten are."""
    yield row("", *COLUMNS.values(), "waits unsent at most")
    yield row(*["---"] * (len(COLUMNS) + 2))
    for name, runs in results.items():
        cells = [_cell([one[key] for one in runs]) for key in COLUMNS]
        unsent = max(one["unsent_kb"] for one in runs)
        yield row(name, *cells, f"{unsent:.0f} kB")


def _cell(values: list[float]) -> str:
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return f"{middle:.2f} s ({low:.2f}–{high:.2f})"


def measure(loss: str, number: int) -> None:
    """Run a number of sessions of each variant, three at a time, and print the table."""
    chosen = variants()
    # Variant by variant within a seed, so that a disturbance of the machine meets all of them.
    jobs = list(itertools.product(range(1, number + 1), chosen))
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda job: run(chosen[job[1]], loss, job[0]), jobs))
    results: dict[str, list[dict[str, float]]] = {name: [] for name in chosen}
    for (_, name), found in zip(jobs, done, strict=True):
        results[name].append(found)
    late = max(one["late_ms"] for one in done)
    print(f"\n{loss} lost; 99 % of the packets at most {late:.1f} ms late:\n", *table(results), sep="\n", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        Path(sys.argv[2]).write_text(json.dumps(client()), encoding="utf-8")
    else:
        for share, sessions in LOSSES.items():
            measure(share, sessions)
