"""Plans that are being computed: one at a time, a few that wait, and the last ones that are done."""

from __future__ import annotations

import dataclasses
import secrets
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from earlybird.errors import EarlybirdError, ScenarioError
from earlybird.planning.planner import plan
from earlybird.web.answer import Answer, Film
from earlybird.web.uploads import without_folders

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from earlybird.planning.planner import PlanRequest

MOST_WAITING: Final = 4  # plans behind the one that is computed, which takes all processors
MOST_KEPT: Final = 20  # plans that are done

State: TypeAlias = Literal["waiting", "computing", "done", "cancelled", "failed"]


class BusyError(EarlybirdError):
    """Too many plans wait already."""


class CancelledError(Exception):
    """The plan is no longer wanted."""


@dataclasses.dataclass
class Job:
    """A plan that is being computed, or was."""

    request: PlanRequest
    values: Mapping[str, str]  # of the form
    folder: Path  # of the uploaded files, which is removed in the end
    name: str = dataclasses.field(default_factory=lambda: secrets.token_urlsafe(9))
    state: State = "waiting"
    done: int = 0
    total: int = 0  # sessions of this step, or parts of the film
    is_drawn: bool = False  # whether the film is drawn
    answer: Answer | None = None
    error: str = ""
    _unwanted: threading.Event = dataclasses.field(default_factory=threading.Event)

    @property
    def is_ended(self) -> bool:
        """Whether nothing of it will change."""
        return self.state in ("done", "cancelled", "failed")

    def cancel(self) -> None:
        """End it as soon as its next session has ended."""
        self._unwanted.set()

    def compute(self) -> None:
        """Compute the plan, and remove the files."""
        try:
            self._report(0, 0)
            self.state = "computing"
            found = plan(self.request, progress=self._report)
            self.answer = Answer.of(found, Film.of(found, self._report_drawing) if self.values.get("watch") else None)
            self.state = "done"
        except CancelledError:
            self.state = "cancelled"
        except (EarlybirdError, ScenarioError) as error:
            self.error, self.state = without_folders(error, self.folder), "failed"
        except Exception as error:
            self.error, self.state = f"this is a bug in earlybird: {error!r}.", "failed"
            raise
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def remove(self) -> None:
        """Remove the film of the answer."""
        if self.answer and self.answer.film:
            self.answer.film.remove()

    def _report_drawing(self, done: int, total: int) -> None:
        self.is_drawn = True
        self._report(done, total)

    def _report(self, done: int, total: int) -> None:
        if self._unwanted.is_set():
            raise CancelledError
        self.done, self.total = done, total


class Jobs:
    """The plans of one server."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="plan")
        self._jobs: dict[str, Job] = {}

    def check_is_free(self) -> None:
        """Raise BusyError if too many plans wait."""
        if sum(not one.is_ended for one in self._jobs.values()) > MOST_WAITING:
            raise BusyError(f"{MOST_WAITING} plans wait already: try again when one of them is done.")

    def add(self, job: Job) -> None:
        """Compute a plan when those before it are done; raise BusyError if too many wait."""
        self.check_is_free()
        for name in [name for name, one in self._jobs.items() if one.is_ended][: 1 - MOST_KEPT]:
            self._jobs.pop(name).remove()
        self._jobs[job.name] = job
        self._pool.submit(job.compute)

    def get(self, name: str) -> Job | None:
        """Find a plan by its name."""
        return self._jobs.get(name)

    def ahead(self, job: Job) -> int:
        """Return how many plans are computed before a waiting one."""
        names = [name for name, one in self._jobs.items() if not one.is_ended]
        return names.index(job.name) if job.name in names else 0

    def close(self) -> None:
        """Cancel all, and wait for them to end."""
        for job in self._jobs.values():
            job.cancel()
        self._pool.shutdown()
        for job in self._jobs.values():
            job.remove()
