"""The delay that viewers need and the sender to use, from as many sessions as the decision takes."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.errors import InputError
from earlybird.executors import threads
from earlybird.lazy import LateModule
from earlybird.media import film_of
from earlybird.planning.advice import advice, repeat_measurement, router_advice, server_settings
from earlybird.planning.answer import answer, cake_mends, document
from earlybird.planning.beside import MOST_VIEWERS, NONE, checked, is_fifo, usual
from earlybird.planning.candidates import BASELINE, Candidate, candidates
from earlybird.planning.checks import check_it_fits, check_line, check_outages, fits
from earlybird.planning.estimates import FormulaEstimate, formula_estimate
from earlybird.planning.ladder import ladder_of_manifest, parse_ladder
from earlybird.planning.path import Measurements, NetworkPath, completed, merged
from earlybird.planning.profiles import profile_named
from earlybird.planning.sampler import BUDGET, PILOT, Sampler
from earlybird.planning.selection import QUANTILE, SAMPLE_SIZES, is_noticeably_longer, quantile_estimate
from earlybird.planning.session import Session, SessionRunner, counts_from_arrival
from earlybird.planning.stream import SEGMENT_SECONDS, SEGMENTED, StreamSpec, synthetic_clip
from earlybird.player import LATE_SHARE_ALLOWED
from earlybird.quantities import complete_rate, parse_duration, parse_rate, parse_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earlybird.clip import Clip
    from earlybird.planning import watch
    from earlybird.planning.ladder import Ladder, Viewing
    from earlybird.planning.stream import Goal
    from earlybird.planning.watch import Watched
    from earlybird.progress import Report
    from earlybird.statistics import Estimate
else:
    watch = LateModule("earlybird.planning.watch")

LATE: Final[Mapping[Goal, float]] = {
    "live": LATE_SHARE_ALLOWED,
    "vod": LATE_SHARE_ALLOWED,
    "hls": LATE_SHARE_ALLOWED,
    "call": 0.01,
}
"""Share of the frames that may be late: hardly any of a film; of a conversation what decoders conceal (our choice)."""

LONGEST_SESSION: Final = 300.0
SHORTEST_SESSION: Final = 60.0  # seconds that a viewer watches
SHORTEST_OF_MANY: Final = 10.0  # if several viewers of a session watch for as long together

NETEM_QUEUE: Final = "1000"
"""Packets of the queue that is tried beside an assumed one: the default of netem and of Linux's devices."""

DROPPING: Final = 0.1
"""Share of the sessions from which on drops of the queue decide what nine of ten sessions need."""

OTHERS_COST: Final = 0.75  # of a first sample over the main line, as senders are left out after the pilot

WATCH_SECONDS: Final = 30.0
"""Seconds of a session that are drawn as a film, unless others are asked for."""


