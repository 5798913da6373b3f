"""One play: a film, a link, a sender and a client, and the result."""

from __future__ import annotations

import json
import os
import statistics
import sys
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from earlybird import _core
from earlybird.backends import KERNEL, MILLISECOND
from earlybird.emulation import emulate
from earlybird.errors import EarlybirdError
from earlybird.result import Result
from earlybird.testbed.definition import network_of
from earlybird.testbed.film import provide
from earlybird.testbed.needs import check_sender
from earlybird.testbed.server import COLUMNS
from earlybird.testbed.viewer import wrapped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

LONGEST: Final = 3.0  # times of the film's length after which a play is stopped, with `MARGIN` seconds more
MARGIN: Final = 30.0
TRIES: Final = 3
"""Times that a play is begun, of one seed: browsers give up a film for reasons of their own, and hours of other plays
are not to end with it. How many it took is in the summary."""
FREEZE_FACTOR, FREEZE_MORE = 3.0, 0.15
"""A picture that stands for thrice its time, and 0.15 s longer than it, is frozen (`freezeCount` of WebRTC's
statistics)."""
FLOW: Final = "film0"
OF_CLIENT: Final = ("late_pictures", "frames_dropped", "frames_skipped", "starvations", "sounds_late", "buffer_s")
"""The client's own report; None if it has none."""
QUANTITIES: Final = ("cwnd", "ssthresh", "rtt_s", "unacked", "retransmissions")  # stored quantities of the samples


def make_play(document: Mapping[str, Any], seed: int) -> Result:
    """
    Play a film once, as `earlybird.testbed.definition.load` planned it.

    The tables are ``series`` (window, threshold and round-trip time by the kernel, every 10 ms), ``stalls`` and
    ``pictures`` (when each was shown); times count from the moment at which the client was told to play.
    """
    bed = document["testbed"]
    check_sender(bed["sender"])
    film = provide(bed["film"])
    seen, lines, network = _watched(bed, film, seed)
    return _result(document, seed, seen, _series(lines, seen["began"]), network)


class _Unwatched(Exception):
    """Raised if the client has shown nothing of the film."""


def _watched(bed: Mapping[str, Any], film: Path, seed: int) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Run the client, with retries; return its report, the server's samples and the network's summary."""
    tries = 1
    while True:
        try:
            seen, lines, network = _watched_once(bed, film, seed)
        except _Unwatched as error:
            if tries == TRIES:
                raise EarlybirdError(str(error)) from None
            tries += 1
        else:
            return seen, lines, {**network, "tries": tries}


def _watched_once(bed: Mapping[str, Any], film: Path, seed: int) -> tuple[dict[str, Any], str, dict[str, Any]]:
    with _Memory("samples") as samples, _Memory("report") as report_file:
        viewer = [sys.executable, "-m", "earlybird.testbed.viewer", report_file.number, _description(bed, film)]
        server = [sys.executable, "-m", "earlybird.testbed.server", str(film), bed["sender"], samples.number]
        rival = [bed["competing"]["sender"]] if bed["competing"] else []
        outcome = emulate(network_of(bed["link"]), wrapped(viewer), servers=[[*server, *rival]], seed=seed)
        report, lines = report_file.text(), samples.text()
    if not report:
        raise EarlybirdError(f"the client {bed['client']} could not be started (code {outcome.exit_code}).")
    seen = json.loads(report)
    showed_nothing = "it showed no picture of the film" if seen.get("finished") and not seen["pictures"] else None
    if problem := seen["error"] or showed_nothing:
        raise _Unwatched(f"{bed['client']} over {bed['sender']}: {problem}.")
    return seen, lines, outcome.summary


class _Memory:
    """A file without a name, which programs that are started inherit, and which nothing leaves behind."""

    def __init__(self, name: str) -> None:
        self._file = os.memfd_create(name, 0)

    def __enter__(self) -> _Memory:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    @property
    def number(self) -> str:
        return str(self._file)

    def text(self) -> str:
        os.lseek(self._file, 0, os.SEEK_SET)
        with os.fdopen(os.dup(self._file), encoding="utf-8") as file:
            return file.read()


def _description(bed: Mapping[str, Any], film: Path) -> str:
    """Return the instructions for the viewer process."""
    import av

    with av.open(str(film)) as container:
        codec = container.streams.video[0].codec_context
        size = codec.width, codec.height
    limit = LONGEST * bed["film"]["seconds"] + MARGIN
    keys = ("client", "caching_ms", "competing")
    return json.dumps({**{key: bed[key] for key in keys}, "size": size, "limit_s": limit})


def _series(lines: str, began: float) -> pl.DataFrame:
    """Make a run's samples of what the server read: of the connection that carried most, until all of it was there."""
    import polars as pl

    rows = [line.split() for line in lines.splitlines()]
    samples = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row").cast(
        dict.fromkeys(COLUMNS, pl.Float64)
    )
    most = samples.group_by("connection").agg(pl.col("acked").max()).sort("acked")["connection"]
    chosen = samples.filter(pl.col("connection") == (most[-1] if len(most) else -1))
    # The end of the connection counts as one byte more.
    whole = chosen.filter(pl.col("acked") >= pl.col("acked").max() - 1)["time_s"].min()
    chosen = chosen.filter(pl.col("time_s") <= whole)
    wide = chosen.with_columns(pl.col("time_s") - began, rtt_s=pl.col("rtt_us") / 1e6).select("time_s", *QUANTITIES)
    long = wide.unpivot(index="time_s", variable_name="quantity", value_name="value")
    return long.select("time_s", pl.lit(FLOW).alias("subject"), "quantity", "value")


