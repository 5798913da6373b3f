"""
Count what the simulator does for a packet, in instructions: they do not depend on the machine's mood, as time does.

Prints a table beside the committed one, bench/instructions.toml, and fails where a case has become more expensive by
more than 3 %, unless another compiler counts; with ``--update`` writes that file anew. Needs valgrind; without it, says
so and does nothing.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from generated import REPOSITORY

TABLE = REPOSITORY / "bench" / "instructions.toml"
PROGRAM = REPOSITORY / "target" / "release" / "examples" / "profile"
BUILD = ["cargo", "build", "--release", "--locked", "--package", "earlybird-experiment", "--example", "profile"]
TOLERANCE = 0.03

HEAD = """\
# Instructions per packet of the bottleneck, counted by callgrind: `make instructions` compares, and fails at 3 % more;
# `make instructions UPDATE=1` writes this file. Another compiler counts differently: then nothing fails, and the
# numbers of that compiler before and after a change are to be compared.
compiler = "{compiler}"
"""


@dataclass(frozen=True)
class Case:
    """A scenario and how it is changed."""

    name: str
    scenario: str
    settings: tuple[str, ...] = ()


# Sixty thousand packets. Reading the scenario is some 3 % of what is counted.
LENGTH = "duration=20s"
CASES = (
    Case("ns2", "bench-56-flows.toml"),
    Case("rfc", "bench-56-flows.toml", ("endpoint.profile=rfc", "endpoint.mss=1000")),
    Case("cubic-rack", "bench-transports.toml", ("transport=cubic-rack",)),
    Case("bbr-rack", "bench-transports.toml", ("transport=bbr-rack",)),
)


def main() -> int:
    """Count, and compare or write."""
    if shutil.which("valgrind") is None:
        print("valgrind is missing, which counts instructions: apt-get install valgrind")
        return 0
    subprocess.run(BUILD, cwd=REPOSITORY, check=True)
    counts = {case.name: instructions_per_packet(case) for case in CASES}
    if "--update" in sys.argv:
        TABLE.write_text(table(counts), encoding="utf-8")
        return 0
    committed = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    dearer = compare(counts, committed["instructions-per-packet"])
    if dearer and committed["compiler"] != compiler():
        print(f"no failure: the table is of {committed['compiler']} (make instructions UPDATE=1 writes it anew)")
        return 0
    return 1 if dearer else 0


def instructions_per_packet(case: Case) -> int:
    """Give the instructions of a run, its preparation included, by the packets that left the bottleneck."""
    scenario = REPOSITORY / "scenarios" / case.scenario
    with tempfile.TemporaryDirectory() as folder:
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={Path(folder) / 'calls'}"]
        command = [*callgrind, str(PROGRAM), str(scenario), "1", LENGTH, *case.settings]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return round(number(r"Collected : (\d+)", told) / number(r"bottleneck_packets\D+(\d+)", told))


def number(pattern: str, text: str) -> int:
    """Give the number that a pattern finds."""
    found = re.search(pattern, text)
    if found is None:
        message = f"no {pattern!r} in:\n{text}"
        raise ValueError(message)
    return int(found[1])


def compare(counts: dict[str, int], before: dict[str, int]) -> list[str]:
    """Print both tables, and give the cases that have become more expensive, or have no number to compare with."""
    print(f"{'case':12}{'before':>8}{'now':>8}{'change':>9}")
    for name, count in counts.items():
        known = before.get(name, 0)
        change = f"{count / known - 1:+.1%}" if known else "new"
        print(f"{name:12}{known:8}{count:8}{change:>9}")
    dearer = [name for name, count in counts.items() if count > (1 + TOLERANCE) * before.get(name, 0)]
    if dearer:
        print(f"more than {TOLERANCE:.0%} above {TABLE.relative_to(REPOSITORY)}: {', '.join(dearer)}", file=sys.stderr)
    return dearer


def compiler() -> str:
    """Give the compiler's name and version."""
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def table(counts: dict[str, int]) -> str:
    """Give the file's text."""
    rows = [f"{name} = {count}" for name, count in counts.items()]
    return "\n".join([HEAD.format(compiler=compiler()), "[instructions-per-packet]", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
