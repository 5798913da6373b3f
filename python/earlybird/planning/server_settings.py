"""The settings of a server for the sender that was simulated, as lines to type and as a script that can undo them."""

from __future__ import annotations

import dataclasses
import shlex
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError
from earlybird.outputs import SETTINGS, write_output

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CONGESTION_CONTROL: Final = "net.ipv4.tcp_congestion_control"
RELAY: Final = "earlybird"  # the program whose command `transmit` sends
KEY: Final = "PASSPHRASE"  # stands for the passphrase of a relay and its receiver, as VIEWER does for an address
KEY_VARIABLE: Final = f"EARLYBIRD_PASSPHRASE={KEY}"
"""In front of a relay's command, as other users of a machine see arguments, but no variables."""
BUILT_IN: Final = ("reno", "cubic")
"""Congestion controls that are no modules in the kernels of distributions: RENO always, CUBIC as their default."""

SCRIPT: Final = "server_settings.sh"
SYSCTL_FILE: Final = "/etc/sysctl.d/90-earlybird.conf"
MODULE_FILE: Final = "/etc/modules-load.d/earlybird.conf"
BEFORE: Final = "/root/before-earlybird.conf"  # former values, if the lines are typed


@dataclasses.dataclass(frozen=True)
class ServerSettings:
    """Settings of one sender; what is empty is left as it is."""

    control: str = ""  # congestion control, by its name in the kernel
    sysctls: Mapping[str, str] = dataclasses.field(default_factory=dict)  # further ones
    rto_min: str = ""  # with its unit, ms
    command: tuple[str, ...] = ()  # of a program that sends in its place; VIEWER stands for the viewer's address
    interface: str = ""  # to the viewers; by default that of the default route

    @property
    def is_pert(self) -> bool:
        """Whether the congestion control is the one that `earlybird kernel` loads."""
        return self.control == "pert"

    @property
    def has_key(self) -> bool:
        """Whether the command is a relay with a key, which it takes from its environment."""
        return self.command[:1] == (RELAY,)

    @property
    def module(self) -> str:
        """The kernel's module of the congestion control, if it may be one."""
        return "" if self.is_pert or not self.control or self.control in BUILT_IN else f"tcp_{self.control}"

    @property
    def all_sysctls(self) -> dict[str, str]:
        """All sysctls by key."""
        control = {CONGESTION_CONTROL: self.control} if self.control and not self.is_pert else {}
        return {**control, **self.sysctls}

    def lines(self) -> list[str]:
        """List the commands to type: save, set, check, and undo as the last one."""
        if self.command:
            return [f"{KEY_VARIABLE} {shlex.join(self.command)}" if self.has_key else shlex.join(self.command)]
        keys = [CONGESTION_CONTROL, *self.sysctls] if self.control else []
        save = [f"sysctl {' '.join(keys)} > {BEFORE}"] if keys else []
        check = [f"ss -tin    # check: new connections have {self.control}"] if keys else []
        return [*save, *self._sysctl_lines(), *self._route_lines(), *check, *self._undo_lines()]

    def script(self, title: str) -> str:
        """Return the script that applies, checks and undoes them."""
        values = {
            "SYSCTLS": "\n".join(f"{key}={value}" for key, value in self.all_sysctls.items()),
            "MODULE": self.module,
            "CONTROL": self.control,
            "PERT": "yes" if self.is_pert else "",
            "RTO_MIN": self.rto_min,
            "COMMAND": " ".join(self.command),
            "HAS_KEY": "yes" if self.has_key else "",
            "INTERFACE": self.interface,
        }
        assigned = [f"{name}={shlex.quote(value)}" for name, value in values.items()]
        body = files("earlybird.planning").joinpath(SCRIPT).read_text(encoding="utf-8")
        head, _, rest = body.partition("set -eu\n")
        return "\n".join(
            [
                f"{SETTINGS.decode()}: {title}.",
                f"{head}set -eu",
                *assigned,
                "VIEWER=${VIEWER-}",
                f"{KEY}=${{{KEY}-}}",
                rest,
            ]
        )

    def write(self, path: Path, title: str) -> None:
        """Write the script; raise InputError if there is nothing to set."""
        if not (self.all_sysctls or self.is_pert or self.command):
            raise InputError(f"write-settings = {path}: there is nothing to set on a server for {title}.")
        write_output(path, self.script(title))
        path.chmod(0o755)

    def _sysctl_lines(self) -> list[str]:
        given = " ".join(shlex.quote(f"{key}={value}") for key, value in self.all_sysctls.items())
        module = [f"echo {self.module} > {MODULE_FILE}"] if self.module else []
        lines = [f"printf '%s\\n' {given} > {SYSCTL_FILE}", *module, f"sysctl -p {SYSCTL_FILE}"] if given else []
        load = "earlybird kernel load pert --pin --namespace self    # until a restart; see docs/kernel.md"
        return [*lines, *([load] if self.is_pert else [])]

    def _route_lines(self) -> list[str]:
        return [f"ip route change {self._route} rto_min {self.rto_min}    # until a restart"] if self.rto_min else []

    def _undo_lines(self) -> list[str]:
        """Return one line that restores what was there before, except a former timeout of the route."""
        if not self.control:
            return []
        written = [*([SYSCTL_FILE] if self.all_sysctls else []), *([MODULE_FILE] if self.module else [])]
        undo = [
            *([f"rm {' '.join(written)}"] if written else []),
            f"sysctl -p {BEFORE}",
            *(["earlybird kernel unload"] if self.is_pert else []),
            *([f"ip route change {self._route}"] if self.rto_min else []),
        ]
        return [f"{'; '.join(undo)}    # undo"]

    @property
    def _route(self) -> str:
        """The route to the viewers without a timeout, found by the shell of the server."""
        if self.interface:
            found, rest = f"ip -o route show default dev {self.interface}", f" dev {self.interface}"
        else:
            found, rest = "ip -o route get fibmatch VIEWER", ""
        return f"$({found} | sed 's/ rto_min lock [^ ]*//'){rest}"
