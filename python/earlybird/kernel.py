"""PERT as a congestion control of this machine's kernel, loaded and unloaded at run time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from earlybird.errors import EarlybirdError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROGRAM = "earlybird-kernel"
"""The program that loads them: separate, as it needs libelf, which nothing else of earlybird does."""
ALGORITHMS = ("pert",)  # algorithms that can be loaded
USUAL_NAME = "pert"  # its name in the kernel
FAILED = 2  # the program's exit code after what a person can put right, with one line about it on the error stream


def check(name: str = USUAL_NAME) -> list[dict[str, Any]]:
    """List the conditions for loading PERT: ``name``, whether ``met`` (None: unknown), ``found``, ``advice``."""
    conditions: list[dict[str, Any]] = _ask({"check": name})["conditions"]
    return conditions


def load(
    algorithm: str = "pert",
    *,
    parameters: Mapping[str, str] | None = None,
    name: str = USUAL_NAME,
    namespaces: Sequence[str] = (),
    routes: Sequence[str] = (),
    pin: bool = False,
) -> dict[str, Any]:
    """
    Load a congestion control, until it is unloaded or the process that holds it ends; with `pin` without one.

    `parameters` are as of the table ``pert`` of scenarios. It becomes the default of `namespaces` (names of ``ip
    netns``, paths, or ``self``), or with `routes` only that of these destinations. Returns its ``name``, and its
    ``holder`` or the file where it is ``pinned``.
    """
    _check_algorithm(algorithm)
    request = {
        "name": name,
        "settings": list((parameters or {}).items()),
        "namespaces": list(namespaces),
        "routes": list(routes),
        "pin": pin,
    }
    return _ask({"load": request})


def status() -> dict[str, Any]:
    """Return the names that are ``registered``, and of each PERT ``loaded`` its state, parameters and users."""
    return _ask("status")


def unload(name: str = USUAL_NAME) -> None:
    """Unload a congestion control; existing connections keep it."""
    _ask({"unload": name})


def run(
    command: Sequence[str],
    *,
    algorithm: str = "pert",
    parameters: Mapping[str, str] | None = None,
    name: str = USUAL_NAME,
) -> NoReturn:
    """Replace this process by a command whose TCP connections, and no others, have this congestion control."""
    _check_algorithm(algorithm)
    if not command:
        raise InputError("there is no command to run; write it behind `--`, such as `-- curl http://example.org`.")
    _become({"run": {"name": name, "settings": list((parameters or {}).items()), "command": list(command)}})


def watch(name: str = USUAL_NAME, *, every_ack: bool = False) -> NoReturn:
    """Replace this process by one that prints each decision, or every ACK, as a line of JSON."""
    _become({"watch": {"name": name, "every_ack": every_ack}})


def program() -> Path:
    """Find `earlybird-kernel`: beside this Python's programs, else on the path."""
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = shutil.which(PROGRAM, path=places)
    if found is None:
        raise EarlybirdError(
            f"the program `{PROGRAM}` is not there: `make kernel` builds it from the sources (Debian: `apt-get install"
            " clang libelf-dev zlib1g-dev pkg-config`)."
        )
    return Path(found)


def _check_algorithm(algorithm: str) -> None:
    if algorithm not in ALGORITHMS:
        raise InputError(f"`{algorithm}` is no congestion control of earlybird for the kernel; allowed: pert.")


def _ask(request: object) -> dict[str, Any]:
    asked = subprocess.run([program(), json.dumps(request)], capture_output=True, text=True, check=False)
    if asked.returncode:
        complaint = asked.stderr.strip().removeprefix("earlybird: ")
        raise EarlybirdError(complaint or f"{PROGRAM} ended with code {asked.returncode}.")
    answer: dict[str, Any] = json.loads(asked.stdout)
    return answer


def _become(request: object) -> NoReturn:
    found = program()
    sys.stdout.flush()
    os.execv(found, [PROGRAM, json.dumps(request)])