@dataclasses.dataclass(frozen=True, eq=False)
class CandidateResult:
    """The results of one candidate: the seconds that nine of ten sessions do with, formula, and sessions."""

    candidate: Candidate
    delay_needed: Estimate
    formula: FormulaEstimate
    sessions: tuple[Session, ...] = dataclasses.field(repr=False)
    rates: tuple[float, ...] = ()  # of the renditions, if there are several

    @property
    def startup_delay(self) -> float:
        """
        Seconds after which playback starts: nine of ten sessions or more do with them, with a probability of 95 %.

        That is the upper end of the 90 % interval; where it is infinite, the longest of the sessions that were in time.
        """
        if not counts_from_arrival(self.candidate):
            return self.best_delay
        waited = [one.first_waited for one in self.sessions]
        return self.sender_delay + self._enough(quantile_estimate(np.array(waited)), waited)

    @property
    def best_delay(self) -> float:
        """The same if each session had the latency that is best for it, as its delay in the table has."""
        return self._enough(self.delay_needed, [one.delay_needed for one in self.sessions])

    @property
    def sender_delay(self) -> float:
        """The part of it that is given to the sender: without what SRT's first packet may wait, which comes on top."""
        if not counts_from_arrival(self.candidate):
            return self.startup_delay
        given = [one.delay_needed - one.first_waited for one in self.sessions]
        return self._enough(quantile_estimate(np.array(given)), given)

    @staticmethod
    def _enough(quantile: Estimate, values: Sequence[float]) -> float:
        if not math.isfinite(quantile.mean) or math.isfinite(quantile.high):
            return quantile.high
        return max(filter(math.isfinite, values))

    @property
    def median(self) -> float:
        """Delay in seconds that every other session does with."""
        delays_needed = [session.delay_needed for session in self.sessions]
        return float(np.quantile(delays_needed, 0.5, method="inverted_cdf"))

    @property
    def limited_share(self) -> float:
        """Share of the time in which a window or buffer held the sender back, on average."""
        return float(np.mean([session.limited_share for session in self.sessions]))

    @property
    def delivered_share(self) -> float:
        """Share of the frames that nine of ten sessions deliver."""
        delivered = [session.delivered_share for session in self.sessions]
        return float(np.quantile(delivered, 1 - QUANTILE, method="inverted_cdf"))

    @property
    def is_dropped_from(self) -> bool:
        """Whether the queue drops packets in enough sessions to decide the delay."""
        return float(np.mean([session.queue_drops > 0 for session in self.sessions])) >= DROPPING

    @property
    def shortfall(self) -> float:
        """Share of the highest rate that is missing in one session of ten at least, of a film in several renditions."""
        missing = [session.criterion for session in self.sessions]
        return float(np.quantile(missing, QUANTILE, method="inverted_cdf"))

    @property
    def mean_rate(self) -> float:
        """Mean of the rates that were played, in bits per second."""
        return math.fsum(share * rate for share, rate in zip(self.shares, self.rates, strict=True)) or math.nan

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the time at each rate, of all sessions; empty if the film has one rendition."""
        viewings = self.viewings
        total = math.fsum(one.played for one in viewings)
        rows = zip(*([share * one.played for share in one.shares] for one in viewings if one.played), strict=True)
        return tuple(math.fsum(row) / total for row in rows) if total else (0.0,) * len(self.rates)

    @property
    def viewings(self) -> tuple[Viewing, ...]:
        """The playback of each session; empty if the film has one rendition."""
        return tuple(session.viewing for session in self.sessions if session.viewing)

    @property
    def stalled_share(self) -> float:
        """Share of the time since playback began in which it stalled, of all sessions."""
        stalled = math.fsum(one.stalled for one in self.viewings)
        return stalled / (stalled + math.fsum(one.played for one in self.viewings) or math.nan)

    @property
    def abandoned_per_hour(self) -> float:
        """Segments that were abandoned, per hour of playback and stalls."""
        seconds = math.fsum(one.played + one.stalled for one in self.viewings)
        return 3600 * sum(one.abandoned for one in self.viewings) / (seconds or math.nan)

    def stalls(self, delay: float, hours: float) -> float:
        """Return the stalls per hour of a player that starts after `delay` seconds."""
        if self.viewings:
            seconds = math.fsum(one.played + one.stalled for one in self.viewings)
            return 3600 * sum(one.stalls for one in self.viewings) / (seconds or math.nan)
        if not math.isfinite(delay):
            return math.nan
        return float(np.mean([session.stalls(delay) for session in self.sessions])) / hours


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """An answer."""

    stream: StreamSpec
    path: NetworkPath
    late: float  # share of the frames
    results: tuple[CandidateResult, ...]  # the sender in use, then the others as they are preferred
    choice: CandidateResult
    doubt: float  # probability that other seeds would lead to another choice, by the bootstrap
    is_clear: bool
    open_candidates: tuple[CandidateResult, ...]  # the senders left, if it is not clear
    ends: tuple[Plan, ...] = ()  # the same over the fewest and the most losses that the measurement leaves open
    other: Plan | None = None  # the same with other traffic on the line, or without it
    larger_queue: Plan | None = None  # the same with a large queue, if the queue is assumed and drops packets
    cake: Plan | None = None  # the same with other traffic and CAKE, if the queue makes the other traffic noticeable
    interface: str | None = None  # of the server, to the viewers
    compared: int | None = None  # sessions of each sender from which the choice was made, if fewer than there are

    def __repr__(self) -> str:
        """Describe it in a line: sessions of all senders would fill pages."""
        return f"<Plan: {self.answer.partition('. ')[0].rstrip('.')}.>"

    @property
    def baseline(self) -> CandidateResult:
        """Today's sender."""
        return self.results[0]

    @property
    def delay(self) -> float:
        """Seconds after which playback starts."""
        return self.choice.startup_delay

    @property
    def delay_needed(self) -> float:
        """Seconds that nine of ten sessions do with, as the sessions that were simulated show it."""
        return self.choice.delay_needed.mean

    def is_worse(self, result: CandidateResult) -> bool:
        """Return whether one would change the sender for the chosen one: a longer delay, or a lower quality."""
        if self.stream.ladder is None:
            return is_noticeably_longer(result.delay_needed.mean, self.delay_needed, self.stream.noticeable)
        return is_noticeably_longer(result.shortfall, self.choice.shortfall, self.stream.margin)

    @property
    def is_settled(self) -> bool:
        """Whether one answer holds for all losses that the measurement leaves open."""
        choices = {end.choice.candidate.name if math.isfinite(end.delay) else None for end in (self, *self.ends)}
        return len(choices) == 1

    @property
    def longest_delay(self) -> float:
        """Seconds after which playback starts, with the most losses that the measurement leaves open."""
        return max(end.delay for end in (self, *self.ends))

    @property
    def sender_delay(self) -> float:
        """The part of it that is given to the sender, as its latency."""
        return max(end.choice.sender_delay for end in (self, *self.ends))

    @property
    def answer(self) -> str:
        """The answer in two sentences."""
        return answer(self)

    @property
    def instructions(self) -> list[str]:
        """Shell commands to use the chosen sender, and comments that begin with #."""
        found = advice(self.choice.candidate, self.path, self.stream, self.sender_delay, self.interface)
        return found if self.is_settled else [*repeat_measurement(self.path), *found]

    @property
    def router_instructions(self) -> list[str]:
        """Shell commands for the router in front of the line, if CAKE mends what other traffic does there."""
        return router_advice(self.cake.path) if self.cake and cake_mends(self) else []

    def write_settings(self, path: str | Path) -> None:
        """Write a script that applies, checks and undoes the settings of a server for the chosen sender."""
        chosen = self.choice.candidate
        settings = server_settings(chosen, self.path, self.stream, self.sender_delay, self.interface)
        settings.write(Path(path), chosen.name)

    def to_dict(self) -> dict[str, object]:
        """Return what `earlybird plan --json` prints."""
        return document(self)

    def watch(
        self,
        path: str | Path,
        *,
        seconds: float = WATCH_SECONDS,
        senders: Sequence[str] = (),
        progress: bool | Report = False,
    ) -> Watched:
        """
        Write the film as the viewers of today's sender and the recommended one see it, side by side.

        Parameters
        ----------
        path
            The file: ``.mp4``, ``.gif``, ``.webp`` or ``.png`` (animated).
        seconds
            Seconds of the session to draw: those with the most frozen pictures.
        senders
            Further senders of the plan to show; up to four fit.
        progress
            Show the progress on the terminal; or a function, which is called with parts that are done and all parts.

        Returns
        -------
        Watched
            Its text is what is shown; `to_dict` has the freezes.

        Raises
        ------
        InputError
            If the file cannot be written, or the plan has no such sender.
        MediaError
            If the film's pictures cannot be decoded.
        """
        return watch.watch(self, path, seconds=seconds, senders=senders, progress=progress)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """
    A stream, a path, and the senders to compare.

    Attributes
    ----------
    clip : path
        A video file.
    bitrate : str
        In its place, the rate of a synthetic film, such as ``"4Mb/s"``.
    rate, rtt, loss : str
        Of the path: ``"20Mb/s"``, ``"60ms"``, ``"1%"``. They replace those of `profile` and `measured`.
    burst : float
        Packets that are lost in a row, on average (default 1: independently).
    queue : str
        The queue of the bottleneck: ``"64kB"``, ``"500ms"``, ``"100"`` packets, ``"codel"`` (default: the path's BDP).
    outages : sequence of str
        Times in which all packets are lost, from the start of the film: ``"2s@30s"``, or ``"2s@30s/60s"`` repeatedly.
    policer : str
        Rate above which packets are dropped, and the size of the bucket: ``"10Mb/s,125kB"``.
    arq : str
        Retransmissions by the link: the share that fails, the time to the next try, and how many: ``"10%,8ms,3"``.
    beside : str
        Other traffic on the line: ``"none"``, ``"upload"`` or ``"household"``. The answer
        has both cases (default: an upload where the queue is larger than two round trips).
    viewers : int
        Viewers of the film over this line, each over its own connection; the answer is for the slowest (default 1).
    profile : str
        A profile from `earlybird.planning.profiles`: ``"dsl"``, ``"lte"``, …
    measured : sequence of Measurements
        Values that `earlybird.planning.measured` reads from files; later ones replace earlier ones.
    goal : str
        ``"live"``: viewers follow a broadcast; ``"call"``: a conversation; ``"vod"``: a stored film in segments,
        and ``"hls"``: a live one, as a web server sends them (HLS, DASH).
    segment : str
        Playing time of a segment (default 6 s).
    ladder : str or sequence of str
        Rates of the renditions of a film in segments, ``"400kb/s,800kb/s,1.6Mb/s"``, in place of `bitrate`; a playlist
        of HLS or a manifest of DASH as `clip` has them too. The answer has the share of the time at each rate.
    player : str
        The player that chooses among them: ``"hls.js"`` (default), ``"dash.js"`` or ``"shaka"``.
    max_late : str or float
        Share of the frames that may be late (default 0.01 %, of calls 1 %).
    baseline : str
        The sender in use.
    transports : sequence of str
        Senders to compare with it, in order of preference (default: by the goal).
    duration : str
        Length of a session (default 300 s, less of films with very many packets).
    seeds : sequence of int
        The seeds of the sessions (default: 40 to 160, until the choice is clear).
    interface : str
        The server's network interface to the viewers, for the settings of its route (default: found on the server).
    """

    clip: str | Path | None = None
    bitrate: str | None = None
    rate: str | None = None
    rtt: str | None = None
    loss: str | float | None = None
    burst: float | None = None
    queue: str | None = None
    outages: Sequence[str] = ()
    policer: str | None = None
    arq: str | None = None
    beside: str | None = None
    viewers: int = 1
    profile: str | None = None
    measured: Sequence[Measurements] = ()
    goal: Goal = "live"
    segment: str | None = None
    ladder: str | Sequence[str] | None = None
    player: str | None = None
    max_late: str | float | None = None
    baseline: str = BASELINE
    transports: Sequence[str] | None = None
    duration: str | None = None
    seeds: Sequence[int] | None = None
    interface: str | None = None

    @property
    def path(self) -> NetworkPath:
        """The path; raise InputError if rate or round-trip time are not known."""
        given = Measurements(
            rate=None if self.rate is None else parse_rate(complete_rate(self.rate)),
            round_trip=None if self.rtt is None else _duration(self.rtt, "rtt"),
            loss=None if self.loss is None else parse_share(self.loss, "loss"),
            mean_burst=self.burst,
            queue=self.queue,
        )
        path = completed(merged([*([profile_named(self.profile)] if self.profile else []), *self.measured, given]))
        if not 1 <= self.viewers <= MOST_VIEWERS:
            raise InputError(f"viewers = {self.viewers}: a number from 1 to {MOST_VIEWERS}.")
        other = NONE if self.beside is None else checked(self.beside)
        path = dataclasses.replace(path, outages=tuple(self.outages), policer=self.policer, arq=self.arq)
        return dataclasses.replace(path, beside=other, viewers=self.viewers)

    @property
    def film(self) -> Clip:
        """The film; raise InputError unless exactly one of `clip`, `bitrate` and `ladder` is given."""
        if self.renditions:
            if self.bitrate is not None:
                raise InputError(f"bitrate = {self.bitrate}: the ladder has the film's rates; leave one of both out.")
            if self.ladder is not None and self.clip is not None:
                raise InputError(f"ladder = {self.ladder}: {self.clip} has rates of its own; leave one of both out.")
            return synthetic_clip(self.renditions.rates[0], self.goal)
        if (self.clip is None) == (self.bitrate is None):
            raise InputError(
                "what is sent? Name a video file, or give --bitrate, such as --bitrate 4Mb/s; one of them."
            )
        if self.clip is not None:
            return film_of(self.clip, takes_sound=True)
        return synthetic_clip(parse_rate(complete_rate(self.bitrate or ""), "bitrate"), self.goal)

    @cached_property
    def renditions(self) -> Ladder | None:
        """The rates of a film in several renditions; raise InputError if it cannot have any."""
        if self.ladder is None:
            may_be_manifest = self.goal in SEGMENTED and self.clip is not None
            found = ladder_of_manifest(Path(self.clip or ""), self.player) if may_be_manifest else None
        elif self.goal not in SEGMENTED:
            raise InputError(f"ladder = {self.ladder}: films of --goal vod and hls have several renditions.")
        else:
            found = parse_ladder(self.ladder, self.player)
        if found is None and self.player is not None:
            raise InputError(f"player = {self.player}: it chooses among renditions: give --ladder, or a manifest.")
        return found

    @property
    def late_share(self) -> float:
        """Share of the frames that may be late."""
        return LATE[self.goal] if self.max_late is None else parse_share(self.max_late, "max-late")

    def stream(self, path: NetworkPath, senders: Sequence[Candidate], others: Sequence[NetworkPath] = ()) -> StreamSpec:
        """Return the stream: sessions are as long as asked for, or as the budget allows for the first samples."""
        clip = self.film
        if self.duration is not None:
            return self._spec(clip, _duration(self.duration, "duration"))
        stream = self._spec(clip, LONGEST_SESSION)
        shares = [(path, 1.0), *((other, OTHERS_COST) for other in others)]
        sessions = sum(share * SessionRunner(line, stream, sender).cost for line, share in shares for sender in senders)
        cost = SAMPLE_SIZES[0] * sessions
        length = round(LONGEST_SESSION * BUDGET / cost)
        shortest = max(SHORTEST_SESSION / path.viewers, SHORTEST_OF_MANY)
        seconds = float(min(max(length, shortest), LONGEST_SESSION))
        return self._spec(clip, seconds)

    def _spec(self, clip: Clip, length: float) -> StreamSpec:
        return StreamSpec.of(clip, self.goal, length, self.segment_seconds, self.renditions)

    @property
    def segment_seconds(self) -> float:
        """Playing time of a segment; raise InputError if the film has none."""
        if self.segment is None:
            return SEGMENT_SECONDS
        if self.goal not in SEGMENTED:
            raise InputError(f"segment = {self.segment}: only films of --goal vod and hls are sent in segments.")
        return _duration(self.segment, "segment")


