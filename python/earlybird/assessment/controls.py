"""The congestion controls that an assessed one is compared with, with the same loss recovery as it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from earlybird.transports import transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FAMILIES: Final = {"cubic": "cubic", "reno": "sack", "bbr1": "bbr1", "bbr3": "bbr3"}
"""Transports by what a case names after ``@``. Reno is `sack`: as the others, it knows what arrived."""


def ending(control: str) -> str:
    """Return what the name has after the congestion control's, such as ``-rack``; InputError if there is none."""
    return control.removeprefix(transport(control).name)


def compared_with(control: str, against: Sequence[str] | None) -> list[str]:
    """Return the others, the first of which decides what is better: by default CUBIC, Reno, BBR v1 and BBR v3."""
    names = [f"{name}{ending(control)}" for name in FAMILIES.values()] if against is None else against
    for name in names:
        transport(name)
    return [name for name in dict.fromkeys(names) if name != control]


def filled(case: Mapping[str, Any], parameters: Sequence[str], control: str, end: str) -> dict[str, Any]:
    """Return the parameters of a case with the names of the congestion controls; `end` is that of ``@cubic``."""
    given = {key: value for key, value in case.items() if key != "at"}
    named = {key: _named(value, end) for key, value in given.items()}
    return {**named, **dict.fromkeys(parameters, control)}


def _named(value: object, end: str) -> object:
    return f"{FAMILIES[value[1:]]}{end}" if isinstance(value, str) and value.startswith("@") else value
