"""From a form that was sent to a plan that can be computed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from earlybird.errors import EarlybirdError, ScenarioError
from earlybird.planning.candidates import candidates
from earlybird.planning.planner import Question
from earlybird.web.fields import field_of, request_of
from earlybird.web.uploads import check_is_film, measurements, saved, without_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from earlybird.planning.planner import PlanRequest
    from earlybird.web.uploads import Upload


class FieldError(EarlybirdError):
    """An error about a field of the form."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def checked_request(
    values: Mapping[str, str], clips: Sequence[Upload], files: Sequence[Upload], folder: Path
) -> PlanRequest:
    """Save and read the files, and return a request that makes sense; raise FieldError."""
    with _blaming("clip", folder):
        clip = saved(clips[0], folder) if clips else None
        if clip is not None:
            check_is_film(clip)
    with _blaming("measured", folder):
        measured = measurements([saved(file, folder) for file in files])
    with _blaming("", folder):
        request = request_of(values, clip, measured)
    if clip is not None:
        with _blaming("clip", folder):
            _ = request.film
    with _blaming("baseline", folder):
        candidates((), request.baseline, request.goal)
    with _blaming("transport", folder):
        candidates(request.transports, request.baseline, request.goal)
    with _blaming("", folder):
        Question.of(request)
    return request


@contextmanager
def _blaming(field: str, folder: Path) -> Iterator[None]:
    """Assign errors to the field that they name, or else to this one."""
    try:
        yield
    except (EarlybirdError, ScenarioError) as error:
        message = without_folders(error, folder)
        raise FieldError(field_of(message) or field, message) from error
