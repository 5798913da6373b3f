"""
A film by HTTP to VLC and Chromium, sent by `earlybird serve` or by this kernel's TCP.

The film's server is on the far side of the link, the player on the near one. `kernel-cubic`, or another congestion
control of this machine: the player connects to the server. Any other sender is a transport of `earlybird serve`, which
runs beside the server, so that neither the server nor the player is modified. Needs root, ffmpeg, nft, and what
`earlybird testbed check` lists.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earlybird.cache import cache_folder
from earlybird.emulation import THERE, emulate, link, network
from earlybird.errors import EarlybirdError
from earlybird.paths import shipped_file
from earlybird.quantities import parse_duration
from earlybird.testbed.film import FILMS
from earlybird.testbed.needs import check
from earlybird.testbed.server import FILM_PORT, Server
from earlybird.testbed.viewer import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping

CLIP = shipped_file("media", "test-clip.mp4")
KERNEL = "kernel-"
SIZE: Final = 640, 360  # of the film's pictures
LONGEST: Final = 3.0  # times of the film's length after which a play is stopped


def serve(film: str, sender: str) -> None:
    """Serve the film on the far side."""
    if sender.startswith(KERNEL):
        Server(Path(film), sender.removeprefix(KERNEL)).serve_forever()
        return
    # Behind loopback, so that no player reaches it but through the proxy.
    server = Server(Path(film), "cubic", "127.0.0.1")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"{THERE}:{FILM_PORT}"
    proxy = [sys.executable, "-m", "earlybird", "serve", "-q", "--listen", place, "--to", f"127.0.0.1:{FILM_PORT}"]
    subprocess.run([*proxy, "--transport", sender], check=False)


def watch(report: str, description: str) -> None:
    """Become the player on the near side, as soon as the film is there."""
    while True:
        with suppress(OSError), socket.create_connection((THERE, FILM_PORT), timeout=10):
            break
        time.sleep(0.1)
    file = os.open(report, os.O_WRONLY | os.O_CREAT)
    os.set_inheritable(file, True)  # noqa: FBT003, no keyword
    line = wrapped([sys.executable, "-m", "earlybird.testbed.viewer", str(file), description])
    os.execvp(line[0], line)


def measure(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Watch the film once."""
    client, sender = settings["player"], settings["over"]
    check({client})
    seconds = parse_duration(settings["duration"]) or 0.0
    delay = f"{500 * (parse_duration(settings['rtt']) or 0.0):g}ms"
    towards_server = link(rate=settings["rate"], delay=delay, queue="200kB")
    towards_player = link(rate=settings["rate"], delay=delay, queue="200kB", loss=str(settings["loss"]))
    viewer = {"client": client, "caching_ms": 1000, "competing": None, "size": SIZE, "limit_s": LONGEST * seconds + 30}
    me = [sys.executable, __file__]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        film = provide(settings["film-rate"], seconds)
        outcome = emulate(
            network(towards_server, towards_player),
            [*me, "watch", str(report), json.dumps(viewer)],
            servers=[[*me, "serve", str(film), sender]],
            seed=seed,
        )
        text = report.read_text() if report.exists() else ""
        seen = json.loads(text or '{"error": "the player has not started"}')
    if seen["error"]:
        raise EarlybirdError(f"{client} over {sender}: {seen['error']}.")
    there, back = outcome.summary["links"]
    return {
        **_of_player(seen),
        "link_packets_dropped": back["packets_dropped"],
        "link_bytes": there["bytes_out"] + back["bytes_out"],
        "emulator_added_delay_p99_s": outcome.summary["delay_added"]["p99_us"] / 1e6,
    }


def _of_player(seen: Mapping[str, Any]) -> dict[str, float]:
    pictures = [at - seen["began"] for at in seen["pictures"]]
    return {
        "player_startup_delay_s": pictures[0] if pictures else float("nan"),
        "player_stalls": len(seen["stalls"]),
        "player_stalled_s": sum(until - since for since, until in seen["stalls"]),
        # Chromium does not count them.
        "player_late_frames": seen["late_pictures"] or 0,
    }


def provide(rate: str, seconds: float) -> Path:
    """Return the film of this rate, which is made once: the clip with noise, whose pictures cost bits."""
    path = cache_folder(FILMS) / f"noise-{rate}-{seconds:g}s.mp4"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{os.getpid()}.{path.name}")
    loop = ["-stream_loop", "-1", "-i", str(CLIP), "-t", str(seconds)]
    noise = f"scale={SIZE[0]}:{SIZE[1]},noise=alls=40:allf=t"
    filters = ["-vf", noise, "-c:v", "libx264", "-preset", "ultrafast", "-g", "50", "-pix_fmt", "yuv420p"]
    rates = ["-b:v", rate, "-minrate", rate, "-maxrate", rate, "-bufsize", "1M", "-x264-params", "nal-hrd=cbr"]
    sound = ["-c:a", "aac", "-movflags", "+faststart"]
    subprocess.run(["ffmpeg", "-v", "error", *loop, *filters, *rates, *sound, str(unfinished)], check=True)
    unfinished.rename(path)
    return path


def main() -> None:
    """Be one of the processes of a run."""
    role, *arguments = sys.argv[1:]
    if role == "serve":
        serve(*arguments)
    else:
        watch(*arguments)


if __name__ == "__main__":
    main()
