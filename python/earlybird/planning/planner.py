"""How long viewers must wait, and which sender to switch on: as many sessions as it takes to tell."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.errors import InputError
from earlybird.media import film_of
from earlybird.planning.advice import advice
from earlybird.planning.answer import answer, document
from earlybird.planning.candidates import BASELINE, Candidate, candidates
from earlybird.planning.choice import LOOKS
from earlybird.planning.estimates import FirstGuess, first_guess
from earlybird.planning.film import Broadcast, made_up
from earlybird.planning.line import Findings, Line, line_of, together
from earlybird.planning.profiles import profile_named
from earlybird.planning.race import BUDGET, Race, crew
from earlybird.planning.session import Session, Theatre
from earlybird.player import LATE_SHARE_ALLOWED
from earlybird.quantities import bits_per_second, seconds, share, with_unit
from earlybird.written import rate as rate_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from earlybird.clip import Clip
    from earlybird.planning.film import Goal
    from earlybird.statistics import Estimate

LATE: Final[Mapping[Goal, float]] = {"live": LATE_SHARE_ALLOWED, "vod": LATE_SHARE_ALLOWED, "call": 0.01}
"""Share of the frames that may be late: hardly any of a film; of a conversation what decoders conceal (our choice)."""

LONGEST_SESSION: Final = 300.0
SHORTEST_SESSION: Final = 60.0
"""Seconds that a viewer watches."""

ROOM: Final = 1.25
"""A line that would do ÷ what just passes: room to catch up, of which SRT's defaults leave as much for repairs."""


@dataclasses.dataclass(frozen=True, eq=False)
class Prospect:
    """
    What is known of a sender.

    Attributes
    ----------
    candidate : Candidate
        The sender.
    need : Estimate
        Delay in seconds that nine of ten sessions do with, and its 90 % interval.
    guess : FirstGuess
        What the formulas say.
    sessions : tuple of Session
        What was simulated.
    """

    candidate: Candidate
    need: Estimate
    guess: FirstGuess
    sessions: tuple[Session, ...]

    @property
    def median(self) -> float:
        """Delay in seconds that every other session does with."""
        needs = [session.need for session in self.sessions]
        return float(np.quantile(needs, 0.5, method="inverted_cdf"))

    @property
    def held_back(self) -> float:
        """Share of the time in which a window or buffer held the sender back, on average."""
        return float(np.mean([session.held_back for session in self.sessions]))

    def stalls(self, delay: float, hours: float) -> float:
        """Return the pauses per hour of a player that starts after `delay` seconds; sessions last so many hours."""
        if not math.isfinite(delay):
            return math.nan
        return float(np.mean([session.stalls(delay) for session in self.sessions])) / hours


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """
    An answer.

    Attributes
    ----------
    film, line : Broadcast, Line
        What is sent, over what.
    late : float
        Share of the frames below which those that are late stay.
    prospects : tuple of Prospect
        The senders; today's comes first, the others in the order in which they are preferred.
    choice : Prospect
        The sender to take.
    doubt : float
        Probability that other seeds would lead to another choice, as the bootstrap has it.
    is_clear : bool
        Whether that is small enough.
    rivals : tuple of Prospect
        The senders among which the choice is open, if it is not clear.
    """

    film: Broadcast
    line: Line
    late: float
    prospects: tuple[Prospect, ...]
    choice: Prospect
    doubt: float
    is_clear: bool
    rivals: tuple[Prospect, ...]

    @property
    def today(self) -> Prospect:
        """Today's sender."""
        return self.prospects[0]

    @property
    def delay(self) -> float:
        """Seconds after which playback starts."""
        return self.choice.need.mean

    @property
    def answer(self) -> str:
        """The answer in two sentences."""
        return answer(self)

    @property
    def to_do(self) -> list[str]:
        """What to do to send like that: shell commands, and comments that begin with #."""
        return advice(self.choice.candidate, self.line, self.film, self.delay)

    def to_dict(self) -> dict[str, object]:
        """Return what `earlybird plan --json` prints."""
        return document(self)


