"""
Write docs/how-long-to-wait.md and its picture from the study how-long.

    earlybird study run how-long --scale medium
    python tools/how_long.py --scale medium      # reads the results, keeps what they say in studies/how-long/table.csv
    python tools/how_long.py --page              # writes the page and its picture from that table again
    python tools/how_long.py --check             # says whether the page is what the table says
"""

from __future__ import annotations

import argparse
import math
import operator
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from earlybird.planning.estimates import SRT_ROUND_TRIPS
from earlybird.planning.selection import quantile_estimate
from earlybird.planning.study_adapter import SessionCase
from earlybird.plots.chart import Axis, Chart, Curve, Panel, log_axis
from earlybird.plots.style import PLAIN, transport_style
from earlybird.plots.vega import drawn
from earlybird.study.evaluation import evaluate_study
from earlybird.study.runs.plan import plan
from generated import REPOSITORY, row, write_or_check

sys.path.insert(0, str(REPOSITORY / "studies" / "how-long-confirmed"))
from confirmed import KEYS, Wait, Waits, key, waits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

STUDY: Final = "how-long"
TABLE: Final = REPOSITORY / "studies" / STUDY / "table.csv"
PAGE: Final = REPOSITORY / "docs" / "how-long-to-wait.md"
PICTURE: Final = REPOSITORY / "docs" / "images" / "how-long-to-wait.png"

SENDERS: Final = {
    "cubic": "CUBIC",
    "bbr3-rack": "BBR v3",
    "pert-rack": "PERT",
    "earlybird-rt": "earlybird-rt",
    "srt": "SRT",
}
TCP: Final = ("cubic", "bbr3-rack", "pert-rack")  # the senders that are tried with everything
LOSSES: Final = (0.001, 0.003, 0.01, 0.03, 0.07, 0.1)
ROUND_TRIPS: Final = ("20ms", "60ms", "150ms")
PUBLISHED: Final = "SRT's table"
PROPAGATION: Final = 0.5  # round trips from sender to receiver, which a latency of SRT leaves out


AXES: Final = ("sender", "loss", "rtt", "ratio", "burst", "bitrate", "late", "key-frame")  # of the study

ROUNDED: Final = operator.attrgetter("text")

Columns = Mapping[str, Mapping[str, object]]  # by column, the fields that differ


def measured(scale: str, output: Path) -> pl.DataFrame:
    """Read the study's results: a row per cell."""
    evaluation = evaluate_study(STUDY, scale, output=output)
    cells: dict[tuple[object, ...], list[float]] = {}
    for run in evaluation.measurements.observations:
        cells.setdefault(tuple(run.axes[name] for name in AXES), []).append(run.values["session_startup_delay_s"])
    order = dict.fromkeys(tuple(run.axes[name] for name in AXES) for run in plan(evaluation.study, scale))
    return pl.DataFrame([cell_row(cell, cells[cell]) for cell in order if cell in cells])


def cell_row(cell: tuple[object, ...], waits: Sequence[float]) -> dict[str, object]:
    """Put the sessions of a cell together."""
    found = quantile_estimate(np.array(waits))
    numbers = {"need_s": found.mean, "low_s": found.low, "high_s": found.high}
    return {**dict(zip(KEYS, cell, strict=True)), **{name: round(n, 4) for name, n in numbers.items()}} | {
        "sessions": found.count
    }


def cell(known: Waits, *, write: Callable[[Wait], str], **changes: object) -> str:
    """Write a cell; a dash where it was not run."""
    wait = known.get(key(SessionCase(**changes)))  # type: ignore[arg-type]
    return write(wait) if wait else "–"


def published(loss: float) -> str:
    """Write what SRT's table advises, from writing to playing."""
    return next(f"{trips + PROPAGATION:g}" for most, trips in SRT_ROUND_TRIPS if loss <= most)


def share(loss: float) -> str:
    """Write a loss."""
    return f"{100 * loss:g} %"


def by_transport(known: Waits, columns: Columns, write: Callable[[Wait], str], **fixed: object) -> str:
    """Write a row per loss, and a cell of three round trips for each column."""

    def one(column: Mapping[str, object], loss: float) -> str:
        texts = [cell(known, write=write, loss=loss, rtt=rtt, **{**fixed, **column}) for rtt in ROUND_TRIPS]
        return " / ".join(texts) if len(set(texts)) > 1 else texts[0]

    return by_loss({title: partial(one, column) for title, column in columns.items()})


def by_loss(columns: Mapping[str, Callable[[float], str]]) -> str:
    """Write a row per loss."""
    rows = ([share(loss), *(write(loss) for write in columns.values())] for loss in LOSSES)
    head = [row("lost", *columns), "|" + " ---: |" * (len(columns) + 1)]
    return "\n".join([*head, *(row(*cells) for cells in rows)])


