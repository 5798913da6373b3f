"""A command in an emulated network: the simulator's links between it and the rest of the world."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from earlybird import _core
from earlybird.backends import namespaces
from earlybird.errors import EarlybirdError, InputError, ScenarioError
from earlybird.internet import GATEWAY, masquerade, resolver, resolver_hint
from earlybird.loading import DEFAULT_SEED, Overrides, ScenarioLike, override_texts, path_of, resolve_network
from earlybird.outputs import check_outputs
from earlybird.quantities import complete_rate, parse_duration, parse_rate
from earlybird.runs import checked_seed
from earlybird.state_file import states_to

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = "10.77.0.1"  # the command's address
THERE = "10.77.0.2"  # the address of the far side: of the servers there or of this machine
LEAST_MTU = 1280  # the minimum link MTU of IPv6 (RFC 8200 §5)
LARGEST_MTU = 65535

_FarSide: TypeAlias = Literal["machine", "own", "gateway"]
"""This machine; servers alone; servers, and a way to the Internet."""


@dataclass(frozen=True)
class Emulation:
    """
    The end of a command in an emulated network.

    `exit_code` is the command's, or 128 and the signal's number. `summary` has ``time_s``; ``links``, what passed each
    direction; ``delay_added``, how much later than due packets came out (quantiles in µs); packets ``unrouted`` (of no
    flow), ``overflows`` (no memory), ``undelivered`` (not taken by their host) and ``device_drops`` (dropped by Linux
    in front of the network; None if not known); ``capture_error`` and ``statistics_error``, why a file is not complete.
    """

    exit_code: int
    summary: dict[str, Any]


def link(
    *,
    rate: str | None = None,
    trace: str | Path | None = None,
    trace_start: str | None = None,
    delay: str = "0ms",
    queue: str = "unlimited",
    loss: str | None = None,
    loss_burst: float | None = None,
    outages: Sequence[str] = (),
    policer: str | None = None,
    arq: str | None = None,
    jitter: str | None = None,
    jitter_correlation: str | None = None,
    jitter_reorder: bool = False,
    reorder: str | None = None,
    duplicate: str | None = None,
) -> dict[str, Any]:
    """Describe one direction of a link as scenarios do, from the words of `earlybird emulate`."""
    channel: dict[str, Any] = {"delay": delay, "queue": _queue(queue, rate)}
    channel |= {} if jitter is None else _varied(delay, jitter, jitter_correlation, reorder=jitter_reorder)
    channel |= {} if rate is None else {"rate": complete_rate(rate)}
    channel |= {} if trace is None else {"trace": str(Path(trace).resolve())}
    channel |= {} if trace_start is None else {"trace-start": _trace_start(trace_start)}
    rules = [_loss(loss, loss_burst)] if loss is not None else []
    rules += [_policer(policer)] if policer is not None else []
    channel |= {"loss": rules} if rules else {}
    channel |= {} if arq is None else {"arq": _arq(arq)}
    channel |= {"outages": [_outage(text) for text in outages]} if outages else {}
    channel |= {} if reorder is None else {"reorder": {"probability": reorder, "delay": LATE}}
    return channel | ({} if duplicate is None else {"duplicate": {"probability": duplicate}})


def _loss(share: str, burst: float | None) -> dict[str, Any]:
    if burst is None:
        return {"bernoulli": {"probability": share}}
    return {"gilbert": {"ratio": share, "mean-burst": burst}}


def _trace_start(text: str) -> str | dict[str, Any]:
    return text if text == RANDOM else {"at": text}


def _outage(text: str) -> dict[str, Any]:
    """Read an outage: its length, start and period, such as ``2s@30s/60s``."""
    duration, at, rest = text.partition("@")
    start, slash, period = rest.partition("/")
    if not at:
        raise InputError(
            f"outage = {text}: a length and a start, such as 2s@30s, or 2s@30s/60s to repeat it each 60 s."
        )
    return {"start": start, "duration": duration} | ({"period": period} if slash else {})


def _policer(text: str) -> dict[str, Any]:
    """Read a policer: its rate and the size of its bucket, such as ``10Mb/s,125kB``."""
    rate, comma, burst = text.partition(",")
    size = _bytes(burst) if comma else None
    if size is None or size < PACKET:
        raise InputError(
            f"policer = {text}: a rate and the size of the bucket, from {PACKET} bytes, such as 10Mb/s,125kB."
        )
    return {"policer": {"rate": complete_rate(rate), "burst": size}}


def _arq(text: str) -> dict[str, Any]:
    """Read retransmissions by the link: the share that fails, the time to the next try, and the most: ``10%,8ms,4``."""
    loss, delay, retries = (*text.split(","), "", "", "")[:3]
    if not (loss and delay) or text.count(",") > 1 + is_count(retries):
        raise InputError(
            f"arq = {text}: the share of transmissions that fail, and the time to the next one, such as 10%,8ms; the "
            "most retransmissions behind it, 10%,8ms,4 (default 3)."
        )
    return {"loss": loss, "delay": delay} | ({"retries": int(retries)} if retries else {})


def _varied(delay: str, jitter: str, correlation: str | None, *, reorder: bool) -> dict[str, Any]:
    """Describe a delay that varies evenly by the jitter upwards and downwards, as netem's ``delay 50ms 10ms``."""
    mean, half = parse_duration(delay), parse_duration(jitter)
    rule: dict[str, Any] = {"correlation": correlation or 0, "reorder": reorder}
    if mean is None or half is None:
        return {"jitter": rule | {"distribution": {"uniform": jitter}}}  # the core tells what is wrong
    if half > mean:
        raise InputError(
            f"jitter = {jitter}: more than the delay of {delay}, by which packets would come before they are sent."
            f" Give --delay {jitter} or more."
        )
    least, width = (f"{round(1e9 * seconds)}ns" for seconds in (mean - half, 2 * half))
    return {"delay": least, "jitter": rule | {"distribution": {"uniform": width}}}


