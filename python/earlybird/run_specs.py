"""The kinds of runs: a scenario, a model, a play of a test bed, or a program of a study."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

from earlybird.backends import KERNEL, SIMULATOR
from earlybird.lazy import LateModule
from earlybird.limits import cost_of
from earlybird.loading import resolve
from earlybird.quantities import parse_duration
from earlybird.runs import checked_seed, execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird import models_by_name, programs
    from earlybird._core import ResolvedScenario
    from earlybird.models.described import DescribedCase
    from earlybird.result import Result
    from earlybird.testbed import play
else:
    # Simulations and their workers need neither models nor players.
    models_by_name = LateModule("earlybird.models_by_name")
    programs = LateModule("earlybird.programs")
    play = LateModule("earlybird.testbed.play")

SECONDS_PER_RESULT: Final = 0.012  # seconds that keeping a small result takes on the slow machine of `cost_of`
SECONDS_PER_PLAY: Final = 4.0  # seconds that starting and ending a player takes, beside the film


@dataclass(frozen=True)
class ScenarioRun:
    """A run of a scenario, in the simulator or in real time."""

    scenario: ResolvedScenario

    @property
    def backend(self) -> str:
        """The name of what executes it."""
        return self.scenario.backend

    @property
    def title(self) -> str | None:
        """The scenario's title."""
        return self.scenario.title

    @property
    def length_s(self) -> float:
        """The simulated length in seconds."""
        return self.scenario.duration_s

    def document(self) -> dict[str, Any]:
        """Return the description that a result keeps and that names it."""
        return self.scenario.to_dict()

    def make(self, seed: int) -> Result:
        """Execute the run."""
        return execute(self.scenario, seed)

    def expected_seconds(self, pace: float = 1.0) -> float:
        """Return the time to execute it; `pace` is the time on this machine ÷ that on a slow one."""
        return pace * (SECONDS_PER_RESULT + cost_of(self.scenario).seconds)


@dataclass(frozen=True)
class ModelRun:
    """A computation with a model in the place of a simulation."""

    case: DescribedCase

    backend = SIMULATOR
    title = None
    length_s = 0.0

    def document(self) -> dict[str, Any]:
        """Return the description that a result keeps and that names it."""
        return self.case.document()

    def make(self, seed: int) -> Result:
        """Compute the case."""
        return self.case.result(checked_seed(seed))

    def expected_seconds(self, pace: float = 1.0) -> float:
        """Return the time to compute it; `pace` is the time on this machine ÷ that on a slow one."""
        return pace * (SECONDS_PER_RESULT + self.case.seconds)


@dataclass(frozen=True)
class DescribedRun:
    """A run in real time; `text` is its description as JSON: equal descriptions are equal runs."""

    text: str

    backend = KERNEL
    length_s = 0.0

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """Describe a run."""
        return cls(json.dumps(document, sort_keys=True))

    @property
    def title(self) -> str | None:
        """Its title, if it has one."""
        return self.document().get("title")

    def document(self) -> dict[str, Any]:
        """Return the description that a result keeps and that names it."""
        document: dict[str, Any] = json.loads(self.text)
        return document


class TestbedRun(DescribedRun):
    """One play of a film by a real player."""

    @property
    def bed(self) -> dict[str, Any]:
        """The film, the link, the sender and the client."""
        bed: dict[str, Any] = self.document()["testbed"]
        return bed

    def make(self, seed: int) -> Result:
        """Play the film."""
        return play.make_play(self.document(), checked_seed(seed))

    def expected_seconds(self, _: float = 1.0) -> float:
        """Return the time to play it, which no machine shortens."""
        return float(self.bed["film"]["seconds"]) + SECONDS_PER_PLAY


class ProgramRun(DescribedRun):
    """One run of a study's program."""

    def make(self, seed: int) -> Result:
        """Run the program."""
        return programs.make_run(self.document(), checked_seed(seed))

    def expected_seconds(self, _: float = 1.0) -> float:
        """Return the duration that the program is given."""
        return parse_duration(self.document()["settings"]["duration"]) or 0.0


RunSpec: TypeAlias = ScenarioRun | ModelRun | TestbedRun | ProgramRun


def from_document(document: Mapping[str, Any]) -> RunSpec:
    """Return the run of a kept result; `ScenarioError` if scenarios have changed and it is not valid now."""
    if "testbed" in document:
        return TestbedRun.of(document)
    if "program" in document:
        return ProgramRun.of(document)
    if "model" in document:
        return ModelRun(models_by_name.case_of(document))
    return ScenarioRun(resolve(document))
