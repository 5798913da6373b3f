"""Measurements from what `ping`, `fping`, `mtr` and similar programs print, in any language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from earlybird.errors import InputError
from earlybird.planning.jitter import jitter_of
from earlybird.planning.measured.mtr import last_hop
from earlybird.planning.measured.ping_lines import (
    ERROR_RECORD,
    WRAPPED,
    Counts,
    Reply,
    counts_in,
    listed_in,
    number_in,
    reply_in,
    seconds_in,
    summary_in,
    targets_in,
)
from earlybird.planning.measured.ping_run import FAR_BACK, Run
from earlybird.planning.measured.text import text_of
from earlybird.planning.path import Measurements
from earlybird.planning.samples import LossSample, share_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

FEW: Final = 100  # replies below which a share of a per cent is a guess
RUNNING: Final = re.compile(
    r"min-rtt=|\bsent=\d+ received="
)  # RouterOS repeats its summary, counted from the beginning
NO_NUMBER: Final = re.compile(
    r"\d{40,}"
)  # no program prints such a number, and expressions for numbers try each part of it
SPACING: Final = 1.0  # seconds between pings unless another time is asked for (ping(8))


def read(path: str | Path) -> Measurements:
    """Read the round trip, its spread, and the losses, which count as those of the film's way: the careful side."""
    text = WRAPPED.sub(r"\1 ", NO_NUMBER.sub("", text_of(path, "what ping prints")))
    runs = last_hop(path, text) or _runs(path, text.splitlines())
    sent, received = (sum(getattr(run, key) for run in runs) for key in ("sent", "received"))
    if not sent:
        raise InputError(f"{path} is not what ping prints: no line has a time such as `time=12.3 ms`.")
    known = _round_trip(runs)
    if known is None:
        raise InputError(
            f"{path}: {_unknown(runs, sent)}, which tells nothing of the line. The way may block ICMP: measure with "
            "iperf3 or irtt, or give --rtt."
        )
    middle, words = known
    jitter = jitter_of([reply.milliseconds / 1e3 for run in runs for reply in run.unique], _spacing(runs))
    gaps = [gap for run in runs for gap in run.gaps]
    sample = LossSample(sent - received, sent, float(np.mean(gaps)) if gaps else 1.0)
    several = f" in {len(runs)} runs" if len(runs) > 1 else ""
    facts = [
        f"ping: a round trip of {middle:.4g} ms, {words}",
        f"ping: {sample}{several}, {100 * sample.share:.3g} %{_doubt(sample)}",
        *([f"ping: {jitter}"] if jitter else []),
    ]
    listed = any(run.replies for run in runs)
    longest = None if listed else max(run.summary[2] for run in runs if run.summary) / 1e3
    return Measurements(
        round_trip=middle / 1e3,
        loss=sample.share,
        loss_sample=sample,
        jitter=jitter,
        longest_unlisted=longest,
        facts=tuple(facts),
    )


def _unknown(runs: Sequence[Run], sent: int) -> str:
    """Return why there is no round trip: Windows counts answers of routers as replies, and lines may be left out."""
    if any(run.counts and run.counts.received for run in runs):
        return f"none of {sent} pings has a time, as hosts are unreachable or lines were left out"
    return f"none of {sent} pings came back"


def _spacing(runs: Sequence[Run]) -> float:
    """Return the seconds between pings."""
    return next((run.seconds / (run.sent - 1) for run in runs if run.seconds and run.sent > 1), SPACING)


def _doubt(sample: LossSample) -> str:
    low, high = sample.interval
    few = "; so few tell little of losses" if sample.sent < FEW else ""
    return f", which {share_text(low)} to {share_text(high)} of losses may have led to (at 90 %){few}"


def _round_trip(runs: Sequence[Run]) -> tuple[float, str] | None:
    """Return the round trip in milliseconds, and what to say; of summaries if no reply is listed."""
    times = np.array([reply.milliseconds for run in runs for reply in run.unique])
    if len(times):
        return _of_times(times)
    summaries = [(*run.summary, run.received) for run in runs if run.summary and run.received]
    if not summaries:
        return None
    shortest, longest = min(one[0] for one in summaries), max(one[2] for one in summaries)
    mean = float(np.average([one[1] for one in summaries], weights=[one[3] for one in summaries]))
    words = f"the mean, as no reply is listed (shortest {shortest:.4g}, longest {longest:.4g})"
    return mean, words  # one outlier may be the longest: its frequency is not known


def _of_times(times: NDArray[np.float64]) -> tuple[float, str]:
    middle, most = (float(np.quantile(times, share)) for share in (0.5, 0.95))
    return middle, f"the median (shortest {times.min():.4g}, 95 % below {most:.4g})"


def _runs(path: str | Path, lines: Sequence[str]) -> list[Run]:
    """Divide the lines into runs; raise InputError if they are of several targets."""
    runs, targets = [Run()], dict[str, None]()
    for line in lines:
        if (named := targets_in(line)) and not targets.keys() & named:
            targets.setdefault(named[0])
        _take(line, runs)
    if len(targets) > 1:
        raise InputError(
            f"{path} has pings of {len(targets)} targets ({', '.join(targets)}), and a plan is for one line: keep "
            "those of one."
        )
    return [run for run in runs if run.sent]


def _take(line: str, runs: list[Run]) -> None:
    """Add a line to the last run, or begin another one."""
    if counts := counts_in(line):
        # RouterOS counts from the beginning, and others do so once for each run.
        if runs[-1].counts and not RUNNING.search(line):
            runs.append(Run())
        runs[-1].counts = counts
        runs[-1].summary = summary_in(line) or runs[-1].summary
        runs[-1].seconds = seconds_in(line)
    elif listed := listed_in(line):
        replies = [Reply(value, number) for number, value in enumerate(listed) if value is not None]
        runs.append(Run(replies, counts=Counts(len(listed), len(replies))))
    elif summary := summary_in(line):
        runs[-1].summary = summary
    elif reply := reply_in(line):
        if _begins_anew(runs[-1], reply):
            runs.append(Run())
        runs[-1].replies.append(reply)
    elif not runs[-1].counts:
        number = number_in(line)
        runs[-1].unanswered += [] if number is None else [number]
        runs[-1].missed += bool(line.strip() and runs[-1].replies and not ERROR_RECORD.search(line))


def _begins_anew(run: Run, reply: Reply) -> bool:
    """Return whether a reply belongs to another run: behind a summary, or with a number far below the last one's."""
    last = run.replies[-1].number if run.replies else None
    if last is None or reply.number is None:
        return run.counts is not None
    back = last - reply.number
    if run.counts:  # RouterOS goes on behind a summary
        return back >= 0
    return reply.number <= 1 and 1 < back < FAR_BACK