RANDOM = "random"  # the place of a trace at which it begins

PACKET = 1500  # bytes; the smallest queue that is stated as a time

DIGITS = 18  # of a 64-bit number with a sign

LATE = "10ms"  # extra delay of reordered packets, as in netem's manual


def _queue(text: str, rate: str | None) -> str | dict[str, Any]:
    if text == "unlimited":
        return text
    seconds = parse_duration(text) if text.endswith("s") else None
    if seconds is not None:
        if rate is None:
            raise InputError(
                f"queue = {text}: a time needs the rate of the link; give bytes, such as 64kB, or packets."
            )
        return {"bytes": max(round(parse_rate(complete_rate(rate)) * seconds / 8), PACKET)}
    if is_count(text):
        return {"packets": int(text)}
    size = _bytes(text)
    return {text: {}} if size is None else {"bytes": size}


def _bytes(text: str) -> int | None:
    """Return the bytes of a size with its unit; None if it is none."""
    for suffix, factor in (("kB", 1000), ("KiB", 1024), ("MB", 10**6), ("MiB", 2**20), ("B", 1)):
        number = text.removesuffix(suffix)
        if number != text and is_count(number):
            return int(number) * factor
    return None


def is_count(text: str) -> bool:
    """Return whether a text is a whole number of a size that Python reads and a scenario holds."""
    return text.isdecimal() and len(text) <= DIGITS


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

    The command is alone at 10.77.0.1 and fd77::1; the servers run on the far side, 10.77.0.2 and fd77::2, started
    before it and stopped after it, with ten seconds to finish. Without servers the far side is this machine, which
    takes root. With `internet` the command reaches the Internet over the same links, by IPv4: root's through this
    machine, anybody's through ``slirp4netns``. `flow` is the one whose path the packets take (default: the first).
    `statistics` is a file for the state of the network each second, as `watch` is called with it.
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
    tool = resolver_hint(has_servers=has_servers)
    names = resolver(tool)
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
