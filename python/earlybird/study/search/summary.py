"""Summary of an exploration: its statements, its parameters, and the statements that exclude each other."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from earlybird import _core
from earlybird.study.language.names import spaced
from earlybird.study.search.definition import CONFIRMATION, SEARCH, Search, Setting
from earlybird.study.search.exploration import BATCH, SEED, Exploration, Trial
from earlybird.study.search.objective import Reading
from earlybird.study.search.outcome import Outcome

DIGITS = 4  # decimals of distances and misses in the tables
CHANCE = 0.05
"""The accepted probability that any pair is called exclusive by chance, if settings were drawn at random."""

EXCLUSIONS = {
    "first": pl.String,
    "second": pl.String,
    "first_met": pl.Int64,
    "second_met": pl.Int64,
    "expected": pl.Float64,
}


def outcome(exploration: Exploration) -> Outcome:
    """Sum up an exploration; the best setting is the one with the smallest distance at the larger scale."""
    search, default = exploration.search, exploration.confirmed[0]
    best = min(exploration.confirmed, key=lambda trial: trial.distance)
    return Outcome(
        _about(exploration, best, default),
        pl.DataFrame(list(_trial_rows(exploration)), infer_schema_length=None),
        pl.DataFrame(list(_statement_rows(exploration, best, default))),
        pl.DataFrame([_parameter_row(search, name, best.setting, exploration) for name in search.parameters]),
        exclusions(_distinct(exploration.trials)),
    )


def _about(exploration: Exploration, best: Trial, default: Trial) -> dict[str, Any]:
    search, trials = exploration.search, exploration.trials
    return {
        "study": search.study.name,
        "paper": search.paper,
        "trials": len(trials),
        "settings": len(_distinct(trials)),
        "statements": len(default.readings),
        "best_distance": round(best.distance, DIGITS),
        "best_met": best.met,
        "default_distance": round(default.distance, DIGITS),
        "default_met": default.met,
        "most_met": max(trial.met for trial in (*trials, *exploration.confirmed)),
        "scales": {name: _scale_text(search, name) for name in (SEARCH, CONFIRMATION)},
        "remarks": list(search.remarks),
        "sampler": f"Optuna's TPE sampler, seed {SEED}, in batches of {BATCH}",
        "code_version": _core.code_version(),
    }


def _scale_text(search: Search, name: str) -> str:
    scale = search.study.scales[name]
    return f"{scale.seeds} seed{'s' if scale.seeds > 1 else ''} of {spaced(scale.duration)}"


def _trial_rows(exploration: Exploration) -> Iterator[dict[str, Any]]:
    for scale, trials in ((SEARCH, exploration.trials), (CONFIRMATION, exploration.confirmed)):
        for place, trial in enumerate(trials):
            about = {"trial": place, "scale": scale, "distance": round(trial.distance, DIGITS), "met": trial.met}
            setting = {name: str(value) for name, value in trial.setting.items()}
            misses = {_name(number): round(each.miss, DIGITS) for number, each in enumerate(trial.readings)}
            yield {**about, **setting, **misses}


def _name(place: int) -> str:
    return f"s{place + 1}"


def _statement_rows(exploration: Exploration, best: Trial, default: Trial) -> Iterator[dict[str, Any]]:
    every = zip(best.readings, default.readings, strict=True)
    for place, (ours, own) in enumerate(every):
        tried = [trial.readings[place].is_met for trial in exploration.trials]
        statement = ours.statement
        about = {"id": _name(place), "item": statement.item, "statement": statement.text}
        stated = {"paper": statement.paper, "tolerance": statement.tolerance}
        yield {**about, **stated, **_read("best", ours), **_read("own", own), "met_by": sum(tried)}


def _read(whose: str, reading: Reading) -> dict[str, Any]:
    return {
        whose: reading.ours,
        f"{whose}_interval": reading.interval,
        f"{whose}_miss": round(reading.miss, DIGITS),
        f"{whose}_is_met": reading.is_met,
    }


def _parameter_row(search: Search, name: str, best: Setting, exploration: Exploration) -> dict[str, Any]:
    parameter = search.parameters[name]
    return {
        "parameter": name,
        "title": parameter.title,
        "own": _printed(parameter.default),
        "best": _printed(best[name]),
        "importance": round(exploration.importances.get(name, 0.0), DIGITS),
        "why_open": parameter.why,
    }


def _printed(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _distinct(trials: Sequence[Trial]) -> Sequence[Trial]:
    return list({tuple(trial.setting.items()): trial for trial in trials}.values())


def exclusions(settings: Sequence[Trial]) -> pl.DataFrame:
    """List the pairs of statements that no setting meets together, those expected together most often first."""
    least, places = least_expected(len(settings[0].readings)), range(len(settings[0].readings))
    met = [{number for number, trial in enumerate(settings) if trial.readings[place].is_met} for place in places]
    rows = [
        (_name(one), _name(other), len(met[one]), len(met[other]), len(met[one]) * len(met[other]) / len(settings))
        for one, other in combinations(places, 2)
        if len(met[one]) * len(met[other]) >= least * len(settings) and not met[one] & met[other]
    ]
    by_size = sorted(rows, key=lambda row: -row[-1])
    return pl.DataFrame([(*row[:-1], round(row[-1], 1)) for row in by_size], schema=EXCLUSIONS, orient="row")


def least_expected(statements: int) -> float:
    """
    Return how many settings should meet two statements for their never being met together to mean something.

    Statements are taken as independent. If so many are expected, there is none with the probability `CHANCE` ÷ the
    number of pairs (Poisson's distribution), and so for any pair with the probability `CHANCE` at most (Bonferroni's
    bound). Settings of a guided search are not drawn by lot: it is a threshold, no test.
    """
    return math.log(max(math.comb(statements, 2), 1) / CHANCE)
