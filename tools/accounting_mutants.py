"""
Change the code that counts in fifty places, and say what noticed each change: the invariants or the second computation.

All changes are built into one copy of the repository, where an environment variable chooses one of them: a build of
each would take hours.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from generated import REPOSITORY

TARGET: Final = REPOSITORY / "target"
COPY: Final = TARGET / "accounting-mutants"
CHOSEN: Final = "EARLYBIRD_ACCOUNTING_CHANGE"
CASES: Final = "60"
"""Drawn scenarios of the test of invariants: the first ones have all queues and applications."""

SEEDS: Final = ("-1", "23", "7", "22", "14", "2", "5", "0")
"""Scenarios of the second computation, small ones first."""

SWITCH: Final = f"""
/// Returns whether the environment chooses this change.
pub(crate) fn is_changed(number: u32) -> bool {{
    static CHOSEN: std::sync::OnceLock<Option<u32>> = std::sync::OnceLock::new();
    let read = || std::env::var("{CHOSEN}").ok().and_then(|text| text.parse().ok());
    *CHOSEN.get_or_init(read) == Some(number)
}}
"""


def main() -> int:
    """Print what noticed each change; return 1 if one went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, help="changes to try (default: all)")
    numbers = parser.parse_args().numbers
    listed = changes()
    build(listed)
    assert noticed_by(0) is None, "a deviation without a change"
    found = {number: noticed_by(number) for number in show(numbers or range(1, len(listed) + 1), listed)}
    print(f"noticed: {sum(by is not None for by in found.values())} of {len(found)}")
    return int(None in found.values())


def changes() -> list[dict[str, str]]:
    """Return the changes; the first one has the number 1."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    listed: list[dict[str, str]] = tomllib.loads(text)["change"]
    return listed


def build(listed: list[dict[str, str]]) -> None:
    """Build the test of the invariants and the extension with all changes."""
    if not COPY.exists():
        run("git", "worktree", "add", "--force", "--detach", str(COPY), "HEAD", cwd=REPOSITORY)
    run("git", "checkout", "--force", "--detach", commit(), cwd=COPY)
    for number, change in enumerate(listed, start=1):
        path = COPY / change["file"]
        path.write_text(changed(path.read_text(encoding="utf-8"), number, change), encoding="utf-8")
    for crate in ("sim", "experiment"):
        with (COPY / "crates" / crate / "src" / "lib.rs").open("a", encoding="utf-8") as file:
            file.write(SWITCH)
    run("cargo", "test", "--locked", "-p", "earlybird-experiment", "--test", "invariants", "--no-run", cwd=COPY)
    run("cargo", "build", "--locked", "-p", "earlybird-py", cwd=COPY)
    shutil.copy(TARGET / "debug" / "lib_core.so", COPY / "python" / "earlybird" / "_core.abi3.so")


def commit() -> str:
    """Return the commit of the repository."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def changed(text: str, number: int, change: dict[str, str]) -> str:
    """Return a file with both versions of an expression or of statements."""
    old, new = change["old"], change["new"]
    place = change.get("within", old)
    assert text.count(place) == 1, f"{change['file']}: {place!r} is there {text.count(place)} times"
    both = f"if crate::is_changed({number}) {{ {new} }} else {{ {old} }}"
    is_statement = old.endswith(";")
    # Functions that read the environment are not constant.
    text = text.replace("const fn", "fn")
    return text.replace(place, place.replace(old, both if is_statement else f"({both})"))


def noticed_by(number: int) -> str | None:
    """Return what noticed a change, if something did."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(TARGET),
        CHOSEN: str(number),
        "PROPTEST_CASES": CASES,
        "PYTHONPATH": os.pathsep.join([str(COPY / "python"), str(COPY / "tests" / "python")]),
    }
    test = ["cargo", "test", "--locked", "-q", "-p", "earlybird-experiment", "--test", "invariants", "drawn"]
    if not succeeds(test, environment):
        return "invariants"
    with tempfile.TemporaryDirectory() as folder:
        for seed in SEEDS:
            compared = [sys.executable, "-m", "recomputation", seed, str(int(seed) + 1)]
            if not succeeds(compared, environment | {"TMPDIR": folder}):
                return f"second computation, scenario {seed}"
    return None


def succeeds(command: list[str], environment: dict[str, str]) -> bool:
    """Return whether a command succeeds."""
    return subprocess.run(command, cwd=COPY, env=environment, check=False, capture_output=True).returncode == 0


def show(numbers: Iterable[int], listed: list[dict[str, str]]) -> Iterator[int]:
    """Yield the numbers, each after its name was printed."""
    for number in numbers:
        print(f"{number:3} {listed[number - 1]['name']}", flush=True)
        yield number


def run(*command: str, cwd: Path) -> None:
    """Run a command that must succeed."""
    # Dependencies that do not change are built once.
    subprocess.run(command, cwd=cwd, env=os.environ | {"CARGO_TARGET_DIR": str(TARGET)}, check=True)


if __name__ == "__main__":
    sys.exit(main())
