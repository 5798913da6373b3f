"""Congestion controls of one's own: files of Python, and libraries of the template's C interface."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird import _core, transports
from earlybird.errors import InputError, because

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType

METHODS: Final = ("on_ack", "on_loss", "on_rto")
"""Methods that the class of a control must have."""

_loaded: dict[str, None] = {}  # paths in the order in which they were loaded


def load(path: str | Path) -> list[str]:
    """
    Load congestion controls from a file; a file that has changed replaces what was loaded from it.

    Parameters
    ----------
    path
        A file of Python with one class or more that have ``on_ack``, ``on_loss`` and ``on_rto``, or a library that was
        built from the folder that ``earlybird new --control`` makes.

    Returns
    -------
    list[str]
        The names of the controls: transports from now on, also with ``-er`` and ``-rack``.

    Raises
    ------
    InputError
        If the file cannot be read, or has no control.
    ScenarioError
        If it is no control of this version, or its name is in use.
    """
    file = Path(path).absolute()
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the plugin {path}: {because(error)}.") from error
    build = hashlib.sha256(content).hexdigest()[:16]
    if file.suffix == ".py":
        names = [_core.load_class(kind, name, title, str(file), build) for kind, name, title in _classes(file, content)]
    else:
        names = [_core.load_library(str(file), build)]
    transports.transport.cache_clear()
    _loaded[str(file)] = None
    return names


def load_all(paths: Iterable[str | Path]) -> None:
    """Load several files."""
    for path in paths:
        load(path)


def loaded() -> tuple[str, ...]:
    """Return the files that were loaded, for worker processes."""
    return tuple(_loaded)


def _classes(file: Path, content: bytes) -> list[tuple[Callable[..., object], str, str]]:
    """Return the controls of a module: class, name and title."""
    module = _module(file, content)
    found = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and hasattr(kind, METHODS[0])
    ]
    if not found:
        raise InputError(f"{file} has no congestion control; allowed: a class with {', '.join(METHODS)} and `cwnd`.")
    for kind in found:
        if missing := [method for method in METHODS if not hasattr(kind, method)]:
            raise InputError(f"{file}: class {kind.__name__} has no {' and no '.join(missing)}, which a control needs.")
    usual = file.stem.lower().replace("_", "-")
    text = [kind.__doc__ or module.__doc__ or "a congestion control" for kind in found]
    titles = [each.strip().splitlines()[0].rstrip(".") for each in text]
    return [(kind, str(getattr(kind, "name", usual)), title) for kind, title in zip(found, titles, strict=True)]


def _module(file: Path, content: bytes) -> ModuleType:
    """Execute a file as a module, under a name that no other module has."""
    name = f"earlybird_plugin_{file.stem}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(file))
    assert spec  # of a name, there is one
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(file)
    sys.modules[name] = module
    try:
        # The bytes whose hash tells results apart, and no older ones that were compiled before.
        exec(compile(content, str(file), "exec"), vars(module))
    except Exception as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise InputError(f"{file}{line}: the file cannot be loaded: {type(error).__name__}: {error}.") from error
    return module
