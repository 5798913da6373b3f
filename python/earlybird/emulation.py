"""A command in an emulated network: the simulator's links between it and the rest of the world."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from earlybird import _core
from earlybird.backends import namespaces
from earlybird.errors import EarlybirdError, InputError, ScenarioError
from earlybird.internet import GATEWAY, masquerade, resolver, way_out
from earlybird.loading import DEFAULT_SEED, Overrides, ScenarioLike, override_texts, path_of, resolve_network
from earlybird.outputs import check_outputs
from earlybird.quantities import complete_rate
from earlybird.runs import checked_seed
from earlybird.state_file import states_to

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = "10.77.0.1"
"""The command's address."""
THERE = "10.77.0.2"
"""The address of the far side: of the servers there or of this machine."""
LEAST_MTU = 1280
"""The minimum link MTU of IPv6 (RFC 8200 §5)."""
LARGEST_MTU = 65535

_FarSide: TypeAlias = Literal["machine", "own", "gateway"]
"""This machine; servers alone; servers, and a way to the Internet."""


@dataclass(frozen=True)
class Emulation:
    """
    The result of a command in an emulated network.

    Attributes
    ----------
    exit_code
        The command's; 128 and the signal's number if one ended it, as shells say it.
    summary
        ``time_s``; ``links``, one dictionary for each direction of each link with what passed it; ``delay_added``, how
        much later than due packets came out (quantiles in µs); ``unrouted``, packets that belong to no flow;
        ``overflows``, those for which there was no memory; ``undelivered``, those that their host did not take;
        ``capture_error`` and ``statistics_error``, why the packets or the states in their files are not complete.
    """

    exit_code: int
    summary: dict[str, Any]


def link(
    *,
    rate: str | None = None,
    trace: str | Path | None = None,
    delay: str = "0ms",
    queue: str = "unlimited",
    loss: str | None = None,
    reorder: str | None = None,
    duplicate: str | None = None,
) -> dict[str, Any]:
    """
    Describe one direction of a link as scenarios do.

    Parameters
    ----------
    rate
        Bits per second, such as ``15Mb/s`` or short ``15M``.
    trace
        A file in mahimahi's format, in place of a rate.
    delay
        Propagation time.
    queue
        ``unlimited``, a limit in packets (``100``) or bytes (``64kB``), or a discipline with its defaults (``codel``,
        ``fq-codel``, ``pie``, ``red``, ``dualpi2``).
    loss, duplicate
        Share of the packets that get lost or arrive twice, such as ``1%``.
    reorder
        Share of the packets that arrive 10 ms late, while others pass them.
    """
    channel: dict[str, Any] = {"delay": delay, "queue": _queue(queue)}
    channel |= {} if rate is None else {"rate": complete_rate(rate)}
    channel |= {} if trace is None else {"trace": str(Path(trace).resolve())}
    channel |= {} if loss is None else {"loss": [{"bernoulli": {"probability": loss}}]}
    channel |= {} if reorder is None else {"reorder": {"probability": reorder, "delay": LATE}}
    return channel | ({} if duplicate is None else {"duplicate": {"probability": duplicate}})


LATE = "10ms"
"""Extra delay of reordered packets, as in netem's manual."""


def _queue(text: str) -> str | dict[str, Any]:
    if text == "unlimited":
        return text
    if text.isdecimal():
        return {"packets": int(text)}
    for suffix, factor in (("kB", 1000), ("KiB", 1024), ("MB", 10**6), ("MiB", 2**20), ("B", 1)):
        number = text.removesuffix(suffix)
        if number != text and number.isdecimal():
            return {"bytes": int(number) * factor}
    return {text: {}}


def network(there: dict[str, Any], back: dict[str, Any]) -> dict[str, Any]:
    """Make a network of one link between two nodes."""
    return {
        "title": "An emulated link",
        "network": {"links": [{"from": "near", "to": "far", **there, "reverse": back}]},
    }


