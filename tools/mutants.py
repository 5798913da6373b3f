"""
Change the endpoint's rules one by one (`cargo mutants`) and say by folder how many changes its own tests notice.

``crates/tcp/mutants.toml`` lists the changes that no test can notice, with the reason for each; they do not count.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generated import REPOSITORY

SOURCES = Path("crates/tcp/src")
EQUALS = REPOSITORY / "crates" / "tcp" / "mutants.toml"  # changes that change nothing
RESULTS = REPOSITORY / "target" / "mutants"
"""Folder of the report of `cargo mutants`, the survivors with their differences included."""
TARGET = 0.95  # share of the changes that the tests have to notice

CAUGHT = ("CaughtMutant", "Timeout")


@dataclass(frozen=True)
class Mutant:
    """One change: what was done, in which line of which file."""

    file: str
    change: str
    code: str
    outcome: str

    @property
    def folder(self) -> str:
        """The room it is in, `send` or `policy/recovery`."""
        return str(Path(self.file).parent)

    def is_like(self, entry: dict[str, str]) -> bool:
        """Return whether an entry of the list of equal changes means this one."""
        return all(getattr(self, key) == entry[key] for key in ("file", "change", "code"))


def read_mutant(outcome: dict[str, Any]) -> Mutant:
    """Read one outcome of `cargo mutants`."""
    mutant = outcome["scenario"]["Mutant"]
    path = REPOSITORY / mutant["file"]
    code = path.read_text().splitlines()[mutant["span"]["start"]["line"] - 1].strip()
    change = mutant["name"].split(": ", 1)[1]
    return Mutant(str(Path(mutant["file"]).relative_to(SOURCES)), change, code, outcome["summary"])


def read_mutants(folder: Path) -> list[Mutant]:
    """Read what `cargo mutants` left, also where it was interrupted."""
    outcomes = json.loads((folder / "mutants.out" / "outcomes.json").read_text())["outcomes"]
    return [read_mutant(outcome) for outcome in outcomes if isinstance(outcome["scenario"], dict)]


def is_equal(mutant: Mutant, equals: Iterable[dict[str, str]]) -> bool:
    """Return whether no test could notice this change."""
    return any(mutant.is_like(entry) for entry in equals)


def table(mutants: Iterable[Mutant], equals: list[dict[str, str]]) -> str:
    """Count by folder what was caught; changes that do not compile or change nothing are left out."""
    counts: dict[str, Counter[str]] = {}
    for mutant in mutants:
        if mutant.outcome == "Unviable" or is_equal(mutant, equals):
            continue
        outcome = "caught" if mutant.outcome in CAUGHT else "missed"
        counts.setdefault(mutant.folder, Counter())[outcome] += 1
    total = sum(counts.values(), Counter())
    rows = [*sorted(counts.items()), ("all", total)]
    return "\n".join(
        ["folder                      caught  missed   score"]
        + [f"{folder:<26} {row['caught']:>7} {row['missed']:>7} {score(row):>7.1%}" for folder, row in rows]
    )


def score(row: Counter[str]) -> float:
    """Return the share that was caught."""
    return row["caught"] / max(row.total(), 1)


def survivors(mutants: Iterable[Mutant], equals: list[dict[str, str]]) -> list[Mutant]:
    """Return the changes that no test noticed, though one could."""
    return [mutant for mutant in mutants if mutant.outcome == "MissedMutant" and not is_equal(mutant, equals)]


def run(part: str, jobs: int) -> None:
    """Try one part of all changes."""
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True, check=False).returncode != 0:
        sys.exit("cargo-mutants is missing: cargo install cargo-mutants --locked")
    command = ["cargo", "mutants", "-p", "earlybird-tcp", "--no-times", "--shard", part, "--sharding", "round-robin"]
    subprocess.run([*command, "--jobs", str(jobs), "-o", str(RESULTS)], cwd=REPOSITORY, check=False)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", default="0/1", metavar="K/N", help="every N-th change from the K-th on; default: all")
    parser.add_argument("--jobs", type=int, default=2, help="changes tried at a time")
    parser.add_argument("--read", type=Path, metavar="DIR", help="only read what an earlier run left in this folder")
    options = parser.parse_args()
    if options.read is None:
        RESULTS.mkdir(parents=True, exist_ok=True)
        run(options.part, options.jobs)
    mutants = read_mutants(options.read or RESULTS)
    equals = tomllib.loads(EQUALS.read_text())["equal"]
    for mutant in survivors(mutants, equals):
        print(f"missed: {mutant.file}: {mutant.change}\n        {mutant.code}")
    print(table(mutants, equals))
    tried = [mutant for mutant in mutants if mutant.outcome != "Unviable" and not is_equal(mutant, equals)]
    if len(survivors(tried, equals)) > (1 - TARGET) * len(tried):
        sys.exit(f"fewer than {TARGET:.0%} of the changes were noticed")


if __name__ == "__main__":
    main()
