"""The delay that viewers need on a given path, and the sender to use."""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.planning.path import Measurements, NetworkPath
    from earlybird.planning.planner import Plan, PlanRequest, plan
    from earlybird.planning.profiles import PROFILES
else:
    __getattr__, __dir__ = loader(
        __name__,
        {
            "Measurements": "path",
            "NetworkPath": "path",
            "Plan": "planner",
            "PlanRequest": "planner",
            "plan": "planner",
            "PROFILES": "profiles",
        },
    )

__all__ = ["PROFILES", "Measurements", "NetworkPath", "Plan", "PlanRequest", "plan"]
