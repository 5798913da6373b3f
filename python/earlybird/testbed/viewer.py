"""
The near side: a sound server and a player, in processes and files of their own, which end with this one.

    python -m earlybird.testbed.viewer REPORT DESCRIPTION

REPORT is the number of an open file, DESCRIPTION the play as JSON.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from earlybird.emulation import THERE
from earlybird.errors import EarlybirdError
from earlybird.testbed import chromium, vlc
from earlybird.testbed.server import FILM_PORT, TRANSFER_PORT

ADDRESS: Final = f"http://{THERE}:{FILM_PORT}/film.mp4"
OWN: Final = "/dev/shm"
"""Mount point of the play's own memory file system: it is on every Linux, and no one's files are below it."""
SOUND_SOCKET: Final = Path(OWN, "sound")
SOUND_SERVER: Final = (
    "pulseaudio",
    "-n",
    "--exit-idle-time=-1",
    "--daemonize=no",
    "--use-pid-file=false",
    "--disable-shm=true",
    "--load=module-null-sink",
    f"--load=module-native-protocol-unix socket={SOUND_SOCKET} auth-anonymous=1",
)
"""Players keep their time by a sink that plays into nothing; ALSA's and VLC's own dummies give no feedback."""
PATIENCE: Final = 10.0  # seconds in which the sound server has to be up


def wrapped(command: list[str]) -> list[str]:
    """Let a command run in PID and mount namespaces of its own, which end with it or with who started it."""
    apart = ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]
    # Ordinary users need a user namespace for this (user_namespaces(7)).
    apart += [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    own_files = ["sh", "-c", f'mount -t tmpfs tmpfs {OWN} && exec "$@"', "sh"]
    return ["setpriv", "--pdeathsig", "KILL", *apart, *own_files, *command]


def watch(play: dict[str, Any]) -> dict[str, Any]:
    """Play the film with the client that is asked for."""
    _listen_to_transfers(play["competing"])
    _start_sound()
    if play["client"] == "chromium":
        return chromium.watch(ADDRESS, profile=f"{OWN}/chromium", limit_s=play["limit_s"])
    return vlc.watch(ADDRESS, size=tuple(play["size"]), caching_ms=play["caching_ms"], limit_s=play["limit_s"])


def _start_sound() -> None:
    """Start the sound server, and wait for it; it ends with this process's namespace."""
    os.environ |= {"HOME": OWN, "TMPDIR": OWN, "XDG_RUNTIME_DIR": OWN, "PULSE_SERVER": f"unix:{SOUND_SOCKET}"}
    log_path = Path(OWN, "sound.log")
    with log_path.open("wb") as log:
        server = subprocess.Popen(SOUND_SERVER, stdout=log, stderr=log)
    end = time.monotonic() + PATIENCE
    while not SOUND_SOCKET.exists():
        if server.poll() is not None or time.monotonic() > end:
            last = " ".join(log_path.read_text(errors="replace").strip().splitlines()[-1:])
            raise EarlybirdError(f"there is no sound server: PulseAudio does not start ({last})")
        time.sleep(0.02)


def _listen_to_transfers(competing: dict[str, Any] | None) -> None:
    """Receive competing transfers, each in its own process."""
    for _ in range(competing["flows"] if competing else 0):
        multiprocessing.Process(target=_drain, daemon=True).start()


def _drain() -> None:
    with socket.create_connection((THERE, TRANSFER_PORT)) as connection:
        while connection.recv(1 << 18):
            pass


def main() -> None:
    """Write the report, or why there is none."""
    file, description = int(sys.argv[1]), json.loads(sys.argv[2])
    try:
        report = watch(description)
    except (EarlybirdError, OSError, ImportError) as error:
        report = {"error": str(error)}
    with suppress(BrokenPipeError):
        os.write(file, json.dumps(report).encode())
    os._exit(0)  # libraries with threads of their own are not waited for


if __name__ == "__main__":
    main()
