"""The table of a running relay or emulator, updated with each state."""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from earlybird.cli.display import emulation_problems, lateness_text, titled_table, whole_or_share
from earlybird.columns import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

    from rich.table import Table

State: TypeAlias = dict[str, Any]
"""A line of `--statistics`: the state of a relay or an emulated network, and its counters since the start."""

MINUTE = 60  # stored states, one per second
SECONDS, SECONDS_IF_NARROW = 2, 4  # seconds per character of a sparkline
SIGNS = "▁▂▃▄▅▆▇"
MEGA = 1e-6
MOST_ROWS = 10  # receivers in the table: more do not fit a screen
COUNTS = (
    ("lost", "pktRcvDrop"),
    ("late", "pktRcvBelated"),
    ("dropped", "pktSndDrop"),
    ("retransmitted", "pktRetrans"),
)
LEGEND = (
    "lost: units incomplete at their playout time · late: units complete after it\n"
    "dropped: units not sent, as they were too old or no peer was connected\n"
    "retransmitted: segments"
)


class Minute:
    """The states of the last minute."""

    def __init__(self) -> None:
        self._states: deque[State] = deque(maxlen=MINUTE + 1)

    def add(self, state: State) -> None:
        """Append a state."""
        self._states.append(state)

    @property
    def last(self) -> State | None:
        """The newest state, once there is one."""
        return self._states[-1] if self._states else None

    def changes(self, count: Callable[[State], float]) -> list[float]:
        """Return the growth of a counter per second."""
        steps = [(old, new, new["time_s"] - old["time_s"]) for old, new in pairwise(self._states)]
        return [max(0.0, count(new) - count(old)) / time for old, new, time in steps if time > 0]

    def values(self, value: Callable[[State], float | None]) -> list[float]:
        """Return the known values, one per second."""
        return [known for state in self._states if (known := value(state)) is not None]


def curve(values: Sequence[float], width: int = SECONDS) -> str:
    """Return values above zero as a sparkline, the newest at the right; a character is the maximum of its seconds."""
    newest = values[-MINUTE:]
    first = len(newest) % width
    parts = [newest[:first], *(newest[start : start + width] for start in range(first, len(newest), width))]
    heights, most = [max(part) for part in parts if part], max(newest, default=0.0)
    steps = len(SIGNS) - 1
    return "".join(SIGNS[round(steps * height / most) if most else 0] for height in heights)


class Screen:
    """A table at the end of a terminal; elsewhere it is printed once, at the end."""

    def __init__(self, title: str, console: Console, hint: str = "") -> None:
        self._title, self._hint, self._minute = title, hint, Minute()
        self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)

    def __enter__(self) -> Screen:
        """Begin; the table appears with the first state."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Keep the table on the terminal, with the note that it is the last one, unless an error occurred."""
        if kind is None:
            self._draw(Text("It has ended.", "dim"))
        self._live.stop()

    def add(self, state: State) -> None:
        """Append a state without drawing."""
        self._minute.add(state)

    def show(self) -> None:
        """Update the table."""
        state = self._minute.last
        here = [relay_state(state)] if state and "peers" in state else []
        if state and state.get("notice"):  # of the local end
            here.append(Text(f"{state['notice']}."))
        self._draw(*here, Text(self._hint, "dim"))

    def take(self, state: State) -> None:
        """Append a state and draw."""
        self.add(state)
        self.show()

    def _draw(self, *feet: Text) -> None:
        if state := self._minute.last:
            self._live.start()  # only when there is a state; repeated calls have no effect
            title = f"{self._title}   {timedelta(seconds=int(state['time_s']))}"
            view = link_table if "links" in state else relay_table
            self._live.update(Group(view(title, self._minute, state), *feet), refresh=True)


