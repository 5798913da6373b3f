"""Searches the studies that have a search, and keeps what was found."""

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
    """
    Search for the settings that come closest to what papers state.

    Parameters
    ----------
    name
        A study, or ``all`` for every study that has a search.
    trials
        How many settings to try (default: as each search says).
    jobs
        Number of worker processes (default: one per processor). The outcome does not depend on it.
    output
        Results folder; runs there are not repeated, so that a search goes on where it stopped. The outcome goes into
        ``searches/NAME`` below it.
    progress
        Show a progress bar on the terminal.

    Yields
    ------
    Outcome
        One per study.

    Raises
    ------
    InputError
        If there is no such study, or its search is missing or not valid.
    ScenarioError
        If a value of a parameter gives no valid scenario; nothing is run then.
    StoreError, WorkerError, Interrupted
        As `earlybird.sweep`.
    """
    store = Store(Path(output)).open()
    for search in choose_searches(name):
        check_space(search, SEARCH)
        found = outcome(explore(search, trials or search.trials, store, jobs=jobs, progress=progress))
        write_outcome(found, outcome_folder(search.study, store))
        yield found
