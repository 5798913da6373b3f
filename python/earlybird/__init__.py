"""
Earlybird simulates live video over TCP and measures what early retransmission buys it.

>>> import earlybird
>>> result = earlybird.run("scenarios/dumbbell.toml", overrides={"pairs": 4, "duration": "20s"})
>>> result.flows.select("flow", "rto_count", "throughput_bps")  # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from earlybird._core import code_version, schema, version
from earlybird.errors import (
    EarlybirdError,
    InputError,
    InternalError,
    Interrupted,
    ScenarioError,
    ScenarioWarning,
    StoreError,
    WorkerError,
)
from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird import compare, media, models, planning, plugin, quality, scenario, study
    from earlybird.assessment import Assessment, assess
    from earlybird.outputs import Outputs
    from earlybird.planning import PlanRequest, plan
    from earlybird.result import Result
    from earlybird.runs import run
    from earlybird.scenario import Scenario
    from earlybird.sweeps import SweepResult, sweep
else:
    __getattr__, __dir__ = loader(
        __name__,
        {
            "Assessment": "assessment",
            "Result": "result",
            "Scenario": "scenario",
            "SweepResult": "sweeps",
            "Outputs": "outputs",
            "PlanRequest": "planning.planner",
            "assess": "assessment",
            "compare": "compare",
            "media": "media",
            "models": "models",
            "plan": "planning.planner",
            "planning": "planning",
            "plugin": "plugin",
            "quality": "quality",
            "run": "runs",
            "scenario": "scenario",
            "study": "study",
            "sweep": "sweeps",
        },
    )

__version__ = version()

__all__ = [
    "Assessment",
    "EarlybirdError",
    "InputError",
    "InternalError",
    "Interrupted",
    "Outputs",
    "PlanRequest",
    "Result",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "StoreError",
    "SweepResult",
    "WorkerError",
    "__version__",
    "assess",
    "code_version",
    "compare",
    "media",
    "models",
    "plan",
    "planning",
    "plugin",
    "quality",
    "run",
    "scenario",
    "schema",
    "study",
    "sweep",
]
