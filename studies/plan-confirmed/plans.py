"""
A plan of `earlybird plan`, and a hundred sessions of each sender with seeds that no plan used.

The recommendation is confirmed if the sender would be chosen again, and holds if none of the others is noticeably
quicker than it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from earlybird.planning.planner import PlanRequest, plan
from earlybird.planning.selection import is_noticeably_longer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
"""Lines and films, numbered from 1."""
FIRST_FRESH: Final = 1001


def holds(first: Plan, many: Plan) -> bool:
    """Return whether none of the many sessions' senders is noticeably quicker than the first plan's choice."""
    delays_needed = {result.candidate.name: result.delay_needed.mean for result in many.results}
    chosen, shortest = delays_needed[first.choice.candidate.name], min(delays_needed.values())
    return not is_noticeably_longer(chosen, shortest, many.stream.noticeable)


def measure(settings: Mapping[str, Any], _: int) -> dict[str, float | str]:
    """Plan one case, and try the recommendation."""
    case, begun = CASES[settings["case"] - 1], time.perf_counter()
    first = plan(PlanRequest(**case))
    taken = time.perf_counter() - begun
    many = plan(PlanRequest(**case, seeds=range(FIRST_FRESH, FIRST_FRESH + settings["sessions"])))
    return {
        "recommended": first.choice.candidate.name,
        "plan_delay_s": first.delay,
        "plan_sessions": len(first.choice.sessions),
        "plan_clear_share": float(first.is_clear),
        "plan_chosen_again_share": float(first.choice.candidate.name == many.choice.candidate.name),
        "plan_holds_share": float(holds(first, many)),
        "plan_seconds": taken,
    }
