"""The page of `earlybird web` in a real browser, on a desk and on a phone: keys, files, and a screen reader's view."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import uvicorn

from browser import BROWSER, DESK, NO_BROWSER, PHONE, SLACK
from devtools import SHIFT, Tab, tab
from earlybird.web.app import application
from earlybird.web.server import listening, names

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)

MEASURED: Final = Path(__file__).parent / "measured"
QUICK: Final = "duration=20s&seeds=2"
ROLES: Final = ("button", "checkbox", "combobox", "link", "progressbar", "radio", "region", "textbox", "form", "image")

FOCUSABLE: Final = """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
  .filter((each) => each.type !== "hidden" && each.checkVisibility()).length"""

OVERLAPS: Final = """(() => {
  const shown = [];
  const LEFT_OUT = ".unseen, .skip, select, datalist, .scroll, pre";  // of what scrolls the layout is its own
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (!text.data.trim() || !parent.checkVisibility() || parent.closest(LEFT_OUT)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) shown.push([text.data.trim(), box]);
  }
  for (const each of document.querySelectorAll("input, select, button, img, progress"))
    if (each.checkVisibility() && each.type !== "hidden")
      shown.push([each.id || each.tagName, each.getBoundingClientRect(), each]);
  const found = [];
  shown.forEach(([text, one, element], place) => shown.slice(place + 1).forEach(([rest, other, holder]) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    const isOwn = holder?.tagName === "BUTTON" && holder.textContent.trim() === text;
    if (across > SLACK && down > SLACK && !isOwn) found.push(`${text} over ${rest}`);
  }));
  return found;
})()""".replace("SLACK", str(SLACK))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the page."""
    with listening("127.0.0.1", 0) as port:
        server = uvicorn.Server(uvicorn.Config(application(names("127.0.0.1")), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [port]})
        thread.start()
        yield f"http://127.0.0.1:{port.getsockname()[1]}/"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module", params=[DESK, PHONE])