@dataclasses.dataclass(frozen=True)
class Question:
    """A request of which all makes sense, with the other lines that are looked at."""

    path: NetworkPath
    senders: tuple[Candidate, ...]
    stream: StreamSpec
    late: float  # share of the frames
    ends: tuple[NetworkPath, ...]
    other: NetworkPath | None
    larger: NetworkPath | None
    cake: NetworkPath | None

    @classmethod
    def of(cls, request: PlanRequest) -> Question:
        """Read the film and complete the path; raise as `plan` does."""
        path, senders = request.path, candidates(request.transports, request.baseline, request.goal)
        check_line(path)
        traffic = usual(path) if request.beside is None else path.beside
        ends = tuple(path.with_loss(share) for share in path.loss_ends if share != path.loss)
        other = None if traffic == NONE else path.with_traffic(NONE if path.beside != NONE else traffic)
        # Whether another queue matters is judged by the delay, which hardly differs where players choose the rate.
        judges_queue = request.renditions is None
        larger = path.with_queue(NETEM_QUEUE) if path.queue_is_assumed and judges_queue else None
        cake = path.with_traffic(traffic).with_cake() if other and is_fifo(path) and judges_queue else None
        stream = request.stream(path, senders, [*ends, *(line for line in (other, larger, cake) if line)])
        check_it_fits(stream, path)
        check_outages(path, stream)
        cake = cake if cake and fits(stream, cake) else None
        return cls(path, senders, stream, request.late_share, ends, other, larger, cake)


