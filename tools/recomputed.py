"""Write docs/recomputed.md: how each column of the results is computed a second time, and how far that deviates."""

import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from earlybird.metrics import Entry, sections, tables
from generated import REPOSITORY, row, write_or_check

sys.path.insert(0, str(REPOSITORY / "tests" / "python"))
from recomputation import compare, draw, runs

TARGET = REPOSITORY / "docs" / "recomputed.md"

SEEDS = range(16)
"""Drawn scenarios of the page."""

HEAD = f"""\
# Results computed a second time

Written by `make recomputed`. The program `tests/python/recomputation` computes the tables of a run a second time. It
reads the scenario's file and what `earlybird run` writes with `--pcap`, `--trace-out` and `--link-trace-out`, and uses
no code of the package. `make test` compares some drawn scenarios, `make nightly` more. The scenarios have one to three
bottlenecks in a row, all queue disciplines, losses, rates that change, traces of opportunities, TCP of the three
profiles, UDP, web traffic, and viewers.

The largest deviation is that of {len(SEEDS)} scenarios, in the unit of the column, rounded up to a power of ten. Traces
have times in microseconds, which is what most deviations come from. The computed value of a column that is marked ≥ is
a lower bound.
"""


def main() -> int:
    """Write the page, or with ``--check`` compare all but the deviations; return the exit code."""
    seen = deviations_of_page() if "--check" in sys.argv else largest_deviations()
    return write_or_check(TARGET, "\n".join(page(seen)), "make recomputed")


def page(seen: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """Yield the sections of the page."""
    yield HEAD
    yield section("The summary", "summary", sections()["summary"].entries, seen)
    for name, table in tables().items():
        if name in compare.described():
            yield section(f"Table `{name}`", name, table.entries, seen)


def section(title: str, table: str, entries: Mapping[str, Entry], seen: Mapping[tuple[str, str], str]) -> str:
    """Describe the columns of a table: first those that are computed, then the others."""
    described = compare.described()[table]
    computed = [
        row(f"`{name}`", entry.definition, sign(described[name]) + described[name]["how"], seen.get((table, name), "–"))
        for name, entry in entries.items()
        if "how" in described[name]
    ]
    others = [row(f"`{name}`", described[name]["reason"]) for name in entries if "reason" in described[name]]
    text = f"## {title}\n\n"
    if computed:
        head = ["| column | definition | computed from | largest deviation |", "|---|---|---|---|"]
        text += "\n".join([*head, *computed]) + "\n"
    if others:
        text += "\n" * bool(computed) + "\n".join(["| not computed | reason |", "|---|---|", *others]) + "\n"
    return text


def sign(described: Mapping[str, object]) -> str:
    """Return the mark of a lower bound."""
    return "≥ " if described.get("bound") else ""


def largest_deviations() -> dict[tuple[str, str], str]:
    """Compare the drawn scenarios and return the largest deviation of each column."""
    largest: dict[tuple[str, str], float] = defaultdict(float)
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            for one in compare.deviations(runs.run(draw.scenario(seed), seed, Path(folder))):
                largest[one.table, one.column] = max(largest[one.table, one.column], one.size)
    return {key: in_words(size) for key, size in largest.items()}


def in_words(size: float) -> str:
    """Round a deviation up to a power of ten."""
    if size == 0:
        return "0"
    return next((f"{10.0**power:g}" for power in range(-12, 9) if size <= 10.0**power), "∞")


def deviations_of_page() -> dict[tuple[str, str], str]:
    """Return the deviations that the page has."""
    found, table = {}, ""
    for line in TARGET.read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"## (?:Table `(.*)`|The summary)", line):
            table = heading[1] or "summary"
        elif cells := re.fullmatch(r"\| `(\w+)` \|.*\| ([^|]+) \|", line):
            found[table, cells[1]] = cells[2]
    return found


if __name__ == "__main__":
    sys.exit(main())
