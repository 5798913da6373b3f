"""Searches the studies that have a search, and stores the outcomes."""

from collections.abc import Iterator
from pathlib import Path

from earlybird.paths import RESULTS
from earlybird.store import Store
from earlybird.study.search.definition import SEARCH
from earlybird.study.search.exploration import explore
from earlybird.study.search.loading import choose_searches
from earlybird.study.search.outcome import Outcome, outcome_folder, write_outcome
from earlybird.study.search.space import check_space
from earlybird.study.search.summary import outcome


def search_studies(
    name: str,
    trials: int | None = None,
    *,
    jobs: int | None = None,
    output: str | Path = RESULTS,
    progress: bool = True,
) -> Iterator[Outcome]:
    """Search for the settings that come closest to what papers state; write the outcome to ``searches/NAME``."""
    store = Store(Path(output)).open()
    for search in choose_searches(name):
        check_space(search, SEARCH)
        found = outcome(explore(search, trials or search.trials, store, jobs=jobs, progress=progress))
        write_outcome(found, outcome_folder(search.study, store))
        yield found
