"""What may stand where a run has its scenario: the case of a model, or a session of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.models.case import StreamingCase
from earlybird.planning.case import SessionCase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from earlybird.result import Result

CASES: Final = {case.name: case for case in (StreamingCase, SessionCase)}
"""By name."""


def case_named(name: str, where: str) -> Callable[..., StreamingCase | SessionCase]:
    """Find the kind of case that a study's part asks for; raise InputError, which says where, if there is none."""
    if name not in CASES:
        raise InputError(f"{where}: there is no model {name!r}; there is {', '.join(CASES)}.")
    return CASES[name]


def compute(document: Mapping[str, Any], seed: int) -> Result:
    """Make the run that a case's `document` describes."""
    return CASES[document["model"]](**document["case"]).result(seed)