def page(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """A page as wide as a desk's or a phone's screen."""
    with tab(tmp_path_factory.mktemp("profile")) as found:
        found.resize(request.param)
        yield found


def focused(page: Tab) -> str:
    """Return the id of the element with the focus."""
    return str(page.value("document.activeElement.id"))


def check_layout(page: Tab) -> None:
    """Check that nothing sticks out to the right, lies over something else or was complained of."""
    assert page.value("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.value(OVERLAPS) == []
    assert page.complaints() == []


def fill(page: Tab, **values: str) -> None:
    """Type into fields, which are reached by Tab."""
    page.value("document.activeElement.blur()")
    for name, text in values.items():
        for _ in range(60):
            if focused(page) == name:
                break
            page.press("Tab")
        assert focused(page) == name
        page.type(text)


def test_a_plan_is_made_with_the_keyboard(page: Tab, address: str) -> None:
    page.open(f"{address}?{QUICK}")
    check_layout(page)
    fill(page, bitrate="1Mb/s", rate="10Mb/s", rtt="40ms")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    page.wait("document.querySelector('#result img').complete")
    assert page.value("document.querySelector('#result img').naturalWidth > 200")
    assert str(page.value("document.querySelector('#result .answer').textContent")).startswith("Stay with cubic")
    assert str(page.value("document.getElementById('status').textContent")).startswith("Stay with cubic")
    assert focused(page) == "rtt", "the focus stays where it was"
    assert str(page.value("location.pathname")).startswith("/plans/")
    check_layout(page)
    page.do("Page.reload")
    page.wait("document.readyState === 'complete' && document.querySelector('#result table')")
    assert page.value("document.getElementById('rtt').value") == "40ms"


def test_the_film_as_viewers_see_it_plays_and_has_a_description(page: Tab, address: str) -> None:
    page.open(f"{address}?{QUICK.replace('20s', '5s')}")
    fill(page, bitrate="1Mb/s", rate="10Mb/s", rtt="40ms", watch="")
    page.press(" ")
    assert page.value("document.getElementById('watch').checked")
    page.press("Enter")
    page.wait("document.querySelector('#result video')?.readyState >= 2")
    assert page.value("document.querySelector('#result video').videoWidth") == 1280
    described = "document.getElementById(document.querySelector('#result video').getAttribute('aria-describedby'))"
    assert "Frozen pictures: cubic" in str(page.value(f"{described}.textContent"))
    check_layout(page)


def test_tab_reaches_everything_and_the_focus_is_seen(page: Tab, address: str) -> None:
    page.open(f"{address}?{QUICK}")
    page.value("document.querySelectorAll('details').forEach((each) => each.open = true)")
    page.value("window.seen = new Set(); document.activeElement.blur()")
    for _ in range(2 * int(page.value(FOCUSABLE))):
        page.press("Tab")
        page.value("window.seen.add(document.activeElement)")
        if page.value("document.activeElement === document.body"):
            break
        style = "getComputedStyle(document.activeElement)"
        assert page.value(f"{style}.outlineStyle !== 'none' && parseFloat({style}.outlineWidth) >= 2"), focused(page)
    assert page.value("window.seen.delete(document.body), window.seen.size") == page.value(FOCUSABLE)


def test_everything_has_a_name_for_screen_readers(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&rtt=40ms&{QUICK}")
    fill(page, loss="1%")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    page.value("document.querySelectorAll('details').forEach((each) => each.open = true)")
    nodes = [node for node in page.do("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    named = [(node["role"]["value"], text(node, "name"), text(node, "description")) for node in nodes]
    assert [one for one in named if one[0] in ROLES and not one[1]] == []
    fields = {name: description for role, name, description in named if role in ("textbox", "combobox")}
    assert fields["Round trip"] == "RTT without queueing delay, such as 60ms."
    assert {"Bit rate", "Goal", "Losses", "Profile", "Your sender today", "Other traffic"} <= fields.keys()
    groups = {name for role, name, _ in named if role == "group"}
    assert {"What you send", "The line to your viewers", "Senders"} <= groups
    assert "status" in {role for role, _, _ in named}


def text(node: dict[str, Any], key: str) -> str:
    """Return the name or the description of a node."""
    return str(node.get(key, {}).get("value", ""))


def test_an_error_takes_the_focus_to_its_field(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&{QUICK}")
    fill(page, loss="1%")
    page.press("Enter")
    page.wait("document.getElementById('rtt-error').textContent")
    page.wait("document.activeElement?.id === 'rtt'")
    assert page.value("document.getElementById('rtt').getAttribute('aria-invalid')") == "true"
    assert page.value("document.getElementById('rtt-error').checkVisibility()")
    check_layout_with_one_refusal(page)
    page.type("40ms")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    assert not page.value("document.getElementById('rtt').hasAttribute('aria-invalid')")
    assert page.value("document.getElementById('rtt-error').textContent") == ""


def check_layout_with_one_refusal(page: Tab) -> None:
    """Check the layout; Chromium logs that the form was refused."""
    refused = [text for text in page.complaints() if "422" in text]
    assert len(refused) == 1
    page.events.clear()
    check_layout(page)


def test_an_error_in_a_folded_field_unfolds_it(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&rtt=40ms&queue=much&{QUICK}")
    page.value("document.querySelectorAll('details').forEach((each) => each.open = false)")
    fill(page, loss="1%")
    page.press("Enter")
    page.wait("document.activeElement?.id === 'queue'")
    assert page.value("document.getElementById('queue').checkVisibility()")
    page.events.clear()


def test_a_dropped_measurement_counts(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&{QUICK}")
    page.drop("#measured", MEASURED / "ping-iputils.txt")
    page.wait("document.getElementById('measured').files.length === 1")
    fill(page, loss="1%")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    assert "ping: a round trip of 40.4 ms" in page.value("document.getElementById('result').textContent")
    assert page.value("document.getElementById('measured').files.length") == 1, "it is still there for the next plan"
    check_layout(page)


def test_a_plan_is_cancelled_with_the_keyboard(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&rtt=40ms&duration=300s&seeds=1000")
    fill(page, loss="1%")
    page.press("Enter")
    page.wait("document.querySelector('progress')?.value > 0")
    assert page.value("document.getElementById('status').textContent") == "The plan is being computed."
    page.value("document.querySelector('#result button').focus()")
    time.sleep(1.5)  # polls of the progress
    assert page.value("document.activeElement.textContent") == "Cancel", "polls leave the focus"
    check_layout(page)
    page.press("Enter")
    page.wait("document.getElementById('result').textContent.includes('Cancelled.')")
    assert page.value("document.getElementById('status').textContent") == "Cancelled."


def test_back_shows_the_plan_before(page: Tab, address: str) -> None:
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&rtt=40ms&{QUICK}")
    fill(page, loss="0")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    first = page.value("location.pathname")
    page.value("document.getElementById('rate').select(), document.getElementById('rate').focus()")
    page.type("8Mb/s")
    page.press("Enter")
    page.wait(f"location.pathname !== {first!r}")
    page.wait("document.getElementById('result').textContent.includes('over 8.00 Mb/s')")
    page.value("history.back()")
    page.wait(f"location.pathname === {first!r} && document.readyState === 'complete'")
    page.wait("document.getElementById('result')?.textContent.includes('over 10.00 Mb/s')")
    assert page.value("document.getElementById('rate').value") == "10Mb/s"


def test_the_skip_link_leads_to_the_answer(page: Tab, address: str) -> None:
    page.open(address)
    page.press("Tab")
    assert page.value("document.activeElement.textContent") == "Go to the answer"
    page.press("Enter")
    page.wait("document.activeElement.id === 'result'")
    page.press("Tab", SHIFT)
    assert focused(page) != "result"


def test_a_plan_is_made_without_scripts(page: Tab, address: str) -> None:
    page.do("Emulation.setScriptExecutionDisabled", value=True)
    page.open(f"{address}?bitrate=1Mb/s&rate=10Mb/s&rtt=40ms&{QUICK}")
    fill(page, loss="0")
    page.press("Enter")
    page.wait("document.querySelector('#result table')")
    assert page.value("document.getElementById('loss').value") == "0"
    check_layout(page)
    fill(page, rtt="none")
    page.press("Enter")
    page.wait("document.getElementById('rtt-error')?.textContent.startsWith('rtt = none: a time above zero')")
    page.wait("document.activeElement?.id === 'rtt'")
    page.events.clear()
    page.do("Emulation.setScriptExecutionDisabled", value=False)