def plan(request: PlanRequest, *, jobs: int | None = None, progress: bool | Report = False) -> Plan:
    """
    Return the delay that viewers need, and the sender to use.

    Parameters
    ----------
    request
        The stream, the path and the senders.
    jobs
        Sessions at a time (default: one per processor).
    progress
        Show a progress bar on the terminal; or a function, which is called with the sessions that are done and those
        that are wanted, and what it raises ends the plan.

    Returns
    -------
    Plan
        Its `answer` is the answer.

    Raises
    ------
    InputError
        If something is missing, makes no sense, or cannot work: a path slower than the film.
    MediaError
        If the film cannot be read.

    Examples
    --------
    >>> import earlybird
    >>> request = earlybird.PlanRequest(bitrate="2Mb/s", rate="20Mb/s", rtt="40ms", seeds=range(1, 4))
    >>> earlybird.plan(request).choice.candidate.name
    'cubic'
    """
    question = Question.of(request)

    def decided(line: NetworkPath) -> Plan:
        return _decide(request, question, line, jobs, progress=progress)

    found = decided(question.path)
    drops = any(result.is_dropped_from for result in found.results)
    beside = decided(question.other) if question.other else None
    mends = beside is not None and is_delayed_by_others(found, beside)
    return dataclasses.replace(
        found,
        ends=tuple(map(decided, question.ends)),
        other=beside,
        cake=decided(question.cake) if question.cake and mends else None,
        larger_queue=decided(question.larger) if question.larger and drops else None,
        interface=request.interface,
    )


