"""
Watch a film over a bad link with players that others wrote, carried by `earlybird transmit` and by plain TCP.

    python tools/against_players.py --players vlc mpv --over earlybird-rt kernel-cubic --seconds 60

ffmpeg plays the film on the far side in real time. `earlybird-rt`, or any transport: it gives datagrams to a relay, and
a relay on the near side gives them to the player. `kernel-cubic`, or another congestion control of this machine: ffmpeg
serves the stream over the machine's TCP, and the player connects to it. The player's own buffer is `--caching`; over
plain TCP it has the relays' latency on top, so that viewers are as far behind the source in both cases. Needs ffmpeg,
and VLC or mpv, of which both run without a screen.
"""

from __future__ import annotations

import argparse
import json
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
from typing import Any, NamedTuple

from earlybird.emulation import THERE, emulate, link, network
from earlybird.testbed import vlc as testbed_vlc

CLIP = Path(__file__).parent.parent / "media" / "test-clip.mp4"
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
        return f"eb://{port}?latency={self.latency}&transport={self.over}"


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
        "start_s": seen["pictures"][0] - seen["began"] if seen["pictures"] else None,
        "stalls": len(seen["stalls"]),
        "stalled_s": sum(until - since for since, until in seen["stalls"]),
        "late_frames": seen["late_pictures"],
        "buffer_ms": round(1000 * seen["buffer_s"]),
        "gaps": seen["gaps"],
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
        "start_s": times[0] - lines[0][0] if times else None,
        "stalls": sum(now and not before for before, now in pairwise(stalled)),
        "stalled_s": sum(spans),
        "late_frames": int(shown[-1][1][2]) + int(shown[-1][1][3]) if shown else 0,
        "gaps": sum("Packet corrupt" in line for _, line in lines),
    }


def run(case: Case, rate: str, rtt: float, loss: str) -> dict[str, Any]:
    """Watch the film once."""
    shape = link(rate=rate, delay=f"{rtt / 2}ms", loss=loss, queue="200kB")
    me = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        outcome = emulate(
            network(shape, shape),
            [*me, "watch", json.dumps(case), str(report)],
            servers=[[*me, "serve", json.dumps(case)]],
        )
        seen = json.loads(report.read_text())
    there, back = outcome.summary["links"]
    return {
        "player": case.player,
        "over": case.over,
        **seen,
        "lost_packets": there["packets_dropped"] + back["packets_dropped"],
        "megabytes": back["bytes_out"] / 1e6,
        "emulator_p99_us": outcome.summary["delay_added"]["p99_us"],
    }


def make_film(path: Path, rate: str) -> None:
    """Make a transport stream of this rate: the clip with noise, whose pictures cost bits."""
    noise = f"scale={SIZE[0]}:{SIZE[1]},noise=alls=40:allf=t"
    filters = ["-vf", noise, "-c:v", "libx264", "-preset", "veryfast", "-g", "50", "-an"]
    rates = ["-b:v", rate, "-minrate", rate, "-maxrate", rate, "-bufsize", "1M", "-x264-params", "nal-hrd=cbr"]
    subprocess.run(["ffmpeg", "-v", "error", "-i", CLIP, *filters, *rates, "-f", "mpegts", path], check=True)


def main() -> None:
    """Run all cases and print a line for each."""
    if sys.argv[1:2] == ["serve"]:
        return serve(Case(*json.loads(sys.argv[2])))
    if sys.argv[1:2] == ["watch"]:
        return watch(Case(*json.loads(sys.argv[2])), Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", nargs="+", choices=["vlc", "mpv"], default=["vlc", "mpv"])
    parser.add_argument("--over", nargs="+", default=["earlybird-rt", f"{KERNEL}cubic"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", default="20M", help="of the link, bits per second")
    parser.add_argument("--rtt", type=float, default=100, help="milliseconds")
    parser.add_argument("--loss", default="2%", help="each way")
    parser.add_argument("--film-rate", default="3M", help="bits per second")
    parser.add_argument("--latency", type=int, default=400, help="milliseconds, of the relays")
    parser.add_argument("--caching", type=int, default=300, help="milliseconds, of the player")
    wanted = parser.parse_args()
    missing = [program for program in ("ffmpeg", *wanted.players) if not shutil.which(program)]
    if missing:
        parser.error(f"{', '.join(missing)} missing: apt-get install ffmpeg vlc-bin vlc-plugin-base mpv")
    if "vlc" in wanted.players and not find_spec("vlc"):
        parser.error("python-vlc missing: uv sync --extra testbed")
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.ts"
        make_film(film, wanted.film_rate)
        for player in wanted.players:
            for over in wanted.over:
                case = Case(player, over, str(film), wanted.seconds, wanted.latency, wanted.caching)
                print(json.dumps(run(case, wanted.rate, wanted.rtt, wanted.loss)), flush=True)
    return None


if __name__ == "__main__":
    main()
