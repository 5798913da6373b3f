"""Requirements of a test bed."""

from __future__ import annotations

import ctypes.util
import difflib
import importlib.util
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError, InputError
from earlybird.testbed import chromium
from earlybird.testbed.viewer import wrapped

if TYPE_CHECKING:
    from collections.abc import Collection

ALGORITHMS: Final = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
PACKAGES: Final = "apt-get install ffmpeg pulseaudio vlc-bin vlc-plugin-base chromium util-linux"
"""All that Debian has of it."""
LIBRARY: Final = "pip install 'earlybird[testbed]'"  # installs python-vlc


class Need(NamedTuple):
    """A requirement."""

    name: str
    why: str
    is_there: bool
    hint: str


def needs(clients: Collection[str]) -> list[Need]:
    """List what plays with these clients need of the machine's programs and libraries."""
    found = [
        _program("ffmpeg", "makes the film"),
        _program("pulseaudio", "the clock of the sound"),
        _program("setpriv", "ends what was started"),
        _program("unshare", "keeps the players' processes together"),
    ]
    if "vlc" in clients:
        library = ctypes.util.find_library("vlc") is not None
        found.append(Need("libvlc", "the client vlc", library, PACKAGES))
        found.append(Need("python-vlc", "the client vlc", importlib.util.find_spec("vlc") is not None, LIBRARY))
    if "chromium" in clients:
        found.append(Need("chromium", "the client chromium", chromium.program() is not None, PACKAGES))
    return found


def rights() -> Need:
    """Return whether this system gives namespaces with a network, processes and mounts of their own."""
    hint = ""
    try:
        shape = link(rate="1Gb/s")
        code = emulate(network(shape, shape), wrapped(["true"]), servers=[["true"]]).exit_code
        hint = "" if code == 0 else "`unshare --pid --mount` is not allowed: run as root."
    except EarlybirdError as error:
        hint = str(error)
    return Need("namespaces", "the link, and an end for all that was started", not hint, hint)


def senders() -> Need:
    """Return the requirement of congestion controls, with those that are available."""
    names = available_senders()
    hint = "`modprobe tcp_bbr`; `earlybird kernel load pert`"
    return Need("senders", ", ".join(names), bool(names), hint)


def available_senders() -> tuple[str, ...]:
    """Return the congestion controls that the kernel has loaded."""
    return tuple(ALGORITHMS.read_text(encoding="ascii").split()) if ALGORITHMS.exists() else ()


def check_sender(name: str) -> None:
    """Make sure that the kernel has a congestion control; the error has what may load it."""
    known = available_senders()
    if name in known:
        return
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    load_it = "`earlybird kernel load pert` loads it. " if name == "pert" else f"`modprobe tcp_{name}` may load it. "
    raise InputError(
        f"sender: this kernel has no congestion control {name!r}; {hint}{load_it}There are: {', '.join(known)}."
    )


def check(clients: Collection[str]) -> None:
    """Make sure that plays with these clients can be made; the error has what installs what is missing."""
    missing = [need for need in needs(clients) if not need.is_there]
    if missing:
        names = ", ".join(need.name for need in missing)
        hints = "; ".join(dict.fromkeys(need.hint for need in missing))
        raise EarlybirdError(f"missing: {names}. Install: {hints}")
    allowed = rights()
    if not allowed.is_there:
        raise EarlybirdError(allowed.hint)


def _program(name: str, why: str) -> Need:
    return Need(name, why, shutil.which(name) is not None, PACKAGES)
