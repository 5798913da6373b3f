"""State of a relay or an emulated network, second by second: the picture of a file of `--statistics`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from earlybird.errors import InputError
from earlybird.plots.run import MOST_FLOWS, line, over_time, stack, write
from earlybird.plots.style import OTHERS, PLAIN
from earlybird.state_file import written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from earlybird.plots.chart import Panel

States: TypeAlias = "Sequence[dict[str, Any]]"
MEGABITS = 8e-6  # in a byte
CARRIED = {"in": "bytes", "out": "bytesOut"}
COUNTED = {"lost": "pktRcvDrop", "late": "pktRcvBelated", "dropped": "pktSndDrop", "retransmitted": "pktRetrans"}
LEAST = 2  # states between which something changed


def save(path: Path, output: Path) -> None:
    """Draw a file of states; one that is still written as far as it is."""
    states = written(path)
    if len(states) < LEAST:
        raise InputError(f"{path}: there is nothing to draw yet: it has {len(states)} of at least {LEAST} states.")
    write(output, stack(link_panels(states) if "links" in states[0] else relay_panels(states), path.name, "time (s)"))


def relay_panels(states: States) -> list[Panel]:
    """Return the panels of a relay: rates, round trip, buffer, window and units."""
    carried = {name: _changes(states, _at(key), MEGABITS) for name, key in CARRIED.items()}
    counted = {name: _changes(states, _at(key)) for name, key in COUNTED.items()}
    return [
        _panel("carried (Mb/s)", carried),
        _panel("round trip (ms)", {"round trip": _values(states, _at("msRTT"))}),
        _panel("buffer (ms)", {"buffer": _values(states, _at("msRcvBuf"))}),
        _panel("congestion window (segments)", {"window": _values(states, _window)}),
        _panel("units or segments each second", counted, first_style=len(carried)),
    ]


def _window(state: dict[str, Any]) -> float | None:
    """Return the congestion window; without a connection, whose window is never 0, there is none."""
    return state["pktCongestionWindow"] or None


Curve: TypeAlias = "tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]"


def link_panels(states: States) -> list[Panel]:
    """Return what the links of an emulated network have to show."""
    names = {link["link"]: place for place, link in enumerate(states[0]["links"][:MOST_FLOWS])}

    def of(key: str, place: int) -> Callable[[dict[str, Any]], float]:
        return lambda state: state["links"][place][key]

    return [
        _panel("carried (Mb/s)", {n: _changes(states, of("bytes_out", p), MEGABITS) for n, p in names.items()}),
        _panel("waiting (packets)", {n: _values(states, of("queue_packets", p)) for n, p in names.items()}),
        _panel("dropped (packets/s)", {n: _changes(states, of("packets_dropped", p)) for n, p in names.items()}),
    ]


def _at(key: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda state: state[key]


def _values(states: States, value: Callable[[dict[str, Any]], float | None]) -> Curve:
    """Return the values that are known, with their times."""
    known = [(state["time_s"], found) for state in states if (found := value(state)) is not None]
    times, values = zip(*known, strict=True) if known else ((), ())
    return np.array(times, dtype=float), np.array(values, dtype=float)


def _changes(states: States, count: Callable[[dict[str, Any]], float | None], scale: float = 1.0) -> Curve:
    """Return the growth of a counter per second."""
    times, counts = _values(states, count)
    spans = np.diff(times)
    later = spans > 0
    return times[1:][later], scale * np.diff(counts)[later] / spans[later]


def _panel(title: str, curves: dict[str, Curve], first_style: int = 0) -> Panel:
    is_only = len(curves) == 1
    styles = [PLAIN] if is_only else OTHERS[first_style:]
    lines = (line(name, style, *curve) for (name, curve), style in zip(curves.items(), styles, strict=False))
    return over_time(title, [replace(one, is_named=not is_only) for one in lines])
