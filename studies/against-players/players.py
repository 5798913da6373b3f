"""
A film over a bad link in players that others wrote, carried by `earlybird transmit` and by plain TCP.

ffmpeg plays the film on the far side in real time. `earlybird-rt`, or any transport: it gives datagrams to a relay, and
a relay on the near side gives them to the player. `kernel-cubic`, or another congestion control of this machine: ffmpeg
serves the stream over the machine's TCP, and the player connects to it. The player's own buffer is `caching`; over
plain TCP it has the relays' latency on top, so that viewers are as far behind the source in both cases. Needs ffmpeg,
and VLC or mpv, of which both run without a screen.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from earlybird.emulation import THERE, emulate, link, network
from earlybird.errors import InputError
from earlybird.paths import shipped_file
from earlybird.quantities import parse_duration
from earlybird.testbed import vlc as testbed_vlc

if TYPE_CHECKING:
    from collections.abc import Mapping

CLIP = shipped_file("media", "test-clip.mp4")
ENTRY, MIDDLE, EXIT = 6000, 7000, 6001
KERNEL = "kernel-"
SIZE = 640, 360  # of the film's pictures


class Case(NamedTuple):
    """One player, and what carries its stream."""

    player: str
    over: str
    film: str
    seconds: float
    latency: int
    caching: int

    @property
    def relay(self) -> list[str]:
        """Return how a relay's command line begins."""
        return [sys.executable, "-m", "earlybird", "transmit", "-q"]

    def far(self, port: str) -> str:
        """Return the address of the link's relay."""
        return f"eb://{port}?insecure=1&latency={self.latency}&transport={self.over}"


def serve(case: Case) -> None:
    """Play the film on the far side."""
    film = ["ffmpeg", "-v", "error", "-re", "-stream_loop", "-1", "-t", str(case.seconds), "-i", case.film]
    film += ["-c", "copy", "-f", "mpegts"]
    if case.over.startswith(KERNEL):
        with socket.create_server(("", MIDDLE)) as listener:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, case.over.removeprefix(KERNEL).encode())
            viewer, _ = listener.accept()
            subprocess.run([*film, "pipe:1"], stdout=viewer.fileno(), check=False)
        return
    entry = f"udp://127.0.0.1:{ENTRY}"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # sent when the player has finished
    with subprocess.Popen([*case.relay, entry, case.far(f":{MIDDLE}")]) as relay:
        try:
            subprocess.run([*film, f"{entry}?pkt_size=1316"], check=False)
        finally:
            relay.terminate()


def watch(case: Case, report: Path) -> None:
    """Run the player on the near side, and write what it says of itself."""
    with ExitStack() as stack:
        source, caching = f"tcp://{THERE}:{MIDDLE}", case.caching + case.latency
        if not case.over.startswith(KERNEL):
            source, caching = f"udp://127.0.0.1:{EXIT}", case.caching
            relay = stack.enter_context(subprocess.Popen([*case.relay, case.far(f"{THERE}:{MIDDLE}"), source]))
            stack.callback(relay.terminate)
        time.sleep(1)  # until the server is up
        end = time.monotonic() + case.seconds - 2
        seen = {"vlc": vlc, "mpv": mpv}[case.player](source, caching, end)
    report.write_text(json.dumps(seen))


