"""The outcome of a search as tables: settings, statements, parameters, and pairs that exclude each other."""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from earlybird.errors import StoreError, because
from earlybird.store import Store
from earlybird.study.language.definition import Study
from earlybird.study.search.definition import CONFIRMATION

TABLES = ("trials", "statements", "parameters", "exclusions")
ABOUT = "about.json"


@dataclass(frozen=True)
class Outcome:
    """The outcome of a search; stored as CSV and read again for reports."""

    about: dict[str, Any]  # the study, the paper, how many settings, what came of the best, which code made it
    trials: pl.DataFrame
    """One row per trial, then those at the larger scale: setting, distance, statements met, the miss of each."""
    statements: pl.DataFrame
    """One row per statement: the paper's number, ours under the study's own setting and under the best."""
    parameters: pl.DataFrame  # one row per parameter: the study's own value, the best one, how much it decides
    exclusions: pl.DataFrame
    """One row per two statements that settings met one by one, but none together, though many should by lot."""

    @cached_property
    def is_met(self) -> bool:
        """Whether one setting meets all statements."""
        return bool(self.about["best_met"] == self.about["statements"])

    @property
    def never_met(self) -> pl.DataFrame:
        """The statements that no setting meets."""
        return self.statements.filter(pl.col("met_by") == 0)

    @property
    def in_short(self) -> "Outcome":
        """The same with the settings alone that were tried again, without what each misses by."""
        misses = [name for name in self.trials.columns if name in set(self.statements["id"])]
        return replace(self, trials=self.trials.filter(pl.col("scale") == CONFIRMATION).drop(misses))

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        about, count = self.about, self.about["statements"]
        if self.is_met:
            return f"All {count} statements are met at once."
        most = f"None of {about['settings']} settings meets more than {about['most_met']} of {count} statements at once"
        best = f"tried again, the closest one meets {about['best_met']}, the study's own {about['default_met']}"
        unmet = self.never_met.height
        never = f"{_counted(unmet, 'statement')} met by none" if unmet else "Each statement is met by some"
        pairs = f"{_counted(self.exclusions.height, 'pair')} never met together"
        return f"{most}; {best}. {never}; {pairs}."


def _counted(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count or 'no'} {noun}s are"


def outcome_folder(study: Study, store: Store) -> Path:
    """Return where the outcome of a study's search is kept among the results."""
    return store.root / "searches" / study.name


def found_before(study: Study, store: Store) -> Outcome | None:
    """Read the outcome of a study's search from the results, or else the committed one; None without any."""
    return read_outcome(outcome_folder(study, store)) or read_outcome(study.folder / "search")


def write_outcome(found: Outcome, folder: Path) -> None:
    """Keep what a search found: a CSV per table, and what it is about; raise `StoreError` if that cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in TABLES:
            getattr(found, name).write_csv(folder / f"{name}.csv")
        (folder / ABOUT).write_text(json.dumps(found.about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {folder}: {because(error)}.") from error


def read_outcome(folder: Path) -> Outcome | None:
    """Read what a search found, or None if there is nothing; raise `StoreError` if a file is missing or damaged."""
    if not (folder / ABOUT).is_file():
        return None
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        tables = {name: pl.read_csv(folder / f"{name}.csv", infer_schema_length=None) for name in TABLES}
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        hint = "`earlybird study search` writes it again and repeats no run that is kept"
        raise StoreError(f"{folder}: the outcome of a search is damaged ({error}); {hint}.") from error
    return Outcome(about, **tables)
