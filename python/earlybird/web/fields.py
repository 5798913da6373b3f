"""The fields of the form: the options of `earlybird plan`, with its descriptions and defaults."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final, get_args

from earlybird.cli import plan as plan_command
from earlybird.errors import InputError
from earlybird.planning.beside import HOUSEHOLD, MOST_VIEWERS, NONE, UPLOAD
from earlybird.planning.measured import KINDS
from earlybird.planning.planner import PlanRequest
from earlybird.planning.profiles import PROFILES
from earlybird.transports import transports

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from earlybird.planning.path import Measurements

FILES: Final = "measured"
WATCH_HELP: Final = (
    "Draw the film side by side as the viewers of today's sender and of the recommended one see it: 30 s."
)
MOST_SESSIONS: Final = 1000  # of each sender: a few minutes for a film of some Mb/s
QUESTIONS: Final = {"what is sent": "bitrate", "how fast is the line": "rate", "how long is the round trip": "rtt"}
"""Fields of errors that ask a question instead of naming an option."""


@dataclasses.dataclass(frozen=True)
class Field:
    """A field: the option of the same name, and its label."""

    name: str
    label: str
    kind: str = "text"  # or select, file, files, number, checkbox

    @property
    def help(self) -> str:
        """The description of the option."""
        if self.name == "watch":
            return WATCH_HELP
        return _file_help() if self.name == FILES else str(_option(self.name).help)

    @property
    def default(self) -> str:
        """The value that an empty field has; nothing if none is described."""
        if self.kind in ("file", "files", "checkbox"):
            return ""
        shown = _option(self.name).show_default
        value = inspect.signature(plan_command.command).parameters[self.name].default
        return shown if isinstance(shown, str) else str(value or "")

    @property
    def suggestions(self) -> tuple[str, ...]:
        """Values to choose from while typing."""
        return _suggestions().get(self.name, ())

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a field that takes no others."""
        return ("", *PROFILES) if self.name == "profile" else get_args(_annotation(self.name).__origin__)


@dataclasses.dataclass(frozen=True)
class Group:
    """Fields below one heading, of which some are folded."""

    title: str
    fields: tuple[Field, ...]
    folded: tuple[Field, ...] = ()


GROUPS: Final = (
    Group(
        "What you send",
        (
            Field("bitrate", "Bit rate"),
            Field("clip", "Film", "file"),
            Field("goal", "Goal", "select"),
        ),
    ),
    Group(
        "The line to your viewers",
        (
            Field("rate", "Rate"),
            Field("rtt", "Round trip"),
            Field("loss", "Losses"),
            Field(FILES, "Measurement files", "files"),
            Field("profile", "Profile", "select"),
        ),
        (
            Field("queue", "Queue"),
            Field("burst", "Burst length", "number"),
            Field("outage", "Outages (separated by spaces)"),
            Field("policer", "Policer"),
            Field("arq", "Retransmission by the link"),
            Field("beside", "Other traffic"),
            Field("viewers", "Viewers", "number"),
        ),
    ),
    Group(
        "Senders",
        (Field("baseline", "Your sender today"), Field("watch", "Film side by side", "checkbox")),
        (
            Field("transport", "Senders to compare (separated by spaces)"),
            Field("max_late", "Late frames allowed"),
            Field("duration", "Session"),
            Field("seeds", "Number of sessions", "number"),
            Field("interface", "Server's network interface"),
        ),
    ),
)

ALL: Final = {field.name: field for group in GROUPS for field in (*group.fields, *group.folded)}


def request_of(values: Mapping[str, str], clip: Path | None, measured: Sequence[Measurements]) -> PlanRequest:
    """Return the request of a filled form; empty fields have their defaults."""
    given: dict[str, Any] = {name: text for name in ALL if (text := values.get(name, "").strip())}
    given.pop("clip", None)  # the name of the file; so has `measured`
    given.pop("watch", None)  # of the answer
    if names := given.pop("transport", None):
        given["transports"] = re.split(r"[\s,]+", names)
    if outages := given.pop("outage", None):
        given["outages"] = outages.split()
    if "goal" in given and given["goal"] not in ALL["goal"].choices:
        raise InputError(f"goal = {given['goal']}: one of {', '.join(ALL['goal'].choices)}.")
    if "burst" in given:
        given["burst"] = _burst(given["burst"])
    if "viewers" in given:
        given["viewers"] = _whole_number("viewers", given["viewers"], MOST_VIEWERS)
    if "seeds" in given:
        given["seeds"] = range(1, _whole_number("seeds", given["seeds"], MOST_SESSIONS) + 1)
    return PlanRequest(**{**given, "clip": clip, "measured": measured})


def field_of(message: str) -> str:
    """Return the field that an error is about; nothing if it names none."""
    question, _, _ = message.partition("?")
    if question in QUESTIONS:
        return QUESTIONS[question]
    named = re.match(r"([a-z-]+)(?: =|:)", message)
    name = named[1].replace("-", "_") if named else ""
    return name if name in ALL else ""


def _burst(text: str) -> float:
    try:
        burst = float(text)
    except ValueError:
        burst = 0.0
    if not 1 <= burst < math.inf:
        raise InputError(f"burst = {text}: a number of packets from 1.")
    return burst


def _whole_number(name: str, text: str, most: int) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if not 1 <= number <= most:
        raise InputError(f"{name} = {text}: a whole number from 1 to {most}.")
    return number


def _annotation(name: str) -> Any:  # noqa: ANN401, as typing has it
    """Return the annotation of an argument of `earlybird plan`."""
    return inspect.signature(plan_command.command).parameters[name].annotation


def _option(name: str) -> Any:  # noqa: ANN401, options and arguments have no common class
    """Return the description of an argument of `earlybird plan`."""
    return _annotation(name).__metadata__[0]


@cache
def _file_help() -> str:
    """Return the kinds of files, which are recognised by their content."""
    return f"Choose files, or drop them here: {', '.join(KINDS)}. The content of each shows its kind."


@cache
def _suggestions() -> Mapping[str, tuple[str, ...]]:
    """Return the values to choose from while typing, by field."""
    return {"baseline": tuple(one.name for one in transports()), "beside": (NONE, UPLOAD, HOUSEHOLD)}
