"""
Tries settings, guided by Optuna's tree-structured Parzen estimator (Bergstra et al., NIPS 2011; Watanabe 2023).

Settings are asked for in batches of fixed size, from a sampler with a fixed seed, and the runs of each are kept in the
results folder under their own keys. So a search that is begun again asks for the same settings, finds their runs made,
and goes on where it stopped; its outcome does not depend on the number of workers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

from earlybird.progress import Advance, progress_bar
from earlybird.store import Store
from earlybird.study.reductions.observations import observe
from earlybird.study.runs.execution import results
from earlybird.study.search.definition import CONFIRMATION, SEARCH, Choice, Parameter, Range, Search, Setting
from earlybird.study.search.objective import Reading, distance, readings
from earlybird.study.search.space import planned_runs_of, runs_of
from earlybird.study.statements.quantities import Measurements
from earlybird.sweeps import make, missing_jobs

SEED = 1  # of the sampler
BATCH = 8  # settings that are asked for before the first of them is known
AT_RANDOM = 24  # settings that are drawn before the sampler learns from them


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting and its outcome."""

    setting: Setting
    readings: Sequence[Reading]

    @property
    def distance(self) -> float:
        """From what the paper states; 0 if all statements are met."""
        return distance([reading.miss for reading in self.readings])

    @property
    def met(self) -> int:
        """The number of statements that are met."""
        return sum(reading.is_met for reading in self.readings)


@dataclass(frozen=True, slots=True)
class Exploration:
    """All that was tried."""

    search: Search
    trials: Sequence[Trial]  # in the order in which they were tried; the first is the study's own setting
    confirmed: Sequence[Trial]  # the study's own setting, then the best ones, at the larger scale
    importances: Mapping[str, float] = field(default_factory=dict)
    """The importance of each parameter for being among the best, in shares of 1."""


def explore(
    search: Search, trials: int, store: Store, *, jobs: int | None = None, progress: bool = False
) -> Exploration:
    """Search for the setting with the smallest distance to the paper; the result does not depend on `jobs`."""
    own = search.default
    every = trials * len(runs_of(search, own, SEARCH)) + (1 + search.best) * len(runs_of(search, own, CONFIRMATION))
    with progress_bar(every, visible=progress, what=f"searching {search.study.name}") as advance:
        runner, study = TrialRunner(search, store, jobs, advance), _study()
        found = list(_asked(study, runner, trials))
        confirmed = runner.tried([own, *best_settings(search, found)], CONFIRMATION)
    return Exploration(search, found, confirmed, _importances(study, search))


@dataclass(frozen=True, slots=True)
class TrialRunner:
    """The runner of trials of one search, with its store and its progress bar."""

    search: Search
    store: Store
    jobs: int | None
    advance: Advance

    def tried(self, settings: Sequence[Setting], scale: str) -> list[Trial]:
        """Make the runs of settings, all together, and return the trial of each."""
        planned = [run for setting in settings for run in planned_runs_of(self.search, setting, scale)]
        missing = missing_jobs(planned, self.store)
        if found := len(planned) - len(missing):
            self.advance(found=found)
        make(missing, self.store, self.jobs, lambda _: self.advance())
        return [Trial(setting, readings(self.search, self._measured(setting, scale))) for setting in settings]

    def _measured(self, setting: Setting, scale: str) -> Measurements:
        runs = [(run, results(run, self.store)) for run in runs_of(self.search, setting, scale)]
        return Measurements(self.search.study, [observe(run, result) for run, result in runs if result])


def best_settings(search: Search, trials: Sequence[Trial]) -> list[Setting]:
    """Return the settings of the smallest distances, each once, without the study's own."""
    ranked = sorted(trials, key=lambda trial: trial.distance)
    distinct = {tuple(trial.setting.items()): trial.setting for trial in ranked if trial.setting != search.default}
    return list(distinct.values())[: search.best]


def _asked(study: optuna.Study, runner: TrialRunner, trials: int) -> Iterator[Trial]:
    """Ask the sampler for settings, batch by batch, and report each distance to it."""
    search = runner.search
    study.enqueue_trial(dict(search.default))
    space = {name: _distribution(parameter) for name, parameter in search.parameters.items()}
    for begin in range(0, trials, BATCH):
        asked = [study.ask(space) for _ in range(min(BATCH, trials - begin))]
        settings = [_rounded(search, trial.params) for trial in asked]
        for trial, found in zip(asked, runner.tried(settings, SEARCH), strict=True):
            study.tell(trial, found.distance)
            yield found


def _study() -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna.create_study(sampler=optuna.samplers.TPESampler(seed=SEED, n_startup_trials=AT_RANDOM))


def _distribution(parameter: Parameter) -> BaseDistribution:
    if isinstance(parameter, Choice):
        return CategoricalDistribution(list(parameter.choices))
    if parameter.digits == 0:
        return IntDistribution(round(parameter.least), round(parameter.most))
    return FloatDistribution(parameter.least, parameter.most)


def _rounded(search: Search, asked: Mapping[str, object]) -> Setting:
    return {name: _value(search.parameters[name], value) for name, value in asked.items()}


def _value(parameter: Parameter, asked: object) -> str | int | float:
    """Round a number to the parameter's digits, but for the default, which may have more."""
    if isinstance(parameter, Range) and isinstance(asked, int | float):
        return asked if asked == parameter.default or parameter.digits == 0 else round(asked, parameter.digits)
    return str(asked)


def _importances(study: optuna.Study, search: Search) -> dict[str, float]:
    """Rate the parameters by PED-ANOVA (Watanabe, Bansal and Hutter, IJCAI 2023)."""
    if len({trial.value for trial in study.trials}) < 2:
        return dict.fromkeys(search.parameters, 0.0)
    return get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())