def _duration(text: str, what: str) -> float:
    value = parse_duration(text)
    if not value:
        raise InputError(f"{what} = {text}: a time above zero with its unit, such as 60ms.")
    return value


def is_delayed_by_others(one: Plan, other: Plan) -> bool:
    """Return whether a film needs noticeably more with other traffic than without it."""
    without, beside = sorted((one, other), key=lambda plan: plan.path.beside != NONE)
    return is_noticeably_longer(beside.delay_needed, without.delay_needed, one.stream.noticeable)


def _decide(
    request: PlanRequest, question: Question, path: NetworkPath, jobs: int | None, *, progress: bool | Report
) -> Plan:
    """Sample sessions until the choice is clear; for another line than the main one only the first sample."""
    senders, stream, late = question.senders, question.stream, question.late
    formulas = [formula_estimate(path, stream, sender, late) for sender in senders]
    with threads(jobs) as workers:
        runners = [SessionRunner(path, stream, sender, late, workers.watch, is_series=True) for sender in senders]
        sampler = Sampler(runners, workers, stream.margin, show=progress)
        if request.seeds is not None:
            sampler.sample(list(request.seeds))
        elif path is question.path:
            sampler.run()
        else:
            sampler.sample(range(1, PILOT + 1))
            sampler.sample(range(PILOT + 1, SAMPLE_SIZES[0] + 1))
        if request.seeds is None:
            sampler.refine()
    rates = stream.ladder.rates if stream.ladder else ()
    results = tuple(
        CandidateResult(sender, sampler.delays_needed[place], formula, tuple(sampler.sessions[place].values()), rates)
        for place, (sender, formula) in enumerate(zip(senders, formulas, strict=True))
    )
    return Plan(
        stream=stream,
        path=path,
        late=late,
        results=results,
        choice=results[sampler.choice],
        doubt=sampler.doubt,
        is_clear=sampler.is_clear,
        open_candidates=tuple(results[place] for place in sampler.open_candidates),
        compared=sampler.compared,
    )
