"""Players over the deliveries: one that never waits, and one that stalls."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .media import Units
from .scenario import seconds

if TYPE_CHECKING:
    from .links import Value
    from .runs import Run
    from .scenario import Flow

ROUNDING = 2e-9
"""Times are rounded to the nanosecond: what comes at its deadline may be there or not."""


def viewer_columns(units: Units | None, flow: Flow, end: float) -> dict[str, Value]:
    """Return the columns about the viewer."""
    match flow.client:
        case {"deadline": settings} if units:
            return deadline(units, seconds(settings["playback-delay"]), end)
        case {"rebuffer": settings} if units:
            # Units that datagrams leave out are stepped over: another rule than waiting for them.
            return rebuffered(units, settings, end) if flow.is_tcp else {}
        case _:
            none = {"units_played": 0, "units_lost": 0, "units_late": 0, "stalls": 0}
            no_number = ("lost_share", "playback_delay_s", "stalled_s", "mean_stall_s", "longest_stall_s")
            return none | dict.fromkeys(no_number, math.nan)


def deadline(units: Units, delay: float, end: float) -> dict[str, Value]:
    """Play every unit at its time; what is not there is lost."""
    due = [(at + delay, come) for at, come in zip(units.written, units.delivered, strict=True) if at + delay < end]
    lost = [come for at, come in due if come > at + ROUNDING]
    share = len(lost) / len(due) if due else math.nan
    return {
        "units_played": len(due) - len(lost),
        "units_lost": len(lost),
        "units_late": sum(come < end for come in lost),
        "lost_share": share,
        "playback_delay_s": delay if due else math.nan,
        **stall_columns([]),
    }


@dataclass
class Playback:
    """Record of a player that stalls."""

    played: int = 0
    started: float = math.nan
    stalls: list[tuple[float, float]] = field(default_factory=list)
    """Time and length."""


def rebuffered(units: Units, settings: dict[str, Any], end: float) -> dict[str, Value]:
    """Play one unit after the other, and wait where the next one is not there."""
    shown = play(units, settings.get("start", 1), settings.get("resume", 1), end)
    return {
        "units_played": shown.played,
        "units_lost": 0,
        "lost_share": 0.0 if shown.played else math.nan,
        "playback_delay_s": math.nan,
        "startup_delay_s": shown.started - units.written[0] if units.written else math.nan,
        **stall_columns([length for _, length in shown.stalls]),
    }


def stall_columns(lengths: list[float]) -> dict[str, Value]:
    """Return the columns about stalls of these lengths."""
    total = math.fsum(lengths)
    return {
        "stalls": len(lengths),
        "stalled_s": total,
        "mean_stall_s": total / len(lengths) if lengths else math.nan,
        "longest_stall_s": max(lengths, default=math.nan),
    }


def play(units: Units, start: int, resume: int, end: float) -> Playback:
    """Play until the end of the run."""
    shown = Playback()
    come = units.delivered
    now = come[start - 1] if len(come) >= start else math.inf
    if now >= end:
        return shown
    shown.started = now
    for number, there in enumerate(come):
        if there > now + ROUNDING and now < end:
            # A stall: on when so many units from this one on are there.
            last = number + resume - 1
            ready = come[last] if last < len(come) else math.inf
            shown.stalls.append((now, min(ready, end) - now))
            now = ready
        if now >= end:
            return shown
        shown.played += 1
        now += units.interval
    # The unit that would be written at the end of the run is missed if it is due before.
    if now < end:
        shown.stalls.append((now, end - now))
    return shown


def stalls(run: Run) -> dict[tuple[str, ...], dict[str, Value]]:
    """Return the table `stalls`, whose second key is the number of the stall."""
    rows: dict[tuple[str, ...], dict[str, Value]] = {}
    for name, transfer in run.transfers.items():
        if settings := transfer.flow.client.get("rebuffer") if transfer.flow.is_tcp else None:
            units = Units.of(run, transfer).of_table(run.tables["deliveries"], name)
            shown = play(units, settings.get("start", 1), settings.get("resume", 1), run.scenario.duration)
            for number, (at, length) in enumerate(shown.stalls):
                rows[name, str(number)] = {"time_s": at, "stalled_s": length}
    return rows