def relay_table(title: str, minute: Minute, state: State) -> RenderableType:
    """Return the table of a relay: rates and counts now, in the last minute and since the start."""
    table = titled_table(title, [""])
    for heading in ("now", "last minute", "since the start"):
        table.add_column(heading, justify="left" if heading == "last minute" else "right", no_wrap=True)
    for name, key in (("in", "bytes"), ("out", "bytesOut")):
        rates = [8 * MEGA * rate for rate in minute.changes(itemgetter(key))]
        now, in_all = f"{rates[-1] if rates else 0:.2f} Mb/s", f"{MEGA * state[key]:,.1f} MB"
        table.add_row(name, now, curve(rates), in_all)
    for name, key in (("round trip", "msRTT"), ("buffer", "msRcvBuf")):
        now = NOTHING if state[key] is None else f"{state[key]:.1f} ms"
        table.add_row(name, now, curve(minute.values(itemgetter(key))), "")
    window, in_flight = f"{state['pktCongestionWindow']:.0f} segments", f"{state['pktFlightSize']:,} on their way"
    table.add_row("window", window, curve(minute.values(itemgetter("pktCongestionWindow"))), in_flight)
    for name, key in COUNTS:
        changes = minute.changes(itemgetter(key))
        table.add_row(name, f"{changes[-1] if changes else 0:,.0f} /s", curve(changes), f"{state[key]:,}")
    table.add_row("reconnects", "", "", f"{state['reconnects']:,}")
    several = len(state.get("connections", ())) > 1
    receivers: list[RenderableType] = [Text(), connection_table(minute, state)] if several else []
    return Group(table, *receivers, Text(LEGEND, style="dim"))


def connection_table(minute: Minute, state: State) -> Table:
    """Return the table of the receivers of a relay: a row for each of the first ten."""
    table = titled_table("", ["receiver"])
    for heading in ("Mb/s", "sent", "round trip", "window", "dropped", "retransmitted"):
        table.add_column(heading, justify="right", no_wrap=True)
    for connection in state["connections"][:MOST_ROWS]:
        rate = minute.changes(partial(_sent_to, connection["address"]))
        rtt = connection["msRTT"]
        table.add_row(
            connection["address"],
            f"{8 * MEGA * rate[-1] if rate else 0:.2f}",
            f"{MEGA * connection['bytesOut']:,.1f} MB",
            NOTHING if rtt is None else f"{rtt:.1f} ms",
            f"{connection['pktCongestionWindow']:.0f}",
            f"{connection['pktSndDrop']:,}",
            f"{connection['pktRetrans']:,}",
        )
    further = len(state["connections"]) - MOST_ROWS
    table.caption = f"and {further:,} more" if further > 0 else None
    return table


def _sent_to(address: str, state: State) -> int:
    sent = (connection["bytesOut"] for connection in state["connections"] if connection["address"] == address)
    return next(sent, 0)


def relay_state(state: State) -> Text:
    """Return whether a relay is connected."""
    if state["peers"]:
        return Text("Connected." if state["peers"] == 1 else f"Connected to {state['peers']} relays.", "green")
    if state["refusal"]:
        return Text(f"Not connected: {state['refusal']}.", "red")
    return Text("No relay is connected.", "yellow")


def link_table(title: str, minute: Minute, state: State) -> RenderableType:
    """Return the table of an emulated network: a row per link."""
    table = titled_table(title, ["link"])
    for heading in ("Mb/s", "last minute", "queue", "queueing delay", "dropped", "marked"):
        table.add_column(heading, justify="left" if heading == "last minute" else "right")
    for place, link in enumerate(state["links"]):
        rates = [8 * MEGA * rate for rate in minute.changes(partial(_bytes_out, place))]
        table.add_row(
            link["link"],
            f"{rates[-1] if rates else 0:.2f}",
            curve(rates, SECONDS_IF_NARROW),
            f"{link['queue_packets']:,}",
            f"{link['mean_queue_delay_ms']:.1f} ms",
            whole_or_share(link["packets_dropped"], link["packets_in"]),
            whole_or_share(link["packets_marked"], link["packets_in"]),
        )
    problems = (Text(problem, style="yellow") for problem in emulation_problems(state))
    return Group(table, Text(lateness_text(state), style="dim"), *problems)


def _bytes_out(place: int, state: State) -> int:
    count: int = state["links"][place]["bytes_out"]
    return count


def relay_line(state: State) -> str:
    """Return the state of a relay in one line."""
    now = f"{state['time_s']:.0f} s: "
    if not state["peers"]:
        return now + relay_state(state).plain
    return f"{now}{relay_counts(state, delays=_delays(state))}"


def relay_counts(state: State, delays: str = "") -> str:
    """Return the counters of a relay in one line."""
    counts = ", ".join(f"{name} {state[key]:,}" for name, key in COUNTS)
    return f"{state['units']:,} units, {MEGA * state['bytes']:.1f} MB{delays}, {counts}"


def _delays(state: State) -> str:
    rtt = "" if state["msRTT"] is None else f", round trip {state['msRTT']:.1f} ms"
    return f"{rtt}, buffer {state['msRcvBuf']:.0f} ms"
