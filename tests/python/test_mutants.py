"""The report of `make mutants` on changes that were noticed, missed, or did not compile."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
FILE = "crates/tcp/src/policy/rto/mod.rs"


def outcome(change: str, summary: str) -> dict[str, Any]:
    """Return an outcome as `cargo mutants` writes it."""
    mutant = {"name": f"{FILE}:1:9: {change}", "file": FILE, "span": {"start": {"line": 1, "column": 9}}}
    return {"scenario": {"Mutant": mutant}, "summary": summary}


def read(folder: Path, *outcomes: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """Let the tool read a report with these outcomes."""
    (folder / "mutants.out").mkdir()
    report = {"outcomes": [{"scenario": "Baseline", "summary": "Success"}, *outcomes]}
    (folder / "mutants.out" / "outcomes.json").write_text(json.dumps(report))
    command = [sys.executable, "tools/mutants.py", "--read", str(folder)]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)


def test_a_missed_change_is_named_with_its_line_and_the_score_is_too_low(tmp_path: Path) -> None:
    reported = read(tmp_path, outcome("replace > with >=", "MissedMutant"), outcome("delete !", "CaughtMutant"))
    first_line = (REPOSITORY / FILE).read_text().splitlines()[0]
    assert f"missed: policy/rto/mod.rs: replace > with >=\n        {first_line}" in reported.stdout
    assert "50.0%" in reported.stdout
    assert reported.returncode == 1


def test_a_change_that_never_ends_is_caught_and_one_that_does_not_compile_does_not_count(tmp_path: Path) -> None:
    reported = read(tmp_path, outcome("replace + with *", "Timeout"), outcome("replace f with 1", "Unviable"))
    assert reported.stdout.splitlines()[-1].split() == ["all", "1", "0", "100.0%"]
    assert reported.returncode == 0


def entries() -> list[dict[str, str]]:
    """Return the changes that no test can notice."""
    read: list[dict[str, str]] = tomllib.loads((REPOSITORY / "crates/tcp/mutants.toml").read_text())["equal"]
    return read


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: f"{entry['file']}: {entry['change']}")
def test_a_change_that_counts_as_equal_is_one_of_a_line_that_exists(entry: dict[str, str]) -> None:
    source = (REPOSITORY / "crates/tcp/src" / entry["file"]).read_text()
    assert entry["code"] in [line.strip() for line in source.splitlines()]
    place = re.search(r"(?: in |^replace )(?:<impl \w+ for (\w+)>|(\w+))::(\w+)", entry["change"])
    assert place is not None
    owner, function = place[1] or place[2], place[3]
    assert re.search(rf"^(?:pub.* )?(?:impl\b.*|trait )\b{owner}\b", source, re.MULTILINE)
    # Names are those of `cargo mutants`: the line lies in the body of the function, before the next one.
    bodies = re.split(rf"\bfn {function}\b", source)[1:]
    assert any(entry["code"] in re.split(r"\n    }\n", body)[0] for body in bodies)


def test_every_change_that_counts_as_equal_is_listed_once() -> None:
    assert len({tuple(entry.items()) for entry in entries()}) == len(entries())
