"""Output on terminals of all kinds, and its latency."""

from __future__ import annotations

import io
import os
import pty
import re
import resource
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from rich.table import Table

from conftest import REPOSITORY, command
from earlybird.cli.streams import PLAIN, _plain_sign
from earlybird.console import Console
from earlybird.formatting import visible

if TYPE_CHECKING:
    from pathlib import Path

    from test_cli_input import Program


@pytest.mark.parametrize("line", [("run",), ("run", "--json"), ("validate",), ("sweep", "--jobs", "1")])
def test_an_ascii_terminal_gets_the_nearest_signs_and_no_traceback(
    small: Path, tmp_path: Path, line: tuple[str, ...]
) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "100"}
    small.write_text(small.read_text(encoding="utf-8").replace("two video", "zwei schöne video"), encoding="utf-8")
    arguments = command(line[0], small, *line[1:])
    done = subprocess.run(arguments, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr.decode("ascii").count("Traceback")) == (0, 0)
    assert done.stdout.decode("ascii")
    if line == ("run",):
        assert "T/u" in done.stdout.decode("ascii")
        assert "zwei schone video" in done.stdout.decode("ascii")


def test_every_sign_has_a_plain_form() -> None:
    assert all(plain.isascii() for plain in PLAIN.values())
    assert [_plain_sign(sign) for sign in "é─│█"] == ["e", "-", "|", "?"]


@pytest.mark.parametrize(
    "line",
    [
        ["-m", "earlybird", "study", "list"],
        ["-c", "from earlybird.cli.study_arguments import complete_name; assert complete_name('p')"],
    ],
    ids=["list", "completion"],
)
def test_studies_are_listed_in_less_than_a_second_of_processor_time(tmp_path: Path, line: list[str]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *line], cwd=tmp_path, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Twice the second, as other work on the machine makes caches cold.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2


def test_listing_studies_loads_none_of_what_evaluates_them() -> None:
    check = (
        "import sys; from earlybird.study import list_studies; list_studies(); "
        "print({'polars', 'scipy', 'vl_convert', 'numpy'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    "text", ["a[red]b", "[/]", "[/x]", ":smiley:", "a\x1b[31mb", "a\x9b2Jb", "\u202eabc", "a\x07b"]
)
def test_a_name_with_markup_or_control_characters_is_shown_as_it_is(text: str) -> None:
    output = io.StringIO()
    table = Table(text, title=text, caption=text)
    table.add_row(text)
    terminal = Console(file=output, force_terminal=True, color_system="truecolor", width=100)
    terminal.print(table)
    terminal.print(text)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", output.getvalue())
    assert shown.count(visible(text)) == 5
    assert visible(text).isprintable()


def test_an_error_about_a_name_sent_commands_to_the_terminal(earlybird: Program) -> None:
    finished = earlybird("run", "v\x1b[2J.toml")
    assert finished.code == 2
    assert r"v\x1b[2J.toml" in finished.err
    assert "\x1b" not in finished.err


def on_a_terminal(line: list[str], folder: Path, settings: dict[str, str]) -> str:
    """Return what a command writes on a terminal with 256 colours."""
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", **settings}
    written = bytearray()
    with subprocess.Popen(line, cwd=folder, env=environment, stdin=its, stdout=its, stderr=its) as process:
        os.close(its)
        with suppress(OSError):  # a terminal whose last writer has ended
            while some := os.read(ours, 1 << 16):
                written += some
    os.close(ours)
    assert process.returncode == 0
    return written.decode()


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colours_respect_no_color(tmp_path: Path, no_color: str, coloured: bool) -> None:  # noqa: FBT001
    """Colours are SGR 30 to 49 and 90 to 107 (ECMA-48); bold and faint remain (https://no-color.org)."""
    question = ["plan", "--bitrate", "1Mb/s", "--rate", "5Mb/s", "--rtt", "20ms", "--seeds", "2", "--duration", "30s"]
    text = on_a_terminal(command(*question), tmp_path, {"NO_COLOR": no_color})
    codes = {code for some in re.findall(r"\x1b\[([0-9;]*)m", text) for code in some.split(";")}
    assert bool({code for code in codes if code.isdigit() and int(code) >= 30}) is coloured
