"""How long viewers must wait on a given line, and which sender to switch on."""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.planning.line import Findings, Line
    from earlybird.planning.planner import Plan, plan
    from earlybird.planning.profiles import PROFILES
else:
    __getattr__ = loader(
        __name__, {"Findings": "line", "Line": "line", "Plan": "planner", "plan": "planner", "PROFILES": "profiles"}
    )

__all__ = ["PROFILES", "Findings", "Line", "Plan", "plan"]
