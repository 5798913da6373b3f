"""Where a scenario takes place: in the simulator, or in real time."""

from __future__ import annotations

import json
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from earlybird import _core
from earlybird.errors import EarlybirdError, ScenarioWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Backend: TypeAlias = Literal["sim", "live", "kernel"]
"""The simulator; over emulated links its endpoints in real time, or the TCP of this machine's kernel."""

SIMULATOR = "sim"
KERNEL = "kernel"
MILLISECOND = 1000.0
"""In microseconds."""


def backend_of(resolved: str) -> str:
    """Return where a complete scenario takes place."""
    return str(json.loads(resolved).get("backend", SIMULATOR))


def check_backend(resolved: str) -> None:
    """Raise ScenarioError if a complete scenario asks for what the backend cannot do in which it is to take place."""
    _core.check_backend(resolved)


def is_simulated(resolved: str) -> bool:
    """Return whether a complete scenario takes no real time, so that no run disturbs it."""
    return backend_of(resolved) == SIMULATOR


def warn_of_disturbance(summary: Mapping[str, Any]) -> None:
    """
    Warn of a run in real time that the machine did not keep up with.

    Warns
    -----
    ScenarioWarning
        If packets left the links much later than they were due, or did not get there or from there, or the hosts slept
        too long.
    """
    if summary.get("disturbed"):
        links, hosts = (summary[f"{name}_p99_us"] / MILLISECOND for name in ("added_delay", "hosts_late"))
        warnings.warn(
            f"the run was disturbed: one packet in a hundred left the links {links:.1f} ms late or more, hosts were"
            f" woken {hosts:.1f} ms late one time in a hundred, and {summary['undelivered']} packets were lost between"
            " the two. hint: let nothing else run beside it, or lower the rates.",
            ScenarioWarning,
            stacklevel=3,
        )


@contextmanager
def namespaces() -> Iterator[None]:
    """Say what to do where the system gives no network namespace."""
    try:
        yield
    except _core.NamespaceError as error:
        raise EarlybirdError(
            f"this system gives no network namespace with a TUN device: {error.strerror}. Run as root, or allow user"
            " namespaces (`sysctl kernel.unprivileged_userns_clone=1`, `sysctl user.max_user_namespaces=10000`, on"
            " Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), and `modprobe tun` if there is no"
            " /dev/net/tun."
        ) from error
