"""Write docs/packetdrill.md from what the last runs of tools/packetdrill.py left: the endpoint beside the kernel."""

import json
import platform
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from generated import REPOSITORY
from packetdrill import OWN_SCRIPTS, RESULTS, expected_to_fail

PAGE = REPOSITORY / "docs" / "packetdrill.md"

HEAD = """# packetdrill

[packetdrill](https://github.com/google/packetdrill) runs scripts of system calls, packets and times against an
implementation of TCP. Its own suite, `gtests/net/tcp`, specifies Linux's behaviour. The endpoint runs the suite as a
shared library with Linux's socket API (`crates/packetdrill`), under a virtual clock. The suite is not part of this
repository:

    make packetdrill PACKETDRILL=<built checkout>

runs every script in a network namespace of its own, and fails if a script fails that is not listed below.
`python tools/packetdrill.py --kernel` runs the machine's kernel with its real clock. A script passes there if it
passes once in three runs; the numbers still vary by a few scripts with the load of the machine.
`python tools/packetdrill_page.py` writes this page from both results.
"""

OWN_HEAD = """
## The project's own scripts

In the same language, for the behaviour that the endpoint guarantees; `make test` runs them if packetdrill is installed.

| script | behaviour |
| --- | --- |
"""

FAILING_HEAD = """
## Scripts that are expected to fail

| script | why |
| --- | --- |
"""

Outcome = dict[str, Any]


def main() -> int:
    """Write the page."""
    endpoint, kernel = outcomes("endpoint"), outcomes("kernel")
    if not endpoint or not kernel:
        print("packetdrill: run tools/packetdrill.py first, with and without --kernel", file=sys.stderr)
        return 1
    PAGE.write_text("".join([HEAD, results(endpoint, kernel), failing(), own()]), encoding="utf-8")
    return 0


def outcomes(name: str) -> list[Outcome]:
    """Return the output of a run."""
    path = RESULTS / f"{name}.json"
    loaded: list[Outcome] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return loaded


def results(endpoint: list[Outcome], kernel: list[Outcome]) -> str:
    """Return the table of passed and run scripts by directory."""
    columns = [(group, version) for group in (endpoint, kernel) for version in ("ipv4", "ipv6")]
    counts = [count(group, version) for group, version in columns]
    release = platform.release().split("-")[0]
    lines = [
        "\n## Results\n",
        f"| directory | endpoint, IPv4 | IPv6 | Linux {release}, IPv4 | IPv6 |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    directories = sorted({directory for by_directory in counts for directory in by_directory} - {"all"})
    for directory in [*directories, "all"]:
        cells = (by_directory.get(directory) for by_directory in counts)
        shown = (f"{passed} of {run}" if run else "" for passed, run in ((cell or (0, 0)) for cell in cells))
        lines.append(f"| {directory} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def count(group: list[Outcome], version: str) -> dict[str, tuple[int, int]]:
    """Return passed and run scripts of one IP version by directory, and of all."""
    counted: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for outcome in group:
        if outcome["version"] == version:
            for key in (outcome["script"].split("/")[0], "all"):
                passed, run = counted[key]
                counted[key] = (passed + outcome["passed"], run + 1)
    return counted


def failing() -> str:
    """Return the table of scripts that are expected to fail."""
    rows = (f"| `{script}` | {reason} |\n" for script, reason in sorted(expected_to_fail().items()))
    return FAILING_HEAD + "".join(rows)


def own() -> str:
    """Return the table of the project's scripts, each with what its first lines say."""
    rows = (
        f"| [{path.stem}](../{path.relative_to(REPOSITORY)}) | {description(path)} |\n"
        for path in sorted(OWN_SCRIPTS.glob("*.pkt"))
    )
    return OWN_HEAD + "".join(rows)


def description(path: Path) -> str:
    """Return the comment that a script begins with."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.removeprefix("//").strip())
    return " ".join(lines)


if __name__ == "__main__":
    sys.exit(main())