def _output_lines(command: list[str], end: float) -> list[tuple[float, str]]:
    """Run a player for a time; return its lines, each with the time at which it came."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as it:
        assert it.stdout is not None
        lines = []
        for line in it.stdout:  # both say something all the time
            lines.append((time.monotonic(), line))
            if time.monotonic() > end:
                break
        it.kill()
    return lines


def vlc(source: str, caching: int, end: float) -> dict[str, Any]:
    """Watch with VLC: it leaves out pictures that are too late, and waits longer when its buffer runs empty."""
    limit = end - time.monotonic()
    address = source.replace("udp://", "udp://@")
    seen = testbed_vlc.watch(address, size=SIZE, caching_ms=caching, limit_s=limit, sound="dummy")
    if seen["error"]:
        raise SystemExit(seen["error"])
    return {
        "player_startup_delay_s": seen["pictures"][0] - seen["began"] if seen["pictures"] else math.nan,
        "player_stalls": len(seen["stalls"]),
        "player_stalled_s": sum(until - since for since, until in seen["stalls"]),
        "player_late_frames": seen["late_pictures"],
        "player_buffer_s": seen["buffer_s"],
        "player_stream_gaps": seen["gaps"],
    }


def mpv(source: str, caching: int, end: float) -> dict[str, Any]:
    """Watch with mpv: it stalls until the buffer is full again when it has run empty."""
    state = "S ${time-pos/full} ${frame-drop-count} ${decoder-frame-drop-count} ${paused-for-cache}"
    options = ["--no-config", "--vo=null", "--ao=null", "--cache=yes", f"--cache-pause-wait={caching / 1e3}"]
    options += ["--cache-pause-initial=yes", "--msg-level=all=warn,statusline=status", f"--term-status-msg={state}"]
    lines = _output_lines(["mpv", *options, source], end)
    pattern = re.compile(r"S (\S+) (\d+) (\d+) (yes|no)")
    states = [(at, found) for at, line in lines if (found := pattern.search(line))]
    shown = [(at, found) for at, found in states if found[1] != "unavailable"]
    first = next((place for place, (_, found) in enumerate(shown) if found[4] == "no"), 0)
    stalled = [found[4] == "yes" for _, found in shown[first:]]
    times = [at for at, _ in shown[first:]]
    spans = [later - at for (at, later), is_stalled in zip(pairwise(times), stalled, strict=False) if is_stalled]
    return {
        "player_startup_delay_s": times[0] - lines[0][0] if times else math.nan,
        "player_stalls": sum(now and not before for before, now in pairwise(stalled)),
        "player_stalled_s": sum(spans),
        "player_late_frames": int(shown[-1][1][2]) + int(shown[-1][1][3]) if shown else 0,
        "player_buffer_s": math.nan,
        "player_stream_gaps": sum("Packet corrupt" in line for _, line in lines),
    }


def measure(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Watch the film once."""
    _check_programs(settings["player"])
    latency, caching, seconds = (parse_duration(settings[key]) or 0.0 for key in ("latency", "caching", "duration"))
    shape = link(rate=settings["rate"], delay=_half(settings["rtt"]), loss=str(settings["loss"]), queue="200kB")
    me = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as folder:
        report, film = Path(folder) / "report.json", Path(folder) / "film.ts"
        make_film(film, settings["film-rate"])
        case = Case(
            settings["player"], settings["over"], str(film), seconds, round(1e3 * latency), round(1e3 * caching)
        )
        outcome = emulate(
            network(shape, shape),
            [*me, "watch", json.dumps(case), str(report)],
            servers=[[*me, "serve", json.dumps(case)]],
            seed=seed,
        )
        seen = json.loads(report.read_text())
    there, back = outcome.summary["links"]
    return {
        **seen,
        "link_packets_dropped": there["packets_dropped"] + back["packets_dropped"],
        "link_bytes": back["bytes_out"],
        "emulator_added_delay_p99_s": outcome.summary["delay_added"]["p99_us"] / 1e6,
    }


def _half(rtt: str) -> str:
    return f"{500 * (parse_duration(rtt) or 0.0):g}ms"


def _check_programs(player: str) -> None:
    missing = [program for program in ("ffmpeg", player) if not shutil.which(program)]
    if missing:
        raise InputError(f"{', '.join(missing)} missing: apt-get install ffmpeg vlc-bin vlc-plugin-base mpv.")
    if player == "vlc" and not find_spec("vlc"):
        raise InputError("python-vlc missing: uv sync --extra testbed.")


def make_film(path: Path, rate: str) -> None:
    """Make a transport stream of this rate: the clip with noise, whose pictures cost bits."""
    noise = f"scale={SIZE[0]}:{SIZE[1]},noise=alls=40:allf=t"
    filters = ["-vf", noise, "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-an"]
    rates = ["-b:v", rate, "-minrate", rate, "-maxrate", rate, "-bufsize", "1M", "-x264-params", "nal-hrd=cbr"]
    subprocess.run(["ffmpeg", "-v", "error", "-i", CLIP, *filters, *rates, "-f", "mpegts", path], check=True)


def main() -> None:
    """Be one of the processes of a run."""
    role, case, *report = sys.argv[1:]
    if role == "serve":
        serve(Case(*json.loads(case)))
    else:
        watch(Case(*json.loads(case)), Path(*report))


if __name__ == "__main__":
    main()
