"""A browser without a window: what is seen of pages at the width of a desk's or of a phone's screen."""

from __future__ import annotations

import json
import re
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from conftest import HUNG
from earlybird.testbed.chromium import PROGRAMS, program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BROWSER = program()
NO_BROWSER = f"no browser is installed: none of {', '.join(PROGRAMS)}"

DESK, PHONE = 1440, 390
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--enable-logging=stderr",
    "--virtual-time-budget=30000",
    f"--window-size={DESK + 60},1000",
]

HARNESS = """<!DOCTYPE html><body><iframe id="page" style="border: 0; width: {width}px; height: 900px"></iframe>
<script>
const frame = document.getElementById("page");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
// Words that lie over each other, or stick out of their picture.
function flaws(picture, edge) {{
  const shown = [...picture.querySelectorAll("text")].filter((text) =>
    text.textContent.trim() && text.getClientRects().length
    && frame.contentWindow.getComputedStyle(text).visibility === "visible");
  const boxes = shown.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = boxes.filter(([, box]) => box.left < edge.left - 1 || box.right > edge.right + 1
    || box.top < edge.top - 1 || box.bottom > edge.bottom + 1).map(([text]) => "cut off: " + text);
  boxes.forEach(([text, one], place) => boxes.slice(place + 1).forEach(([rest, other]) => {{
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (across > {slack} && down > {slack}) found.push(text + " over " + rest);
  }}));
  return found;
}}
frame.onload = async () => {{
  const page = frame.contentDocument, root = page.documentElement;
  const figures = [...page.querySelectorAll("figure.plot")];
  for (let tries = 0; figures.length && root.dataset.plots !== "drawn" && tries < 400; tries++) await wait(50);
  // What is folded is looked at too, once it is known what was unfolded already.
  for (const each of page.querySelectorAll("details")) [each.wasOpen, each.open] = [each.open, true];
  for (let tries = 0; figures.some((figure) => !figure.dataset.points) && tries < 400; tries++) await wait(50);
  await wait(200);
  const plots = figures.map((figure) => {{
    const chart = figure.querySelector(".chart");
    const shapes = chart.querySelectorAll(".mark-symbol path, .mark-line path, .mark-rect path").length;
    const wide = chart.querySelector("svg, canvas")?.getBoundingClientRect().width;
    const fits = wide <= chart.clientWidth;
    const points = Number(figure.dataset.points);
    return {{ id: figure.id, points, shapes, fits, flaws: flaws(chart, chart.getBoundingClientRect()) }};
  }});
  for (const picture of page.querySelectorAll(".picture")) {{
    const drawn = (picture.shadowRoot ?? picture).querySelector("svg");
    plots.push({{ id: picture.id, flaws: flaws(drawn, drawn.getBoundingClientRect()) }});
  }}
  {script}
  const found = {{ plots, width: root.clientWidth, scroll: root.scrollWidth, filtered: frame.filtered }};
  document.body.textContent = JSON.stringify(found);
}};
frame.src = {address};
</script></body>"""
"""Shows a page in a frame of some width, and writes down what is seen in it."""

SLACK = 2
"""Pixels by which boxes of words may share room, as they are higher than letters."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder to this machine, and give its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


def seen(folder: Path, server: str, page: str, width: int, script: str = "") -> dict[str, Any]:
    """Load a page of a folder that is served, and tell what is seen; fail if one of its scripts does."""
    harness = folder / "harness.html"
    text = HARNESS.format(width=width, address=json.dumps(f"/{page}"), script=script, slack=SLACK)
    harness.write_text(text, encoding="utf-8")
    command = [str(BROWSER), *OPTIONS, "--dump-dom", f"{server}/{harness.name}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG, check=True)
    assert not re.findall(r".*CONSOLE.*", done.stderr)
    body = re.search(r"<body>(\{.*\})</body>", done.stdout, re.DOTALL)
    assert body, done.stdout[-1000:]
    return dict(json.loads(unescape(body[1])))
