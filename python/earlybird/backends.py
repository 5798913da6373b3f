"""Backends: what executes a run, the simulator or one of those in real time."""

from __future__ import annotations

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
BACKEND_KEY = "backend"  # the key of scenarios
MILLISECOND = 1000.0  # in microseconds


def warn_of_disturbance(summary: Mapping[str, Any]) -> None:
    """Warn of packets that left the links late or were lost beside them, and of hosts that slept too long."""
    if summary.get("disturbed"):
        links, hosts = (summary[f"{name}_p99_us"] / MILLISECOND for name in ("added_delay", "host_lateness"))
        warnings.warn(
            f"the run was disturbed: one packet in a hundred left the links {links:.1f} ms late or more, hosts were"
            f" woken {hosts:.1f} ms late one time in a hundred, and {summary['undelivered']} packets were lost between"
            " the two. hint: let nothing else run beside it, or lower the rates.",
            ScenarioWarning,
            stacklevel=3,
        )


@contextmanager
def namespaces() -> Iterator[None]:
    """Raise EarlybirdError with instructions if the system does not provide a network namespace."""
    try:
        yield
    except _core.NamespaceError as error:
        raise EarlybirdError(
            f"this system gives no network namespace with a TUN device: {error.strerror}. Run as root, or allow user"
            " namespaces (`sysctl kernel.unprivileged_userns_clone=1`, `sysctl user.max_user_namespaces=10000`, on"
            " Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`), and `modprobe tun` if there is no"
            " /dev/net/tun."
        ) from error
