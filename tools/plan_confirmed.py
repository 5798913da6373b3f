"""
Share of a hundred sessions that confirm the recommendation of `earlybird plan`.

For each of twenty lines and films the plan is made as for a user; then a hundred sessions of each sender are played
with seeds that no plan used. A recommendation is confirmed if the sender would be chosen again, and holds if none of
the others is noticeably quicker than it.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any, Final

from earlybird.planning.planner import PlanRequest, plan
from earlybird.planning.selection import is_noticeably_longer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.planning.planner import Plan

CASES: Final[Sequence[dict[str, Any]]] = (
    {"bitrate": "300kb/s", "rate": "1Mb/s", "rtt": "60ms", "loss": "1%"},
    {"bitrate": "300kb/s", "rate": "5Mb/s", "rtt": "200ms", "loss": "2%"},
    {"bitrate": "500kb/s", "rate": "2Mb/s", "rtt": "40ms", "loss": "0.1%"},
    {"bitrate": "500kb/s", "rate": "10Mb/s", "rtt": "120ms", "loss": "1%"},
    {"bitrate": "1Mb/s", "rate": "4Mb/s", "rtt": "30ms", "loss": "0.5%"},
    {"bitrate": "1Mb/s", "rate": "1.5Mb/s", "rtt": "50ms"},
    {"bitrate": "1Mb/s", "rate": "20Mb/s", "rtt": "80ms", "loss": "2%"},
    {"bitrate": "1Mb/s", "rate": "10Mb/s", "rtt": "300ms", "loss": "0.1%"},
    {"bitrate": "1.5Mb/s", "profile": "dsl"},
    {"bitrate": "2Mb/s", "profile": "lte"},
    {"bitrate": "2Mb/s", "rate": "10Mb/s", "rtt": "60ms", "loss": "1%"},
    {"bitrate": "2Mb/s", "rate": "10Mb/s", "rtt": "60ms", "loss": "1%", "burst": 4},
    {"bitrate": "2Mb/s", "rate": "6Mb/s", "rtt": "20ms", "loss": "3%"},
    {"bitrate": "2Mb/s", "rate": "3Mb/s", "rtt": "100ms", "queue": "codel"},
    {"bitrate": "3Mb/s", "profile": "wifi"},
    {"bitrate": "3Mb/s", "profile": "starlink"},
    {"bitrate": "2Mb/s", "profile": "transatlantic", "goal": "vod"},
    {"bitrate": "1Mb/s", "rate": "8Mb/s", "rtt": "80ms", "loss": "1%", "goal": "vod"},
    {"bitrate": "64kb/s", "rate": "2Mb/s", "rtt": "100ms", "loss": "2%", "goal": "call"},
    {"bitrate": "500kb/s", "rate": "5Mb/s", "rtt": "60ms", "loss": "1%", "goal": "call"},
)
FRESH: Final = range(1001, 1101)


def judged(first: Plan, many: Plan) -> tuple[bool, bool]:
    """Return whether the many sessions would choose the same sender, and whether none is noticeably quicker."""
    delays_needed = {result.candidate.name: result.delay_needed.mean for result in many.results}
    chosen, shortest = first.choice.candidate.name, min(delays_needed.values())
    return chosen == many.choice.candidate.name, not is_noticeably_longer(
        delays_needed[chosen], shortest, many.stream.noticeable
    )


def row(number: int, case: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Try one case, and print a line of it."""
    begun = time.perf_counter()
    first = plan(PlanRequest(**case))
    taken = time.perf_counter() - begun
    same, holds = judged(first, plan(PlanRequest(**case, seeds=FRESH)))
    words = " ".join(str(value) for value in case.values())
    print(
        f"| {number} | {words} | {first.choice.candidate.name} | {first.delay:.3g} s | "
        f"{len(first.choice.sessions)} | {'yes' if first.is_clear else 'no'} | {'yes' if same else 'no'} | "
        f"{'yes' if holds else 'no'} | {taken:.0f} s |",
        flush=True,
    )
    return first.is_clear, same, holds


def main() -> None:
    """Print a table, and the shares."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", type=int, nargs="+", default=range(1, len(CASES) + 1), help="numbers of cases")
    numbers = parser.parse_args().only
    print("| | film, line | recommended | delay | sessions | clear | chosen again | none quicker | time |")
    print("|---|---|---|---|---|---|---|---|---|")
    found = [row(number, CASES[number - 1]) for number in numbers]
    for what, place in (("clear", 0), ("chosen again", 1), ("none noticeably quicker", 2)):
        print(f"{what}: {sum(one[place] for one in found)} of {len(found)}")


if __name__ == "__main__":
    main()
