"""Checks of a line before anything is simulated: that it makes sense, and that the film fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from earlybird.errors import InputError, ScenarioError
from earlybird.formatting import format_rate
from earlybird.loading import resolve
from earlybird.planning.answer import may_be_faster
from earlybird.quantities import parse_duration

if TYPE_CHECKING:
    from earlybird.planning.path import NetworkPath
    from earlybird.planning.stream import StreamSpec

ROOM: Final = 1.25
"""A line that would do ÷ what just passes: room to catch up, of which SRT's defaults leave as much for repairs."""


OPTIONS: Final = {".outages": "outage", ".policer": "policer", ".arq": "arq"}
"""Options by the keys of a link that they set."""

TRANSFER: Final = {
    "name": "transfer",
    "from": "sender",
    "to": "viewer",
    "transport": "cubic",
    "application": {"bulk": {}},
}
"""Any flow over a path: no scenario is without one."""


def check_outages(path: NetworkPath, stream: StreamSpec) -> None:
    """Raise InputError if a session ends before an outage begins."""
    for text, outage in zip(path.outages, path.network()["links"][0].get("outages", ()), strict=True):
        if (parse_duration(outage["start"]) or 0.0) >= stream.length:
            raise InputError(
                f"outage = {text}: it begins when sessions of {stream.length:g} s have ended. Let it begin earlier, or "
                "give --duration."
            )


def check_line(path: NetworkPath) -> None:
    """Raise InputError if there is no such queue, outage, policer or retransmission."""
    try:
        resolve({"duration": "1s", "network": path.network(), "flows": [TRANSFER]})
    except ScenarioError as error:
        option = next((name for key, name in OPTIONS.items() if key in error.path), None)
        if option:
            raise InputError(str(error).replace(error.path, option)) from error
        if ".queue" not in error.path:
            raise
        raise InputError(
            f"queue = {path.queue}: a size such as 64kB, a time such as 500ms, a number of packets from 1, or a rule "
            "such as codel."
        ) from error


def fits(stream: StreamSpec, path: NetworkPath) -> bool:
    """Return whether the link is as fast as the film for all viewers."""
    return path.viewers * stream.wire_rate / (1 - path.loss) <= path.passing_rate


def check_it_fits(stream: StreamSpec, path: NetworkPath) -> None:
    """Raise InputError if the link is slower than the film, with sufficient rates of link and film."""
    if fits(stream, path):
        return
    needed = path.viewers * stream.wire_rate / (1 - path.loss)
    fitting = stream.clip.mean_rate * path.passing_rate / needed
    slowest = "policer" if path.passing_rate < path.rate else "rate"
    times = f" for each of {path.viewers} viewers" if path.viewers > 1 else ""
    film = f"{format_rate(stream.clip.mean_rate)}{times}"
    raise InputError(
        f"{slowest} = {format_rate(path.passing_rate)}: the film has {film}, which is {format_rate(needed)} with "
        f"headers and repairs, and no sender carries that. A line of {format_rate(ROOM * needed)} would do, or a film "
        f"of {format_rate(fitting / ROOM)}.{''.join(f' {text}' for text in may_be_faster(path))}"
    )
