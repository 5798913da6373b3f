"""The film as the viewers of several senders see it: which session and which part of it are shown, and by whom."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.formatting import format_rate, format_share
from earlybird.outputs import check_outputs
from earlybird.planning.answer import delay_text
from earlybird.planning.film_reader import FilmReader
from earlybird.planning.session import SessionRunner
from earlybird.planning.viewer import Viewer
from earlybird.planning.watch_file import FORMATS, check, write
from earlybird.planning.watch_picture import Painter
from earlybird.progress import share_bar
from earlybird.tables import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from earlybird.planning.canvas import Image
    from earlybird.planning.planner import CandidateResult, Plan
    from earlybird.planning.session import Session
    from earlybird.progress import Report

__all__ = ["Watched", "check", "check_senders", "watch"]

MOST: Final = 4  # viewers side by side
BEFORE: Final = 0.1  # share of a part that lies before its first freeze
NO_ANSWER: Final = 2.0
"""Seconds after which playback starts where no delay is enough: the default of `earlybird quality`."""
PARTS: Final = 100  # in which the progress of drawing is reported to a function
PALETTE_SAMPLES: Final = 24  # times from which the colours of a GIF are taken


def check_senders(names: Iterable[str], known: Iterable[str]) -> None:
    """Raise InputError if a sender that is to be shown is not one of the plan's."""
    for name in names:
        one_of(name, known, "watch-sender", "sender in this plan")


