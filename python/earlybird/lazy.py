"""
Modules and names that are loaded when they are first asked for, so that a command loads only what it uses.

This is the one way in which the package defers an import: no function has one of its own.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from earlybird.extras import missing_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__`` (PEP 562): `homes` has by name its module, seen from the package."""

    def load(name: str) -> Any:  # noqa: ANN401, as of any attribute
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f".{homes[name]}", package)
        return home if homes[name] == name else getattr(home, name)

    return load


class LateModule(ModuleType):
    """
    Stands for a module that takes long to load, or may be missing, until a name of it is asked for.

    Type checkers are shown the import itself, under ``TYPE_CHECKING``; at run time the same name is one of these::

        if TYPE_CHECKING:
            from scipy import stats
        else:
            stats = LateModule("scipy.stats")
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401, as of any attribute
        """Load the module, if it is not yet, and return a name of it."""
        try:
            return getattr(import_module(self.__name__), name)
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from error
