"""The site in a real browser: every page, on a desk and on a phone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from functools import cache, partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from conftest import HUNG
from earlybird.report.site import write_site
from earlybird.store import Store
from earlybird.study.evaluation import evaluate
from earlybird.study.execution import make_runs
from earlybird.study.loading import load
from earlybird.study.register import Entry, Register
from study_parts import small_study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Look = Callable[..., dict[str, Any]]
    from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)

pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser is installed: none of {', '.join(BROWSERS)}")

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

TRACED = """
[parts.traced]
scenario = "small.toml"
flows = "video"
deterministic = true
trace = true
propagation = 0.05
settings = { "measure.duplicates" = true }

[[grids]]
part = "traced"
scales = ["smoke"]
n = [2]
transport = ["sack-er"]
"""

KINDS = """
[[items]]
id = "S-2"
title = "Plots of single packets"
""" + "".join(
    f"""
[[items.plots]]
name = "{kind}"
title = "A plot of the kind {kind}"
kind = "{kind}"
part = "traced"
panels = {{ transport = ["sack-er"] }}
at = {{ n = 2 }}
"""
    for kind in ("ages", "age-history", "packets")
)

DOTS = """
[[items.plots]]
name = "dots"
title = "A row for each transport"
kind = "dots"
part = "traced"
metric = "rto"
x = { transport = ["sack-er"] }
lines = { n = [2] }
"""

HARNESS = """<!DOCTYPE html><body><iframe id="page" style="border: 0; width: {width}px; height: 900px"></iframe>
<script>
const frame = document.getElementById("page");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
frame.onload = async () => {{
  const page = frame.contentDocument, root = page.documentElement;
  const figures = [...page.querySelectorAll("figure.plot")];
  for (let tries = 0; figures.length && root.dataset.plots !== "drawn" && tries < 200; tries++) await wait(50);
  await wait(200);
  const plots = figures.map((figure) => {{
    const chart = figure.querySelector(".chart");
    const shapes = chart.querySelectorAll(".scatterlayer .trace path, .barlayer .point path").length;
    const wide = figure.querySelector(".main-svg")?.getBoundingClientRect().width;
    return {{ id: figure.id, points: Number(figure.dataset.points), shapes, fits: wide <= chart.clientWidth }};
  }});
  {script}
  const found = {{ plots, width: root.clientWidth, scroll: root.scrollWidth, filtered: frame.filtered }};
  document.body.textContent = JSON.stringify(found);
}};
frame.src = {address};
</script></body>"""

FILTER = """
  const form = page.getElementById("filters");
  form.elements.paper.value = "R";
  form.dispatchEvent(new frame.contentWindow.Event("input"));
  frame.filtered = [...page.querySelectorAll("#rows tr")].filter((row) => row.getClientRects().length)
    .map((row) => row.dataset.items);
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small study with a plot of every kind."""
    folder = tmp_path_factory.mktemp("site")
    study_folder = small_study(folder / "small-study")
    for file, more in (("study.toml", TRACED), ("items.toml", KINDS + DOTS)):
        path = study_folder / file
        path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    study, store = load(study_folder), Store(folder / "results")
    make_runs([study], "smoke", jobs=1, out=store.root)
    entries = (
        Entry("S-1", "Frozen time", "figure", study=study.name),
        Entry("S-2", "Packets", "figure", study=study.name),
        Entry("R-1", "The network", "figure", why="Documentation only."),
    )
    register = Register({"S": "A small paper", "R": "The rest"}, entries)
    page, _ = write_site(register, [study], {study.name: evaluate(study, "smoke", store)}, "smoke", folder / "site")
    return page.parent


@pytest.fixture(scope="module")
def server(site: Path) -> Iterator[str]:
    """Serve the site to this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


@pytest.fixture(scope="module")
def look_at(site: Path, server: str) -> Look:
    """Return a function that loads a page and fails if one of its scripts does; it loads each page once."""

    @cache
    def look(page: str, width: int, script: str = "") -> dict[str, Any]:
        harness = site / "harness.html"
        text = HARNESS.format(width=width, address=json.dumps(f"/{page}"), script=script)
        harness.write_text(text, encoding="utf-8")
        command = [str(BROWSER), *OPTIONS, "--dump-dom", f"{server}/{harness.name}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HUNG, check=True)
        assert not re.findall(r".*CONSOLE.*", done.stderr)
        body = re.search(r"<body>(\{.*\})</body>", done.stdout, re.DOTALL)
        assert body, done.stdout[-1000:]
        return dict(json.loads(unescape(body[1])))

    return look


@pytest.mark.parametrize("width", [DESK, PHONE])
@pytest.mark.parametrize("page", ["index.html", "small-study/index.html"])
def test_a_page_loads_without_a_failing_script_and_fits_its_width(look_at: Look, page: str, width: int) -> None:
    seen = look_at(page, width)
    assert seen["width"] == width
    assert seen["scroll"] <= seen["width"], "something sticks out to the right"


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_every_plot_has_data_and_shows_it(look_at: Look, width: int) -> None:
    plots = look_at("small-study/index.html", width)["plots"]
    names = ["frozen", "ages", "age-history", "packets", "dots"]
    assert [plot["id"] for plot in plots] == [f"plot-{name}" for name in names]
    for plot in plots:
        assert plot["points"] > 0, plot
        assert plot["shapes"] > 0, plot
        assert plot["fits"], plot


def test_the_verdict_table_can_be_filtered(look_at: Look) -> None:
    assert look_at("index.html", DESK, FILTER)["filtered"] == ["R-1"]
