"""
A session over a line that the table of docs/how-long-to-wait.md does not have, in any backend.

The table is read as the page says: loss, round trip, share of the line and bursts up to the next that it has. A session
is in time if it does with the delay that follows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from earlybird.backends import BACKEND_KEY
from earlybird.errors import InputError
from earlybird.loading import resolve
from earlybird.paths import shipped_file
from earlybird.planning.answer import delay_text
from earlybird.planning.candidates import candidate
from earlybird.planning.session import needed_delay
from earlybird.planning.study_adapter import SessionCase
from earlybird.runs import execute

if TYPE_CHECKING:
    from collections.abc import Mapping

    from earlybird.result import Result

LINES: Final[Mapping[str, Mapping[str, Any]]] = {
    "0.2 %, 40 ms, 0.4": {"loss": 0.002, "rtt": "40ms", "ratio": 0.4},
    "0.2 %, 100 ms, 0.2": {"loss": 0.002, "rtt": "100ms", "ratio": 0.2},
    "0.5 %, 15 ms, 0.5": {"loss": 0.005, "rtt": "15ms", "ratio": 0.5},
    "0.5 %, 50 ms, 0.7": {"loss": 0.005, "rtt": "50ms", "ratio": 0.7},
    "0.5 %, 120 ms, 0.4": {"loss": 0.005, "rtt": "120ms", "ratio": 0.4},
    "2 %, 15 ms, 0.2": {"loss": 0.02, "rtt": "15ms", "ratio": 0.2},
    "2 %, 40 ms, 0.4": {"loss": 0.02, "rtt": "40ms", "ratio": 0.4},
    "2 %, 100 ms, 0.4": {"loss": 0.02, "rtt": "100ms", "ratio": 0.4},
    "0.5 % in bursts of 2.5, 40 ms, 0.4": {"loss": 0.005, "rtt": "40ms", "ratio": 0.4, "burst": 2.5},
    "2 % in bursts of 2.5, 80 ms, 0.4": {"loss": 0.02, "rtt": "80ms", "ratio": 0.4, "burst": 2.5},
}
"""Lost, round trip and film ÷ line, between the lines of the table."""
FIRST_SEED: Final = 1001  # no session of the table has these
NEVER: Final = "never"
HALVES_UP_TO: Final = 10  # round trips up to which a half more counts
KEYS: Final = ("sender", "loss", "rtt", "ratio", "burst", "bitrate", "late", "key_frame")
"""Fields of a session's case that the table varies."""

Waits = dict[tuple[object, ...], "Wait"]


@dataclass(frozen=True)
class Wait:
    """The delay that nine of ten sessions of a cell need, in seconds."""

    case: SessionCase
    need: float
    sessions: int

    @property
    def is_possible(self) -> bool:
        """Whether some delay would do, shorter than the film."""
        return self.need < self.case.length

    @cached_property
    def round_trips(self) -> float:
        """Round trips beside the largest frame's time on the line."""
        return (self.need - self.case.largest_frame_s) / self.case.round_trip

    @property
    def rounded(self) -> float:
        """Return the same as one would set it: rounded up to half a round trip, long ones to a whole one."""
        halves = math.ceil(2 * self.round_trips - 1e-6) / 2
        return halves if halves <= HALVES_UP_TO else math.ceil(self.round_trips - 1e-6)

    @property
    def text(self) -> str:
        """Write the round trips."""
        return f"{self.rounded:g}" if self.is_possible else NEVER

    @property
    def seconds_text(self) -> str:
        """Write the delay."""
        return delay_text(self.need).removesuffix(" s") if self.is_possible else NEVER


def key(case: SessionCase) -> tuple[object, ...]:
    """Return the key of a cell."""
    return tuple(getattr(case, name) for name in KEYS)


def waits(table: pl.DataFrame) -> Waits:
    """Read the table of cells."""
    found = [
        Wait(SessionCase(**{name: each[name] for name in KEYS}), each["need_s"], each["sessions"])
        for each in table.iter_rows(named=True)
    ]
    return {key(wait.case): wait for wait in found}


def upwards(known: Waits, case: SessionCase) -> Wait | None:
    """Find the row to read for a line: of those that are nowhere smaller, the nearest."""

    def is_above(wait: Wait) -> bool:
        other = wait.case
        same = (other.sender, other.bitrate, other.late) == (case.sender, case.bitrate, case.late)
        return same and all(mine <= theirs for mine, theirs in zip(_size(case), _size(other), strict=True))

    return min(filter(is_above, known.values()), key=lambda wait: _size(wait.case), default=None)


def _size(case: SessionCase) -> tuple[float, ...]:
    return case.burst, case.loss, case.round_trip, case.ratio


def measure(settings: Mapping[str, Any], seed: int) -> dict[str, float]:
    """Play one session, and compare the delay that it needs with the table's."""
    case = SessionCase(
        settings["sender"], length=float(settings["duration"].removesuffix("s")), **LINES[settings["line"]]
    )
    wait = upwards(waits(pl.read_csv(shipped_file("studies", "how-long", "table.csv"))), case)
    if wait is None or not wait.is_possible:
        raise InputError(f"the table has no delay for {case.sender} over {settings['line']}.")
    delay = wait.rounded * case.round_trip + case.largest_frame_s
    given = delay if candidate(case.sender).has_deadline else None
    document = {**case.scenario(given), BACKEND_KEY: settings["backend"]}
    result = execute(resolve(document), FIRST_SEED - 1 + seed)
    need = min(_need(result, case, given), case.length)
    return {
        "session_startup_delay_s": need,
        "session_table_delay_s": delay,
        "session_in_time_share": float(need <= delay),
        "emulator_added_delay_p99_s": result.summary.get("added_delay_p99_us", 0.0) / 1e6,
    }


def _need(result: Result, case: SessionCase, given: float | None) -> float:
    frames = result.table("deliveries")
    written, delivered = frames["written_s"].to_numpy(), frames["delivered_s"].to_numpy()
    return needed_delay(written - written[0], delivered - written[0], case.stream.run_length, case.late, given)
