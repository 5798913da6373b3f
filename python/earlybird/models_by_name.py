"""The models that may be in the place of a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.models.case import StreamingCase
from earlybird.planning.study_adapter import SessionCase
from earlybird.tables import build

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from earlybird.models.described import DescribedCase

MODELS: Final[Mapping[str, Callable[..., DescribedCase]]] = {case.name: case for case in (StreamingCase, SessionCase)}


def model_named(name: str, where: str) -> Callable[..., DescribedCase]:
    """Return the model that a study's part names; raise InputError with `where` if there is none."""
    if not isinstance(name, str) or name not in MODELS:
        raise InputError(f"{where}: there is no model {name!r}; there is {', '.join(MODELS)}.")
    return MODELS[name]


def case_of(document: Mapping[str, Any]) -> DescribedCase:
    """Return the case that a kept result describes; raise InputError if there is none."""
    return build(model_named(document["model"], "model"), document.get("case", {}), "case")
