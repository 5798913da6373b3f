"""Headless Chromium: a page plays the film and reports the events of its player."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from earlybird.errors import EarlybirdError
from earlybird.testbed.stalls import stalls

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome")
OPTIONS: Final = (
    "--headless=new",
    "--no-sandbox",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
"""The link carries only the film, and the processor renders the pictures."""

PAGE: Final = """<!DOCTYPE html><meta charset="utf-8">
<body style="margin: 0"><video id="film" width="1280"></video><script>
const film = document.getElementById("film");
const now = () => (performance.timeOrigin + performance.now()) / 1000;
const events = [], pictures = [], ahead = [];
const tell = (error) => {
  events.push([now(), "told"]);
  const quality = film.getVideoPlaybackQuality();
  const seen = {error, events, pictures, ahead, dropped: quality.droppedVideoFrames, shown: quality.totalVideoFrames};
  fetch("/told", {method: "POST", body: JSON.stringify(seen)});
};
for (const kind of ["waiting", "playing", "ended"]) film.addEventListener(kind, () => events.push([now(), kind]));
film.addEventListener("ended", () => tell(null));
film.addEventListener("error", () => tell(film.error.message || "error " + film.error.code));
const seen = (time) => { pictures.push((performance.timeOrigin + time) / 1000); film.requestVideoFrameCallback(seen); };
film.requestVideoFrameCallback(seen);
setInterval(() => {
  const spans = film.buffered;
  if (spans.length) ahead.push([now(), spans.end(spans.length - 1) - film.currentTime]);
}, 1000);
setTimeout(() => tell(null), LIMIT);
film.src = ADDRESS;
events.push([now(), "began"]);
film.play().catch(() => {});
</script>"""


def watch(address: str, *, profile: str, limit_s: float) -> dict[str, Any]:
    """Play a film to its end or the limit, and report as all players, in monotonic seconds."""
    listening = Reporter(PAGE.replace("ADDRESS", json.dumps(address)).replace("LIMIT", str(round(1000 * limit_s))))
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    page = f"http://127.0.0.1:{listening.server_address[1]}/"
    command = [program() or PROGRAMS[0], *OPTIONS, f"--user-data-dir={profile}", page]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as browser:
        try:
            while not listening.has_reported.wait(0.1):
                if browser.poll() is not None:
                    raise EarlybirdError(f"Chromium ended with code {browser.returncode} before the film did.")
        finally:
            browser.kill()
    return report_of(listening.seen, time.time() - time.monotonic())


def program() -> str | None:
    """Find the browser."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def report_of(seen: dict[str, Any], offset: float) -> dict[str, Any]:
    """Convert the report of the page to the common format; `offset` is the clock less the monotonic one."""
    events = [(at - offset, kind) for at, kind in seen["events"]]
    marks = [(at, kind == "playing") for at, kind in events if kind in ("waiting", "playing")]
    return {
        "began": events[0][0],
        "ended": events[-1][0],
        "finished": any(kind == "ended" for _, kind in events),
        "error": seen["error"] and f"Chromium cannot play it: {seen['error']}",
        "pictures": [at - offset for at in seen["pictures"]],
        "frames_dropped": seen["dropped"],
        "stalls": stalls(marks, events[-1][0]),
        "late_pictures": None,
        "frames_skipped": None,
        "starvations": None,
        "sounds_late": None,
        "gaps": None,
        "buffer_s": max((seconds for _, seconds in seen["ahead"]), default=0.0),
    }


class Reporter(ThreadingHTTPServer):
    """A server on the near side, which serves the page and receives its reports."""

    daemon_threads = True

    def __init__(self, page: str) -> None:
        """Listen where only this side can connect."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.page = page.encode()
        self.seen: dict[str, Any] = {}
        self.has_reported = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: Reporter

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(self.server.page)))
        self.end_headers()
        self.wfile.write(self.server.page)

    def do_POST(self) -> None:
        self.server.seen = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.has_reported.set()

    def log_message(self, *arguments: object) -> None:
        pass
