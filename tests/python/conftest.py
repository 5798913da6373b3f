"""Shared parts of the tests: a small scenario, and the program as a process of its own."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TextIO

import pytest
from hypothesis import settings

from earlybird.cli import main

# No deadline: the duration of an example depends on the load of the machine. The same tree has the same result.
settings.register_profile("earlybird", deadline=None, derandomize=True)
settings.register_profile("nightly", deadline=None, max_examples=2000)
settings.load_profile("earlybird")

REPOSITORY = Path(__file__).parents[2]

GOLDEN = REPOSITORY / "tests" / "golden"
"""Traces and tables of ns-2, compressed."""

HUNG = 600
"""Seconds after which a program that should have ended counts as hung, however much else the machine does."""

SMALL = """
title = "two video flows and two file transfers"
duration = "5s"

[parameters]
pairs = 2
transport = "sack"

[endpoint]
profile = "ns2"

[network.dumbbell]
bottleneck = { rate = "2Mb/s", delay = "15ms", queue = { packets = 20 } }
access = { rate = "10Mb/s", delay = "5ms" }

[[flows]]
name = "video"
count = "$pairs"
from = "left"
to = "right"
transport = "$transport"
application = { cbr = { rate = "300kb/s", packet = 1000 } }
start = { uniform = ["0s", "1s"] }

[[flows]]
name = "file"
count = "$pairs"
from = "left"
to = "right"
application = { bulk = {} }
start = { uniform = ["0s", "1s"] }

[sweep]
seeds = 2

[sweep.grid]
pairs = [1, 2]
"""


class Finished(NamedTuple):
    """The outcome of a process."""

    code: int
    out: str
    err: str


def golden(name: str) -> TextIO:
    """Open a golden CSV file by its path below `GOLDEN`, without its ending."""
    return gzip.open(GOLDEN / f"{name}.csv.gz", "rt", encoding="utf-8", newline="")


def command(*arguments: object) -> list[str]:
    """Return the command line that runs the program."""
    return [sys.executable, "-m", "earlybird", *map(str, arguments)]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file whose runs take a moment."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture
def earlybird(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Finished]:
    """Run the program's main function in an empty folder, on a terminal of 100 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["earlybird", *map(str, arguments)])
        with pytest.raises(SystemExit) as left:
            main()
        return Finished(int(left.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Finished]:
    """Run the program as a process of its own in an empty folder."""

    def run(*arguments: object) -> Finished:
        done = subprocess.run(
            command(*arguments), cwd=tmp_path, capture_output=True, text=True, timeout=HUNG, check=False
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


def store_bytes(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


Conforms = Callable[[str, str, str, str, str], None]


@pytest.fixture
def conforms() -> Conforms:
    """
    Note that an algorithm was compared with its source and agrees; call it after the last assertion.

    The arguments are area, algorithm, source, what was compared, and the result in numbers that depend neither on the
    machine nor on the time; `tools/conformance.py` makes a page of all notes.
    """

    def note(area: str, algorithm: str, source: str, compared: str, result: str) -> None:
        folder = os.environ.get("EARLYBIRD_CONFORMANCE")
        if folder is None:
            return
        line = {"area": area, "algorithm": algorithm, "source": source, "compared": compared, "result": result}
        name = hashlib.sha256("\0".join((area, algorithm, source, compared)).encode()).hexdigest()[:16]
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.json").write_text(json.dumps(line), encoding="utf-8")

    return note