def emulate(
    scenario: ScenarioLike,
    command: Sequence[str],
    *,
    servers: Sequence[Sequence[str]] = (),
    internet: bool = False,
    overrides: Overrides = (),
    flow: str | None = None,
    seed: int | None = None,
    mtu: int = 1500,
    pcap: str | Path | None = None,
    statistics: str | Path | None = None,
    watch: Callable[[dict[str, Any]], None] | None = None,
) -> Emulation:
    """
    Run a command whose packets cross the network of a scenario, in real time.

    The command runs in a network of its own, at address 10.77.0.1 or fd77::1, from which everything goes over the
    scenario's links to the far side: 10.77.0.2 or fd77::2.

    Parameters
    ----------
    scenario
        As of `earlybird.run`, of which only the network counts, or a network by itself; see `network` for one link.
    command
        The program with its arguments.
    servers
        Servers to run on the far side, each with its arguments. They are started first, and stopped when the command
        has ended. Without any, the far side is this machine, which takes the right to change its network (root).
    internet
        Whether the command reaches the Internet, over the same links: root's through this machine, which forwards
        packets meanwhile; anybody's through ``slirp4netns``. By IPv4 alone.
    overrides
        Values that replace the scenario's.
    flow
        The flow of a scenario whose path through the network the packets take (default: the first one).
    seed
        Of the losses and impairments (default 1).
    mtu
        Largest packet in bytes.
    pcap
        File to write all packets to as both sides see them, in the format pcapng.
    statistics
        File to write the state of the network to each second and at the end, as JSON lines. `earlybird top` shows it.
    watch
        Called with the same.

    Returns
    -------
    Emulation
        How the command ended and what the network did.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or has no such flow.
    InputError
        If there is no command, or no such program.
    EarlybirdError
        If the system does not allow what is needed; the text says what to do.
    OSError
        If a file cannot be written.
    """
    if not command:
        raise InputError("there is no command to run; write it behind `--`, such as `-- curl http://10.77.0.2:8000`.")
    if not LEAST_MTU <= mtu <= LARGEST_MTU:
        raise InputError(f"mtu = {mtu}: the largest packet has {LEAST_MTU} to {LARGEST_MTU} bytes.")
    check_outputs({"pcap": pcap, "statistics": statistics}, {"scenario": path_of(scenario)})
    resolved = resolve_network(scenario, override_texts(overrides))
    if flow is not None and isinstance(resolved, _core.ResolvedNetwork):
        raise InputError(f"flow = {flow!r}: a network by itself has no flows; its ends are those of its links.")
    with ExitStack() as files:
        write = files.enter_context(states_to(Path(statistics))) if statistics else None

        def take(snapshot: dict[str, Any] | None) -> None:
            if snapshot is None:
                return
            if write:
                write(snapshot)
            if watch:
                watch(snapshot)

        far, names = _far_side(files, has_servers=bool(servers), internet=internet)
        outcome = _guarded(
            lambda: _core.emulate(
                resolved,
                checked_seed(DEFAULT_SEED if seed is None else seed),
                list(command),
                servers=[list(server) for server in servers],
                far=far,
                resolver=names,
                mtu=mtu,
                flow=flow,
                pcap=None if pcap is None else str(pcap),
                watch=take,
            )
        )
        code, error = outcome.pop("exit_code"), outcome.pop("capture_error")
        take(outcome)
    return Emulation(code, {**outcome, "capture_error": error, "statistics_error": write and write.error})


def _far_side(files: ExitStack, *, has_servers: bool, internet: bool) -> tuple[_FarSide, str | None]:
    """Choose the far side; open its way to the Internet, if it is to have one, and find who resolves names there."""
    if not internet:
        return ("own" if has_servers else "machine"), None
    tool = way_out(has_servers=has_servers)
    names = files.enter_context(resolver(tool))
    if tool != GATEWAY:
        files.enter_context(masquerade(tool, HERE))
    return ("gateway" if tool == GATEWAY else "machine"), None if names is None else str(names)


def _guarded(act: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Raise EarlybirdError with instructions if the system does not allow what is needed."""
    try:
        with namespaces():
            return act()
    except _core.HostError as error:
        raise EarlybirdError(
            f"the far side cannot be this machine: {error.strerror}. Run as root, or have the server run on the far"
            " side, `--server 'python3 -m http.server'`; `--internet` leads elsewhere."
        ) from error


__all__ = ["HERE", "THERE", "Emulation", "ScenarioError", "emulate", "link", "network"]
