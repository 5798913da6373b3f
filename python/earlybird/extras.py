"""Packages that only some commands need, and the extra of this package that installs each."""

from __future__ import annotations

from typing import Final

from earlybird.errors import EarlybirdError

EXTRAS: Final = {
    "av": "media",
    "distributed": "dask",
    "gymnasium": "gym",
    "jinja2": "studies",
    "optuna": "studies",
    "scipy": "studies",
    "starlette": "web",
    "uvicorn": "web",
    "vl_convert": "plots",
    "vlc": "testbed",
}
"""By module, the extra in ``pyproject.toml`` that brings it."""


class MissingPackageError(EarlybirdError, ModuleNotFoundError):
    """A package is not installed that belongs to an extra of earlybird."""


def missing_package(error: ModuleNotFoundError) -> MissingPackageError | None:
    """Return an error that names the extra to install; None if the module belongs to no extra."""
    module = (error.name or "").partition(".")[0]
    if module not in EXTRAS:
        return None
    extra = EXTRAS[module]
    return MissingPackageError(
        f"This needs the package {module}, which is not installed; `pip install 'earlybird[{extra}]'` installs it, and "
        "`pip install 'earlybird[all]'` everything that any command needs.",
        name=error.name,
    )