@dataclasses.dataclass(frozen=True, eq=False)
class Watched:
    """A film of `earlybird plan --watch`; times are in seconds since the viewers pressed play."""

    path: Path
    plan: Plan
    session: Session  # of the chosen sender
    viewers: tuple[Viewer, ...]
    start: float
    end: float

    @classmethod
    def of(cls, plan: Plan, path: Path, seconds: float, names: Sequence[str]) -> Watched:
        """Choose session, viewers and part."""
        session = next(one for one in plan.choice.sessions if one.delay_needed == plan.delay_needed)
        delay = plan.longest_delay if math.isfinite(plan.longest_delay) else NO_ANSWER
        viewers = tuple(_viewer(plan, result, session.seed, delay) for result in shown_results(plan, names))
        start = worst_part(viewers, seconds, plan.stream.length)
        return cls(path, plan, session, viewers, start, min(start + seconds, plan.stream.length))

    @property
    def delay(self) -> float:
        """The startup delay of all viewers."""
        return self.viewers[0].delay

    @property
    def caption(self) -> str:
        """A line below the panels: the startup delay, and the part of the session."""
        is_answer = math.isfinite(self.plan.delay)
        reason = "as the plan says" if is_answer else "as no delay is enough"
        start = f"All start after {delay_text(self.delay)}, {reason}"
        seconds, length = round(self.end - self.start), round(self.plan.stream.length)
        is_worst = any(viewer.frozen_in(self.start, self.end) for viewer in self.viewers)
        part = "all of" if seconds >= length else f"the {'worst' if is_worst else 'first'} {seconds} s of"
        return f"{start}; {part} session {self.session.seed} ({length} s)."

    @property
    def _session(self) -> str:
        if not math.isfinite(self.plan.delay):
            return "the first"
        return f"the one that decides the answer: nine of ten need no more with {self.plan.choice.candidate.name}"

    def __str__(self) -> str:
        """Return the file, and what is shown."""
        return f"{self.path}: {self.text}"

    @property
    def text(self) -> str:
        """The part of the session, the startup delay, and for how long each picture is frozen."""
        frozen = ", ".join(
            f"{viewer.result.candidate.name} {viewer.frozen_in(self.start, self.end):.1f} s" for viewer in self.viewers
        )
        return (
            f"{self.start:.1f} to {self.end:.1f} s of session {self.session.seed}, {self._session}. All "
            f"players start after {delay_text(self.delay)}. Frozen pictures: {frozen}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what `earlybird plan --json` prints."""
        seen = {viewer.result.candidate.name: viewer.to_dict(self.start, self.end) for viewer in self.viewers}
        return {
            "file": str(self.path),
            "seed": self.session.seed,
            "start_s": self.start,
            "end_s": self.end,
            "startup_delay_s": self.delay,
            "senders": seen,
        }

    def draw(self, advance: Callable[[float], None]) -> None:
        """Draw and encode it; `advance` is called with the share that is done."""
        form = FORMATS[self.path.suffix]
        path, is_live = self.plan.path, self.plan.stream.goal != "vod"
        line = f"{format_rate(path.rate)}, round trip {1e3 * path.round_trip:.4g} ms, {format_share(path.loss)} lost"
        span = self.start, self.end
        painter = Painter(self.plan.baseline, self.viewers, span, (line, self.caption), form.scale, is_live=is_live)
        count = round((self.end - self.start) * form.rate)
        times = [self.start + number / form.rate for number in range(count)]
        samples = self._images(painter, times[:: max(count // PALETTE_SAMPLES, 1)])
        write(self.path, _counted(self._images(painter, times), count, advance), samples)

    def _images(self, painter: Painter, times: Iterable[float]) -> Iterator[Image]:
        film = self.plan.stream.clip
        has_pictures = bool(film.kinds)  # neither made up nor sound alone
        readers = [FilmReader(film.path, *painter.picture_size) for _ in self.viewers if has_pictures]
        for now in times:
            frames = [viewer.frame(now) for viewer in self.viewers]
            shown = [
                None if frame is None else reader.picture(frame % film.frames)
                for frame, reader in zip(frames, readers, strict=has_pictures)
            ]
            yield painter.draw(now, shown or [None for _ in self.viewers])


def _counted(images: Iterable[Image], count: int, advance: Callable[[float], None]) -> Iterator[Image]:
    for number, image in enumerate(images, 1):
        yield image
        advance(number / count)


def watch(plan: Plan, path: str | Path, *, seconds: float, senders: Sequence[str], progress: bool | Report) -> Watched:
    """Write the film of a plan, as `Plan.watch` does."""
    check_outputs({"watch": path}, {"film": plan.stream.clip.path})
    check(Path(path))
    watched = Watched.of(plan, Path(path), seconds, senders)
    if callable(progress):
        report = progress
        watched.draw(lambda share: report(round(share * PARTS), PARTS))
        return watched
    if not progress:
        watched.draw(lambda _: None)
        return watched
    with share_bar(f"drawing {path}") as advance:
        watched.draw(advance)
    return watched


def shown_results(plan: Plan, names: Sequence[str]) -> list[CandidateResult]:
    """Return the senders to show: today's and the chosen one (or, if that is today's, the quickest other), and more."""
    results = {result.candidate.name: result for result in plan.results}
    check_senders(names, results)
    second = plan.choice
    if second is plan.baseline and len(plan.results) > 1:
        second = min(plan.results[1:], key=lambda result: result.delay_needed.mean)
    shown = list({id(result): result for result in (plan.baseline, second, *map(results.__getitem__, names))}.values())
    if len(shown) > MOST:
        raise InputError(f"watch-sender: {len(shown)} senders are asked for; {MOST} can be shown side by side.")
    return shown


def worst_part(viewers: Sequence[Viewer], seconds: float, end: float) -> float:
    """Return the beginning of the part in which one viewer's picture is frozen for the longest time in total."""
    freezes = [start for viewer in viewers for start, _ in viewer.freezes]
    starts = [0.0, *(max(min(start - BEFORE * seconds, end - seconds), 0.0) for start in sorted(freezes))]
    return max(starts, key=lambda start: max(viewer.frozen_in(start, start + seconds) for viewer in viewers))


def _delay_given(result: CandidateResult, delay: float) -> float:
    """Return the delay that a sender which gives up what is late is given, for viewers that start after `delay`."""
    return min(delay, result.sender_delay)


def _viewer(plan: Plan, result: CandidateResult, seed: int, delay: float) -> Viewer:
    """Play the session of a seed, unless it was played: a sender that gives up what is late has the delay of all."""
    gives_up = result.candidate.has_deadline
    session = next((one for one in result.sessions if one.seed == seed and not gives_up), None)
    if session is None:
        runner = SessionRunner(plan.path, plan.stream, result.candidate, plan.late)
        session = runner.session(seed, _delay_given(result, delay) if gives_up else None)
    return Viewer.of(result, session, delay)
