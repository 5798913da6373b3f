"""
Modules and names that are loaded when they are first asked for, so that a command loads only what it uses.

This is the one way in which the package defers an import: no function has one of its own.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from earlybird.extras import missing_package

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def loader(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """
    Return a package's ``__getattr__`` and ``__dir__`` (PEP 562): `homes` has by name its module, seen from the package.

    ``dir``, from which shells and notebooks complete names, lists what is public, loaded or not.
    """

    def load(name: str) -> Any:  # noqa: ANN401, as of any attribute
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f".{homes[name]}", package)
        return home if homes[name] == name else getattr(home, name)

    def names() -> list[str]:
        own = vars(sys.modules[package])
        return sorted({*homes, *own["__all__"], *(name for name in own if name.startswith("__"))})

    return load, names


class LateModule(ModuleType):
    """
    Stands for a module that takes long to load, or may be missing, until a name of it is asked for.

    Type checkers are shown the import itself, under ``TYPE_CHECKING``; at run time the same name is one of these::

        if TYPE_CHECKING:
            from scipy import stats
        else:
            stats = LateModule("scipy.stats")
    """

    def __dir__(self) -> list[str]:
        """Load the module, if it is not yet, and list its names."""
        return dir(import_module(self.__name__))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401, as of any attribute
        """Load the module, if it is not yet, and return a name of it."""
        try:
            return getattr(import_module(self.__name__), name)
        except ModuleNotFoundError as error:
            raise missing_package(error) or error from error
