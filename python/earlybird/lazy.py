"""Packages whose names are loaded when they are first asked for, so that a command loads only what it uses."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """
    Make a package's ``__getattr__`` (PEP 562).

    Parameters
    ----------
    package
        Its name.
    homes
        By name, the module below the package that defines it; the name itself for a module.

    Returns
    -------
    Callable
        What loads a name, and raises AttributeError if there is none.
    """

    def load(name: str) -> Any:  # noqa: ANN401, as of any attribute
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f"{package}.{homes[name]}")
        return home if homes[name] == name else getattr(home, name)

    return load
