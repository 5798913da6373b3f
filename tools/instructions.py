"""
Count instructions, cache misses and mispredicted branches per packet, which do not depend on the machine's load.

Prints tables beside the committed ones, bench/instructions.toml, and fails where a case has become more expensive by
more than 3 %, unless another compiler counts; with ``--update`` writes that file anew. Needs valgrind; without it, says
so and does nothing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from earlybird.benchmark import CASES, CROWDS, TRANSPORTS_SCENARIO, Crowd
from generated import REPOSITORY

TABLE = REPOSITORY / "bench" / "instructions.toml"
PROGRAM = REPOSITORY / "target" / "release" / "examples" / "profile"
BUILD = ["cargo", "build", "--release", "--locked", "--package", "earlybird-experiment", "--example", "profile"]
TOLERANCE = 0.03

SLACK = 0.5  # misses per packet that are not worth a word, where there are next to none

SIMULATED = ["--branch-sim=yes", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=2097152,16,64"]
"""32 KiB nearby and 2 MiB behind, as one processor of many has them, whatever this one has."""

HEAD = """\
# What a packet of the bottleneck costs, counted by valgrind: `make instructions` compares, and fails at 3 % more;
# `make instructions UPDATE=1` writes this file. Another compiler counts differently: then nothing fails, and the
# numbers of that compiler before and after a change are to be compared.
compiler = "{compiler}"
"""

Counts = dict[str, dict[str, float]]  # counts per packet: by title, a number per case

INSTRUCTIONS, NEARBY, BEHIND = "instructions", "misses-beyond-32-KiB", "misses-beyond-2-MiB"
MISPREDICTED = "mispredicted-branches"  # by the predictor that valgrind simulates, with 16,384 two-bit counters


@dataclass(frozen=True)
class Case:
    """A scenario and how it is changed."""

    name: str
    scenario: str
    settings: tuple[str, ...] = ()


# Sixty thousand packets. Reading the scenario is some 3 % of what is counted.
LENGTH = "duration=20s"
COUNTED = (
    Case("ns2", CASES[0].scenario, (LENGTH,)),
    Case("rfc", CASES[0].scenario, (LENGTH, "endpoint.profile=rfc", "endpoint.mss=1000")),
    Case("cubic-rack", TRANSPORTS_SCENARIO, (LENGTH, "transport=cubic-rack")),
    Case("bbr-rack", TRANSPORTS_SCENARIO, (LENGTH, "transport=bbr-rack")),
    Case("dumbbell", CASES[1].scenario, (LENGTH,)),
)


def main() -> int:
    """Count, and compare or write."""
    if shutil.which("valgrind") is None:
        print("valgrind is missing, which counts instructions: apt-get install valgrind")
        return 0
    print("Instructions, cache misses and mispredictions are counted, which takes a minute.", file=sys.stderr)
    subprocess.run(BUILD, cwd=REPOSITORY, check=True)
    counts = counted()
    if "--update" in sys.argv:
        TABLE.write_text(table(counts), encoding="utf-8")
        return 0
    committed = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    dearer = compare(counts, committed)
    if dearer and committed["compiler"] != compiler():
        print(f"no failure: the table is of {committed['compiler']} (make instructions UPDATE=1 writes it anew)")
        return 0
    return 1 if dearer else 0


def counted() -> Counts:
    """Count all cases, and the misses of few and of many flows."""
    counts: Counts = {title: {} for title in (INSTRUCTIONS, NEARBY, BEHIND, MISPREDICTED)}
    for case in (*COUNTED, *map(crowded, CROWDS)):
        for title, count in per_packet(case).items():
            counts[title][case.name] = count
    return counts


def crowded(crowd: Crowd) -> Case:
    """Return the case of so many flows; what they take to begin is counted, which is more than later."""
    return Case(f"{crowd.flows}-flows", CASES[0].scenario, (*crowd.settings, f"duration={crowd.counted}"))


def per_packet(case: Case) -> dict[str, float]:
    """Return the cost of a run, its preparation included, per packet that left the bottleneck."""
    scenario = REPOSITORY / "scenarios" / case.scenario
    with tempfile.TemporaryDirectory() as folder:
        cachegrind = ["valgrind", "--tool=cachegrind", *SIMULATED, f"--cachegrind-out-file={Path(folder) / 'lines'}"]
        command = [*cachegrind, str(PROGRAM), str(scenario), "1", *case.settings]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    packets = number(r"bottleneck_packets\D+(\d+)", output)
    return {
        INSTRUCTIONS: round(number(r"I +refs: +([\d,]+)", output) / packets),
        NEARBY: round(number(r"D1 +misses: +([\d,]+)", output) / packets, 1),
        BEHIND: round(number(r"LLd misses: +([\d,]+)", output) / packets, 1),
        MISPREDICTED: round(number(r"Mispredicts: +([\d,]+)", output) / packets, 1),
    }


def number(pattern: str, text: str) -> int:
    """Return the number that a pattern finds, with commas or without."""
    found = re.search(pattern, text)
    if found is None:
        message = f"no {pattern!r} in:\n{text}"
        raise ValueError(message)
    return int(found[1].replace(",", ""))


def compare(counts: Counts, committed: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Print all tables, and give the cases that have become more expensive, or have no number to compare with."""
    dearer = [f"{title} of {name}" for title in counts for name in compared(title, counts, committed.get(title, {}))]
    if dearer:
        print(f"more than {TOLERANCE:.0%} above {TABLE.relative_to(REPOSITORY)}: {', '.join(dearer)}", file=sys.stderr)
    return dearer


def compared(title: str, counts: Counts, before: Mapping[str, float]) -> list[str]:
    """Print one table, and give its cases that have become more expensive."""
    print(f"\n{title + ' per packet':32}{'before':>8}{'now':>8}{'change':>9}")
    for name, count in counts[title].items():
        known = before.get(name, 0)
        change = f"{count / known - 1:+.1%}" if known else "new"
        print(f"{name:32}{known:8g}{count:8g}{change:>9}")
    return [name for name, count in counts[title].items() if count > (1 + TOLERANCE) * before.get(name, 0) + SLACK]


def compiler() -> str:
    """Return the compiler's name and version."""
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def table(counts: Counts) -> str:
    """Return the file's text."""
    tables = [
        "\n".join([f"[{title}]", *(f"{name} = {count:g}" for name, count in rows.items())]) + "\n"
        for title, rows in counts.items()
    ]
    return "\n".join([HEAD.format(compiler=compiler()), *tables])


if __name__ == "__main__":
    sys.exit(main())
