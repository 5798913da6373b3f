"""Congestion controls of one's own, in Python and Rust: from the template to results, and their faults."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Finished

    Program = Callable[..., Finished]

CLIP = REPOSITORY / "media" / "test-clip.mp4"

BROKEN = REPOSITORY / "examples" / "broken-controls"

CONTROL = """
class Control:
    def __init__(self, setup):
        self.cwnd = setup.initial_window
{paced}
    def on_ack(self, sample):
        {on_ack}
    def on_loss(self, event):
        self.cwnd = max(self.cwnd / 2, 2)
    def on_rto(self):
        self.cwnd = 1
"""


def control(folder: Path, on_ack: str = "self.cwnd += sample.growth / self.cwnd", paced: str = "") -> Path:
    """Write a control in Python."""
    path = folder / "mine.py"
    path.write_text(CONTROL.format(on_ack=on_ack, paced=paced), encoding="utf-8")
    return path


def grid(*transports: str, seeds: int = 1) -> tuple[str, ...]:
    """Return the options of a sweep over transports and seeds."""
    return "--set", f"sweep.grid.transport={json.dumps(transports)}", "--set", f"sweep.seeds={seeds}"


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str, str], Path]:
    """Build the template in Rust with a replaced part; return the library."""

    def build(name: str, part: str = "", replacement: str = "") -> Path:
        from earlybird.control_templates import TEMPLATE

        folder = tmp_path_factory.mktemp(name) / name
        shutil.copytree(TEMPLATE, folder)
        for file in (folder / "Cargo.toml", *folder.glob("src/*.rs")):
            text = file.read_text(encoding="utf-8").replace("NAME", name)
            file.write_text(text.replace(part, replacement) if part else text, encoding="utf-8")
        return build_crate(folder)

    return build


def build_crate(folder: Path) -> Path:
    """Build a crate as the page tells; return the library."""
    if not shutil.which("cargo"):
        pytest.skip("needs cargo")
    subprocess.run(
        ["cargo", "build", "--release", "--offline", "--quiet", "--manifest-path", folder / "Cargo.toml"], check=True
    )
    return folder / "target" / "release" / f"lib{folder.name.replace('-', '_')}.so"


@pytest.mark.parametrize("language", ["python", "rust"])
def test_template_runs_in_all_commands_that_simulate(
    program: Program, small: Path, tmp_path: Path, language: str
) -> None:
    written = program("new", "--control", "mine.py" if language == "python" else "mine", "--json")
    assert written.code == 0, written.err
    found = json.loads(written.out)
    if language == "rust":
        build_crate(tmp_path / found["path"])
    plugin = ("--plugin", found["plugin"])
    assert "mine" in program("transports", *plugin).out
    assert program("validate", small, *plugin, "--set", "transport=mine-rack").code == 0
    runs = [program("run", small, *plugin, "--set", f"transport={name}", "--json") for name in ("mine", "mine-rack")]
    assert all(json.loads(run.out)["utilisation"] > 0 for run in runs), runs[0].err
    sweep = program("sweep", small, *plugin, *grid("mine-er", "sack"), "--jobs", "2")
    assert sweep.code == 0, sweep.err
    film = ("--media", CLIP, "--transport", "sack", "--transport", "mine-rack", "--pairs", "1", "--seeds", "2")
    compared = program("compare", *film, *plugin, "--json")
    assert compared.code == 0, compared.err
    assert "mine-rack" in compared.out
    planned = program("plan", CLIP, "--rate", "2Mb/s", "--rtt", "60ms", "--transport", "mine-rack", *plugin, "--json")
    assert planned.code == 0, planned.err
    assert "mine-rack" in planned.out


@pytest.mark.parametrize(
    ("on_ack", "paced", "message"),
    [
        (
            "raise ValueError('no')",
            "",
            r"mine\.py:7: raised ValueError: no in on_ack of control `mine` at .* s; allowed",
        ),
        ("self.cwnd = float('nan')", "", r"mine\.py: `NaN` is cwnd after on_ack .* allowed: 1 to \d+ segments"),
        ("self.cwnd = 0", "", r"mine\.py: `0` is cwnd after on_ack .* allowed: 1 to \d+ segments"),
        ("self.cwnd = 1e9", "", r"mine\.py: `1000000000` is cwnd after on_ack .* allowed: 1 to \d+ segments"),
        ("self.cwnd = 'ten'", "", r"mine\.py.*raised TypeError: must be real number, not str in on_ack"),
        (
            "self.pacing_rate = 0.0",
            "    pacing_rate = None",
            r"`0` is pacing_rate after on_ack .* allowed: none, or 0\.001",
        ),
        (
            "__import__('time').sleep(6)",
            "",
            r"took \d+\.\d s for \d calls of control `mine`; allowed: 5 s, and 1 ms for each",
        ),
        ("self.rest = list(range(10**12))", "", r"mine\.py:7: raised MemoryError in on_ack"),
    ],
)
def test_fault_of_a_control_ends_the_run_with_a_line(
    program: Program, small: Path, tmp_path: Path, on_ack: str, paced: str, message: str
) -> None:
    plugin = control(tmp_path, on_ack, paced)
    done = program("run", small, "--plugin", plugin, "--set", "transport=mine-rack")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert re.search(message, done.err), done.err


def test_runs_that_were_finished_before_a_fault_are_kept(program: Program, small: Path, tmp_path: Path) -> None:
    plugin = control(tmp_path, "raise ValueError('no')")
    given = ("--plugin", plugin, *grid("sack", "mine-rack"), "--jobs", "1", "--output", "kept")
    done = program("sweep", small, *given)
    assert done.code == 2
    assert "raised ValueError" in done.err
    assert len(list((tmp_path / "kept").iterdir())) >= 1


def test_result_of_an_older_build_is_not_taken_for_that_of_a_new_one(
    program: Program, small: Path, tmp_path: Path
) -> None:
    def rate(growth: float) -> object:
        plugin = control(tmp_path, f"self.cwnd += {growth} * sample.growth / self.cwnd")
        done = program("sweep", small, "--plugin", plugin, *grid("mine-rack"), "--output", "kept", "--json")
        return [run["utilisation"] for run in json.loads(done.out)]

    assert rate(0.01) != rate(1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("mine.so", "no library", r"mine\.so: is not a congestion control: .*; allowed: a library that"),
        ("mine.py", "x = 1", r"mine\.py has no congestion control; allowed: a class with on_ack, on_loss, on_rto and"),
        ("mine.py", "x = = 1", r"mine\.py:1: the file cannot be loaded: SyntaxError"),
        ("mine.py", "class A:\n  def on_ack(self, sample): ...", r"mine\.py: class A has no on_loss and no on_rto"),
        ("cubic.py", CONTROL.format(on_ack="pass", paced=""), r"cubic\.py: `cubic` is already the name of a transport"),
        (
            "my_rack.py",
            CONTROL.format(on_ack="pass", paced=""),
            r"my_rack\.py: `my-rack` is not a name for a congestion",
        ),
    ],
)
def test_file_that_is_no_control_is_refused(
    program: Program, small: Path, tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    done = program("run", small, "--plugin", tmp_path / name)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert re.search(message, done.err), done.err


def test_file_that_is_not_there_is_named(program: Program, small: Path) -> None:
    done = program("run", small, "--plugin", "nowhere.py")
    assert (done.code, done.err) == (2, "earlybird: cannot read the plugin nowhere.py: No such file or directory.\n")


@pytest.mark.parametrize("backend", ["live", "kernel"])
def test_real_time_refuses_a_loaded_control(program: Program, small: Path, tmp_path: Path, backend: str) -> None:
    given = ("--plugin", control(tmp_path), "--set", "transport=mine-rack", "--backend", backend)
    done = program("run", small, *given)
    assert done.code == 2
    assert f"backend: `{backend}` does not run control `mine`" in done.err


def test_results_do_not_depend_on_the_number_of_workers(program: Program, small: Path, tmp_path: Path) -> None:
    given = ("--plugin", control(tmp_path), *grid("mine-rack", "mine-er", seeds=3), "--json")
    found = [program("sweep", small, *given, "--jobs", jobs, "--output", f"with-{jobs}") for jobs in (1, 2)]
    one, two = ([{**run, "cpu_s": 0} for run in json.loads(each.out)] for each in found)
    assert len(one) == 12
    assert one == two


@pytest.mark.parametrize(
    ("part", "replacement", "message"),
    [
        (
            "self.cwnd += if",
            'panic!("no"); self.cwnd += if',
            r"panicked \(src/lib\.rs:\d+:\d+: no\) in on_ack of control",
        ),
        ("self.cwnd += if", "self.cwnd = f64::NAN; self.cwnd += if", r"`NaN` is cwnd after on_ack of control"),
        (
            "VERSION: u32 = 1",
            "VERSION: u32 = 2",
            r"has version 2 of the interface .*; allowed: version 1\. hint: copy src/abi",
        ),
    ],
)
def test_fault_of_a_library_ends_the_run_with_a_line(
    program: Program, small: Path, library: Callable[[str, str, str], Path], part: str, replacement: str, message: str
) -> None:
    plugin = library("faulty", part, replacement)
    done = program("run", small, "--plugin", plugin, "--set", "transport=faulty-rack")
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert re.search(message, done.err), done.err


def test_python_and_rust_templates_give_the_same_run(
    program: Program, small: Path, tmp_path: Path, library: Callable[..., Path]
) -> None:
    program("new", "--control", "one.py")
    runs = [
        program("run", small, "--plugin", plugin, "--set", f"transport={name}-rack", "--json")
        for name, plugin in (("one", tmp_path / "one.py"), ("two", library("two")))
    ]
    one, two = (json.loads(run.out) for run in runs)
    assert {key for key in one if one[key] != two[key]} <= {"cpu_s", "transport"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("no-backoff", "packets_at_persistent_loss"),
        ("no-backoff", "packets_without_feedback"),
        ("no-backoff", "loss_percent_by_buffer"),
        ("per-ack", "packets_at_persistent_loss"),
        ("per-ack", "loss_percent_by_buffer"),
        ("unfair-to-late", "late_starter_jain_index"),
    ],
)
def test_assessment_finds_the_fault_of_a_broken_control(program: Program, name: str, criterion: str) -> None:
    plugin = BROKEN / f"{name.replace('-', '_')}.py"
    given = ("--criterion", criterion, "--against", "cubic-rack", "--budget", "10s", "--json")
    found = program("assess", f"{name}-rack", "--plugin", plugin, *given)
    assert found.code == 0, found.err
    assert [row["comparison"] for row in json.loads(found.out)["criteria"]] == ["worse"]


@pytest.mark.slow
def test_assessment_finds_no_fault_in_the_template(program: Program) -> None:
    program("new", "--control", "mine.py")
    criteria = ("packets_at_persistent_loss", "packets_without_feedback", "late_starter_jain_index")
    given = [part for name in criteria for part in ("--criterion", name)]
    found = program("assess", "mine-rack", "--plugin", "mine.py", *given, "--against", "sack-rack", "--json")
    assert found.code == 0, found.err
    assert "worse" not in {row["comparison"] for row in json.loads(found.out)["criteria"]}


PAGE = REPOSITORY / "docs" / "own-control.md"


def test_control_on_the_page_is_the_template() -> None:
    template = REPOSITORY / "python" / "earlybird" / "templates" / "control" / "control.py.template"
    assert template.read_text(encoding="utf-8") in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_commands_of_the_page_work_in_their_order(program: Program, tmp_path: Path) -> None:
    lines = re.findall(r"^\$ (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(lines) == 9
    for line in lines:
        name, *given = shlex.split(line)
        if name == "cargo":
            build_crate(tmp_path / "quick")
            continue
        # All criteria take minutes; two show that the command is right.
        short = ["--criterion", "5.1.3"] if given[:2] == ["assess", "mine-rack"] else []
        done = program(*given, *short)
        assert done.code == 0, (line, done.err)
    assert (tmp_path / "mine.html").stat().st_size > (tmp_path / "mine.py").stat().st_size
