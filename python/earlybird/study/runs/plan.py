"""Spreads a study out into runs."""

from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from earlybird.quantities import parse_duration
from earlybird.study.language.definition import Grid, Part, Study
from earlybird.study.language.observed import written
from earlybird.study.language.points import Scalar
from earlybird.study.runs.needed import places


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One run that a study asks for."""

    part: Part
    axes: Mapping[str, Scalar]  # the value of every axis that is set or has a default
    seed: int
    settings: Mapping[str, object]  # changes of the part's scenario


def plan(study: Study, scale: str) -> list[StudyRun]:
    """List a study's runs, each once, by grid; in a grid every cell has its first seed before any its second."""
    runs: dict[tuple[object, ...], StudyRun] = {}
    for grid in study.grids:
        if scale in grid.scales:
            for run in _spread(study, grid, scale):
                runs.setdefault((run.part.name, *sorted(run.axes.items()), run.seed), run)
    return _needed(study, list(runs.values())) if study.item else list(runs.values())


def _needed(study: Study, runs: list[StudyRun]) -> list[StudyRun]:
    """Keep the runs of the only item."""
    wanted = places(study, study.items[0])
    cells = {id(run.axes): run for run in runs}  # seeds share them
    kept = {cell for cell, run in cells.items() if any(place.has(study, run.part, run.axes) for place in wanted)}
    return [run for run in runs if id(run.axes) in kept]


def distinct(study: Study, scale: str) -> list[StudyRun]:
    """List a study's runs as `plan` does, those that come to the same run of the same scenario once."""
    return list({(_identity(run.part, run.settings), run.seed): run for run in reversed(plan(study, scale))}.values())[
        ::-1
    ]


def count(study: Study, scale: str) -> int:
    """Return the number of runs that `distinct` lists, without listing them."""
    seeds: dict[Hashable, int] = {}
    for grid in study.grids:
        if scale in grid.scales:
            part = study.parts[grid.part]
            for axes in _cells(study, grid):
                run = _identity(part, _settings(study, part, scale, axes))
                seeds[run] = max(_seeds(study, grid, scale), seeds.get(run, 0))
    return sum(seeds.values())


def _identity(part: Part, settings: Mapping[str, object]) -> Hashable:
    """Return the identity of a run: the scenario or model, and the parameters that differ from their defaults."""
    scenario = {} if part.model else written(part.testbed if part.is_played else part.scenario)
    defaults = scenario.get("parameters", {})
    changed = ((key, repr(value)) for key, value in settings.items() if repr(value) != repr(defaults.get(key)))
    return part.scenario, part.model, part.testbed, part.program, frozenset(changed)


def _cells(study: Study, grid: Grid) -> list[dict[str, Scalar]]:
    """List the combinations of a grid's values, with the defaults of the other axes."""
    defaults = {axis.name: axis.default for axis in study.axes.values() if axis.default is not None}
    return [{**defaults, **dict(zip(grid.axes, values, strict=True))} for values in product(*grid.axes.values())]


def _seeds(study: Study, grid: Grid, scale: str) -> int:
    every = study.scales[scale].seeds
    return 1 if study.parts[grid.part].deterministic else min(every, grid.seeds or every)


def seeds_text(study: Study, scale: str, part: str = "", shown: Mapping[str, Collection[Scalar]] | None = None) -> str:
    """Return the number of seeds in words, "3 to 10 seeds", of one part or all, and of the `shown` values by axis."""
    drawn: dict[Hashable, int] = {}
    for grid in (each for each in study.grids if scale in each.scales and part in ("", each.part)):
        cells = () if study.parts[grid.part].deterministic else _cells(study, grid)
        for axes in (each for each in cells if shown is None or _is_among(study, each, shown)):
            cell = (grid.part, *sorted(axes.items()))
            drawn[cell] = max(_seeds(study, grid, scale), drawn.get(cell, 0))
    least, most = min(drawn.values(), default=1), max(drawn.values(), default=1)
    return f"{least} to {most} seeds" if least < most else f"{most} seed{'s' if most > 1 else ''}"


def _is_among(study: Study, axes: Mapping[str, Scalar], shown: Mapping[str, Collection[Scalar]]) -> bool:
    """Return whether a cell has only values that are shown, or that points mean without saying so."""
    defaults = {name: axis.default for name, axis in study.axes.items()}
    return all(
        value in shown[name] if name in shown else defaults[name] in (None, value) for name, value in axes.items()
    )


def _spread(study: Study, grid: Grid, scale: str) -> Iterator[StudyRun]:
    part, cells = study.parts[grid.part], _cells(study, grid)
    settings = [_settings(study, part, scale, axes) for axes in cells]
    for seed in range(1, _seeds(study, grid, scale) + 1):
        yield from (StudyRun(part, axes, seed, changed) for axes, changed in zip(cells, settings, strict=True))


def _settings(study: Study, part: Part, scale: str, axes: Mapping[str, Scalar]) -> dict[str, object]:
    """Return the changes of the scenario, or a model's axes; one at its default is left alone, to share runs."""
    varied = {name: value for name, value in axes.items() if value != study.axes[name].default}
    if part.model:
        return {**part.settings, **varied}
    duration = {} if part.deterministic else _duration(part, part.duration or study.scales[scale].duration)
    changed = {
        study.axes[name].key: part.written.get(name, {}).get(str(value), value) for name, value in varied.items()
    }
    return {**part.settings, **duration, **changed}


def _duration(part: Part, text: str) -> dict[str, object]:
    """Return the duration of a run; a play has that of its film."""
    return {"seconds": parse_duration(text)} if part.is_played else {"duration": text}