def _result(
    document: Mapping[str, Any], seed: int, seen: Mapping[str, Any], series: pl.DataFrame, network: Mapping[str, Any]
) -> Result:
    import polars as pl

    began = seen["began"]
    pictures = [at - began for at in seen["pictures"]]
    stalls = [(start - began, end - start) for start, end in seen["stalls"]]
    back = network["links"][1]
    late = network["delay_added"]
    summary = {
        "seed": seed,
        "startup_delay_s": pictures[0] if pictures else None,
        "stalls": len(stalls),
        "stalled_s": sum(length for _, length in stalls),
        **freezes(pictures),
        **{name: seen[name] for name in OF_CLIENT},
        "pictures": len(pictures),
        "played_s": seen["ended"] - began,
        "finished": seen["finished"],
        **_of_window(series),
        "packets_in": back["packets_in"],
        "packets_dropped": back["packets_dropped"],
        "mean_queue_delay_ms": back["mean_queue_delay_ms"],
        "added_delay_p50_us": late["p50_us"],
        "added_delay_p99_us": late["p99_us"],
        "undelivered": network["undelivered"],
        "tries": network["tries"],
        "disturbed": late["p99_us"] > MILLISECOND or network["undelivered"] > 0 or (network["device_drops"] or 0) > 0,
        "code_version": _core.code_version(KERNEL),
    }
    tables = {
        "series": series,
        "stalls": pl.DataFrame(stalls, schema={"time_s": pl.Float64, "length_s": pl.Float64}, orient="row"),
        "pictures": pl.DataFrame({"time_s": pictures}, schema={"time_s": pl.Float64}),
    }
    return Result(dict(document), seed, summary, {name: partial(_same, table) for name, table in tables.items()})


def _same(table: pl.DataFrame) -> pl.DataFrame:
    return table


def freezes(pictures: Sequence[float]) -> dict[str, float]:
    """Count the pictures that stood too long, by their times, and add up for how long."""
    gaps = [later - earlier for earlier, later in pairwise(pictures)]
    if not gaps:
        return {"freezes": 0, "frozen_s": 0.0}
    usual = statistics.median(gaps)
    frozen = [gap for gap in gaps if gap > max(FREEZE_FACTOR * usual, usual + FREEZE_MORE)]
    return {"freezes": len(frozen), "frozen_s": sum(frozen)}


def _of_window(series: pl.DataFrame) -> dict[str, Any]:
    from earlybird.study.reductions.window import window_values

    values = window_values(series, FLOW)
    repeats = series.filter(quantity="retransmissions")["value"].max()
    return {"retransmissions": repeats, **{name.replace("-", "_"): value for name, value in values.items()}}