def with_published(table: str) -> str:
    """Add the column of SRT's own table."""
    extra = [PUBLISHED, "---:", *map(published, LOSSES)]
    return "\n".join(f"{line} {text} |" for line, text in zip(table.splitlines(), extra, strict=True))


def by_film(known: Waits, films: Columns, senders: Iterable[str]) -> str:
    """Write a row per loss and a column per film, of one number for each sender."""

    def one(film: Mapping[str, object], loss: float) -> str:
        return " / ".join(cell(known, write=ROUNDED, sender=sender, loss=loss, **film) for sender in senders)

    return by_loss({title: partial(one, film) for title, film in films.items()})


def chart(known: Waits) -> Chart:
    """Show the round trips over the loss: a row for each kind of loss, a panel per round trip."""
    panels = [
        Panel(f"{rtt.removesuffix('ms')} ms, lost {how}", tuple(_curves(known, rtt, burst)))
        for burst, how in ((1.0, "one by one"), (3.5, "in bursts of 3.5"))
        for rtt in ROUND_TRIPS
    ]
    x = log_axis(Axis("packets lost, %", ticks={loss: f"{100 * loss:g}" for loss in LOSSES}), LOSSES)
    names = {tick: f"{tick:g}" for tick in TICKS} | {ROOF: "more or\nnever"}
    y = Axis("round trips of delay, and the largest frame's time", is_log=True, low=1.4, high=1.25 * ROOF, ticks=names)
    return Chart(tuple(panels), x, y)


ROOF: Final = 100.0
TICKS: Final = (2, 3, 5, 10, 20, 50, ROOF)  # round trips; what is longer is drawn at the top


def _curves(known: Waits, rtt: str, burst: float) -> Iterator[Curve]:
    # A step up to each loss: the table's row is for losses up to it.
    yield Curve(
        PUBLISHED, PLAIN, LOSSES, [float(published(loss)) for loss in (*LOSSES[1:], LOSSES[-1])], "steps", width=4
    )
    for sender, title in SENDERS.items():
        found = [known.get(key(SessionCase(sender, loss, rtt, HALF, burst))) for loss in LOSSES]
        yield Curve(
            title, transport_style(sender), LOSSES, [min(one.round_trips, ROOF) if one else math.nan for one in found]
        )


HALF: Final = 0.5
TEXT: Final = (REPOSITORY / "studies" / STUDY / "page.md").read_text(encoding="utf-8")


def page(known: Waits) -> str:
    """Write the page."""
    senders: dict[str, dict[str, object]] = {title: {"sender": sender} for sender, title in SENDERS.items()}
    tcp: dict[str, dict[str, object]] = {SENDERS[sender]: {"sender": sender} for sender in TCP}
    films: dict[str, dict[str, object]] = {
        "300 ms": {"rtt": "300ms"},
        "1 Mb/s": {"bitrate": "1Mb/s"},
        "16 Mb/s": {"bitrate": "16Mb/s"},
        "up to 1 % late": {"late": 0.01},
    }
    others: dict[str, dict[str, object]] = {
        title: {"rtt": "60ms", "ratio": HALF, **film} for title, film in films.items()
    }
    even: dict[str, dict[str, object]] = {"SRT, even": {"sender": "srt", "key_frame": 1.0}}
    return TEXT.format(
        half=with_published(by_transport(known, senders | even, ROUNDED, ratio=HALF)),
        bursts=with_published(by_transport(known, senders, ROUNDED, ratio=HALF, burst=3.5)),
        quarter=by_transport(known, tcp, ROUNDED, ratio=0.25),
        full=by_transport(known, tcp, ROUNDED, ratio=0.8),
        others=by_film(known, others, TCP),
        seconds=by_transport(known, senders, operator.attrgetter("seconds_text"), ratio=HALF),
        sessions=min(wait.sessions for wait in known.values()),
    )


def main() -> int:
    """Read the results if asked to, then write or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--scale", help="read the study's results at this scale")
    what.add_argument("--page", action="store_true", help="write the page from the table that is there")
    what.add_argument("--check", action="store_true", help="tell whether the page is up to date")
    parser.add_argument("--output", type=Path, default=REPOSITORY / "results", help="results folder")
    wanted = parser.parse_args()
    if wanted.scale:
        measured(wanted.scale, wanted.output).write_csv(TABLE)
    known = waits(pl.read_csv(TABLE))
    if not wanted.check:
        PICTURE.write_bytes(drawn(chart(known), "png"))
    return write_or_check(PAGE, page(known), "python tools/how_long.py --page")


if __name__ == "__main__":
    sys.exit(main())
