"""A page in Chromium that tests drive as a person does: by keys, by files, by what a screen reader is told."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from browser import BROWSER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPTIONS: Final = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
PATIENCE: Final = 120.0  # seconds that something may take to appear, however much else the machine does

KEYS: Final = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "ArrowDown": (40, "")}
"""Codes and texts of keys that are no letters (`KeyboardEvent.keyCode`)."""

SHIFT: Final = 8  # of the modifiers of `Input.dispatchKeyEvent`


class Tab:
    """The page, by the DevTools protocol over a pipe."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from, self._number, self._received = to_browser, from_browser, 0, b""
        self.events: list[dict[str, Any]] = []
        target = self._call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session: str | None = None
        self._session = self._call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")

    def do(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401, as of the protocol
        """Call a method, and return its result."""
        return self._call(method, parameters)

    def _call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])
            self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            assert select.select([self._from], [], [], PATIENCE)[0], "the browser does not answer"
            part = os.read(self._from, 1 << 20)
            assert part, "the browser has ended"
            self._received += part
        text, _, self._received = self._received.partition(b"\0")
        return dict(json.loads(text))

    def resize(self, width: int, height: int = 900) -> None:
        """Take the size of a screen."""
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def open(self, address: str) -> None:
        """Load a page to its end."""
        self.do("Page.navigate", url=address)
        self.wait(f"document.readyState === 'complete' && location.href.startsWith({json.dumps(address)})")

    def value(self, expression: str) -> Any:  # noqa: ANN401, as of JavaScript
        """Evaluate JavaScript."""
        found = self.do("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({condition})"):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.05)

    def press(self, key: str, modifiers: int = 0) -> None:
        """Press a key."""
        code, text = KEYS[key]
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.do("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.do("Input.dispatchKeyEvent", type="keyUp", **event)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.do("Input.insertText", text=text)

    def drop(self, selector: str, *files: Path) -> None:
        """Drop files onto an element."""
        element = f"document.querySelector({json.dumps(selector)})"
        self.value(f"void {element}.scrollIntoView({{behavior: 'instant', block: 'center'}})")
        box = self.value(f"{element}.getBoundingClientRect().toJSON()")
        x, y = (box["left"] + box["right"]) / 2, (box["top"] + box["bottom"]) / 2
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.do("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def screenshot(self, path: Path) -> None:
        """Save the whole page as PNG."""
        shot = self.do("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Return errors and warnings of scripts, of the policy of the page, and of addresses that do not exist."""
        entries = [event["params"]["entry"] for event in self.events if event.get("method") == "Log.entryAdded"]
        failed = [str(event["params"]) for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        return [f"{entry['text']} {entry.get('url', '')}" for entry in entries] + failed


@contextmanager
def tab(profile: Path) -> Iterator[Tab]:
    """Start a browser with one page."""
    (reads, to_browser), (from_browser, writes) = os.pipe(), os.pipe()
    command = f'exec "$0" "$@" 3< /dev/fd/{reads} 4> /dev/fd/{writes}'  # the browser reads from 3 and writes to 4
    browser = [str(BROWSER), *OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    with subprocess.Popen(
        ["sh", "-c", command, *browser],
        pass_fds=(reads, writes),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(reads)
        os.close(writes)
        try:
            yield Tab(to_browser, from_browser)
        finally:
            process.kill()
            os.close(to_browser)
            os.close(from_browser)