def plan(
    clip: str | Path | None = None,
    *,
    bitrate: str | None = None,
    rate: str | None = None,
    rtt: str | None = None,
    loss: str | float | None = None,
    burst: float | None = None,
    queue: str | None = None,
    profile: str | None = None,
    measured: Sequence[Findings] = (),
    goal: Goal = "live",
    max_late: str | float | None = None,
    baseline: str = BASELINE,
    transports: Sequence[str] | None = None,
    duration: str | None = None,
    seeds: Sequence[int] | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> Plan:
    """
    Say how long viewers must wait, and which sender to switch on.

    Parameters
    ----------
    clip
        A video file.
    bitrate
        In its place, the rate of a made-up film, such as ``"4Mb/s"``.
    rate, rtt, loss
        Of the line: ``"20Mb/s"``, ``"60ms"``, ``"1%"``. They count more than what `profile` and `measured` say.
    burst
        Packets that are lost one behind the other, on average (default 1: independently).
    queue
        What waits in front of the line at most: ``"64kB"``, ``"100"`` packets, ``"codel"`` (default: what the line
        carries in a round trip).
    profile
        A profile from `earlybird.planning.profiles`: ``"dsl"``, ``"lte"``, …
    measured
        What `earlybird.planning.measured` reads from files; the later ones count.
    goal
        ``"live"``: viewers follow a broadcast; ``"call"``: a conversation; ``"vod"``: a stored film.
    max_late
        Share of the frames that may be late (default 0.01 %, of calls 1 %).
    baseline
        The sender in use.
    transports
        Senders to compare with it, preferred in this order (default: by the goal).
    duration
        What a viewer watches (default 300 s, less of films with very many packets).
    seeds
        The seeds of the sessions: all are played (default: 40 to 160, until the choice is clear).
    jobs
        Sessions at a time (default: one per processor).
    progress
        Show a progress bar on the terminal.

    Returns
    -------
    Plan
        Its `answer` is the answer.

    Raises
    ------
    InputError
        If something is missing, makes no sense, or cannot work: a line slower than the film.
    MediaError
        If the film cannot be read.

    Examples
    --------
    >>> import earlybird
    >>> found = earlybird.plan(bitrate="2Mb/s", rate="20Mb/s", rtt="40ms", seeds=range(1, 4))
    >>> found.choice.candidate.name
    'cubic'
    """
    given = Findings(
        rate=None if rate is None else bits_per_second(with_unit(rate)),
        round_trip=None if rtt is None else _duration(rtt, "rtt"),
        loss=None if loss is None else share(loss, "loss"),
        mean_burst=burst,
        queue=queue,
    )
    line = line_of(together([*([profile_named(profile)] if profile else []), *measured, given]))
    senders = candidates(transports, baseline, goal)
    film = _broadcast(_film(clip, bitrate, goal), line, senders, goal, duration)
    check_it_fits(film, line)
    allowed = LATE[goal] if max_late is None else share(max_late, "max-late")
    return _decide(film, line, senders, allowed, seeds, jobs, progress=progress)


def _film(clip: str | Path | None, bitrate: str | None, goal: Goal) -> Clip:
    if (clip is None) == (bitrate is None):
        raise InputError("what is sent? Name a video file, or give --bitrate, such as --bitrate 4Mb/s; one of them.")
    return film_of(clip) if clip is not None else made_up(bits_per_second(with_unit(bitrate or ""), "bitrate"), goal)


def _duration(text: str, what: str) -> float:
    value = seconds(text)
    if not value:
        raise InputError(f"{what} = {text}: a time above zero with its unit, such as 60ms.")
    return value


def _broadcast(clip: Clip, line: Line, senders: Sequence[Candidate], goal: Goal, duration: str | None) -> Broadcast:
    """Let sessions last as long as asked for, or as the budget allows for the first look."""
    if duration is not None:
        return Broadcast.of(clip, goal, _duration(duration, "duration"))
    film = Broadcast.of(clip, goal, LONGEST_SESSION)
    cost = LOOKS[0] * sum(Theatre(line, film, sender).cost for sender in senders)
    length = round(LONGEST_SESSION * BUDGET / cost)
    return Broadcast.of(clip, goal, float(min(max(length, SHORTEST_SESSION), LONGEST_SESSION)))


def check_it_fits(film: Broadcast, line: Line) -> None:
    """Raise InputError if the line is slower than the film, and say how fast it has to be, or how small the film."""
    needed = film.wire_rate / (1 - line.loss)
    if needed <= line.rate:
        return
    fitting = film.clip.mean_rate * line.rate / needed
    raise InputError(
        f"rate = {rate_of(line.rate)}: the film has {rate_of(film.clip.mean_rate)}, which is "
        f"{rate_of(needed)} with headers and repairs, and no sender carries that. A line of "
        f"{rate_of(ROOM * needed)} would do, or a film of {rate_of(fitting / ROOM)}."
    )


def _decide(
    film: Broadcast,
    line: Line,
    senders: Sequence[Candidate],
    late: float,
    seeds: Sequence[int] | None,
    jobs: int | None,
    *,
    progress: bool,
) -> Plan:
    guesses = [first_guess(line, film, sender, late) for sender in senders]
    with crew(jobs) as team:
        race = Race(
            [Theatre(line, film, sender, late, team.watch) for sender in senders], team, film.noticeable, show=progress
        )
        if seeds is None:
            race.run()
        else:
            race.look(list(seeds))
    prospects = tuple(
        Prospect(sender, race.needs[place], guess, tuple(race.sessions[place].values()))
        for place, (sender, guess) in enumerate(zip(senders, guesses, strict=True))
    )
    return Plan(
        film=film,
        line=line,
        late=late,
        prospects=prospects,
        choice=prospects[race.choice],
        doubt=race.doubt,
        is_clear=race.is_clear,
        rivals=tuple(prospects[place] for place in race.rivals),
    )
