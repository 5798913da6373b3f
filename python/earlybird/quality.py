"""Quality of experience: six figures, CMCD, and the input of ITU-T P.1203.

A viewer starts `startup_delay` seconds after the first frame was written, or when that frame arrives, plays each frame
at its time and stalls where one is missing (`earlybird.player`). A frame that never arrives while later ones do is not
shown, and does not stall playback. The frames of a film in segments are its parts, or whole segments.

If the scenario of a flow has a viewer (`client`, or the application `segments`), that viewer is used: startup delay and
stalls are those of the tables `flows` and `stalls`.
"""

from __future__ import annotations

import dataclasses
import importlib
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from earlybird import _core
from earlybird.errors import InputError
from earlybird.player import Playback, play
from earlybird.quantities import parse_duration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from earlybird.result import Result

STARTUP_DELAY: Final = 2.0  # seconds from the writing of the first frame to its playing, as in `earlybird compare`

SEGMENT: Final = 1.0
"""Seconds of film over which a bit rate is given to P.1203 without segments, and between two reports by CMCD."""

RESOLUTION: Final = "1920x1080"
"""Default picture size for P.1203; runs have frame sizes in bytes only."""

FRAME_RATE: Final = 30.0
"""Default pictures per second of a generated encoder (`ingest.encoder.frame-rate`)."""

ROUND_KBPS: Final = 100
ROUND_MS: Final = 100  # CTA-5004-B, table 1: `mtp` is rounded to 100 kb/s and `bl` to 100 ms

ROUNDING: Final = 1e-6
"""Seconds by which times of the engine, which count nanoseconds, may differ from sums of floats."""

SECOND: Final = "earlybird-t"
"""The key of a report's time. CTA-5004-B, section 4: names of one's own have a prefix with a hyphen."""


@dataclasses.dataclass(frozen=True)
class Quality:
    """The quality for the viewer of one flow."""

    flow: str
    startup_delay_s: float  # from the writing of the first frame to its playing
    stalls: int
    stalled_s: float
    mean_stall_s: float
    stall_ratio: float  # of the time since playback began
    live_latency_s: float  # from the writing of a frame to its playing, on average
    live_latency_max_s: float
    bitrate_bps: float  # of the film that was played
    switches: int  # of the encoder's rate, or of the viewer's choice
    frames_dropped: int  # given up before they were sent
    played_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures by name; a number that does not exist is None."""
        values = dataclasses.asdict(self)
        return {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in values.items()}


@dataclasses.dataclass(frozen=True, eq=False)
class Viewing:
    """One flow as its viewer saw it; times are seconds of the run."""

    flow: str
    written: NDArray[np.float64]
    delivered: NDArray[np.float64]
    shown: NDArray[np.float64]
    sizes: NDArray[np.int64]  # bytes
    playback: Playback
    startup_delay: float
    end: float
    rates: NDArray[np.float64]  # two rows: when the encoder's rate changed, and to how many bits per second
    dropped: int  # frames given up before they were sent
    frame_rate: float
    segment: float = SEGMENT  # seconds of film that have one bit rate
    is_live: bool = True
    top_rate: float | None = None  # the highest that it is there at, where that is known

    @property
    def is_played(self) -> NDArray[np.bool_]:
        """Return which frames were played before the end of the run."""
        return self.shown < self.end

    def quality(self) -> Quality:
        """Return the figures."""
        played, playback = self.is_played, self.playback
        latencies = (self.shown - self.written)[played]
        bits = 8 * float(self.sizes[played].sum())
        return Quality(
            flow=self.flow,
            startup_delay_s=self.startup_delay,
            stalls=len(playback.stalls),
            stalled_s=playback.stalled,
            mean_stall_s=playback.mean_stall,
            stall_ratio=playback.stall_ratio,
            live_latency_s=float(latencies.mean()) if len(latencies) else math.nan,
            live_latency_max_s=float(latencies.max()) if len(latencies) else math.nan,
            bitrate_bps=bits / playback.played if playback.played else math.nan,
            switches=max(self.rates.shape[1] - 1, 0),
            frames_dropped=self.dropped,
            played_s=playback.played,
        )

    def cmcd(self) -> list[dict[str, Any]]:
        """
        Report what a player would tell its server every second, by the keys of CTA-5004.

        `earlybird-t` (seconds of the run; ours), `br` (kb/s: of the encoder, else of the second that is played), `tb`
        (kb/s: the highest of the ladder, of the encoder, or else of these), `bl` (ms of film that wait), `mtp` (kb/s
        that came in the last second), `sf` and `st` (`o`: no format of segments; `l`: live, `v`: all is there). Where
        they say something: `pr` (0 while nothing is played), `su` and `bs` (playback begins again; the buffer ran empty
        since the last report) and `ltc` (ms behind the writing of a live film; a key of version 2). Names, units and
        rounding are those of table 1 in CTA-5004-B (version 2, 2026) and of `CmcdV1` in the SVTA's common-media-library
        (version 1, 2020); values are single ones, as in version 1.
        """
        reports = [self._report(second) for second in np.arange(self.written[0] + SEGMENT, self.end, SEGMENT)]
        played = (report["br"] for report in reports)
        top = max(played, default=0) if self.top_rate is None else round(self.top_rate / 1e3)
        return [{**report, "tb": top} for report in reports]

    def _report(self, now: float) -> dict[str, Any]:
        came = float(self.sizes[(self.delivered > now - SEGMENT) & (self.delivered <= now)].sum()) * 8 / SEGMENT
        position = self._position(now)
        there = self.delivered <= now
        newest = float(self.written[there].max()) if there.any() else position
        starts = self.playback.stall_starts(float(self.written[0]) + self.startup_delay)
        stalls = list(zip(starts, self.playback.stalls, strict=True))
        stalled = any(start <= now < start + length for start, length in stalls)
        has_begun = now >= self.shown[0]
        report: dict[str, Any] = {
            SECOND: round(now, 3),
            "br": round(self._rate(position) / 1e3),
            "bl": round(max(newest - position, 0.0) * 1e3 / ROUND_MS) * ROUND_MS,
            "mtp": round(came / 1e3 / ROUND_KBPS) * ROUND_KBPS,
            "sf": "o",
            "st": "l" if self.is_live else "v",
        }
        if has_begun and self.is_live:
            report["ltc"] = round((now - position) * 1e3)
        if stalled or not has_begun:
            report |= {"pr": 0, "su": True}
        if any(now - SEGMENT < start + length and start <= now for start, length in stalls):
            report["bs"] = True
        return report

    def _position(self, now: float) -> float:
        """Return when the frame that is on the screen was written; that of the first one before."""
        last = int(np.searchsorted(self.shown, now, side="right")) - 1
        return float(self.written[max(last, 0)])

    def _rate(self, position: float) -> float:
        """Return the encoder's rate of that time, else the bits of the second that begins there."""
        if self.rates.shape[1]:
            return float(self.rates[1, max(int(np.searchsorted(self.rates[0], position, side="right")) - 1, 0)])
        second = (self.written >= position) & (self.written < position + SEGMENT)
        return 8 * float(self.sizes[second].sum()) / SEGMENT

    def p1203(self, *, resolution: str = RESOLUTION, device: str = "pc") -> dict[str, Any]:
        """
        Write the input of ITU-T P.1203 in mode 0, as its reference software takes it.

        Mode 0 uses bit rate, frame rate and picture size of segments, and the stalls; the startup delay is the stall
        at 0. The codec is given as H.264, and the sound is part of the bit rate. Runs have no picture size, so that it
        is an argument; the `device` is ``pc`` or ``mobile``.
        """
        film = (self.written - self.written[0])[self.is_played]
        sizes, played = self.sizes[self.is_played], self.playback.played
        starts = np.arange(0.0, max(played, self.segment), self.segment)
        segments = []
        for start in starts[starts < played]:
            length = min(self.segment, played - float(start))
            bits = 8 * float(sizes[(film >= start) & (film < start + length)].sum())
            segments.append(
                {
                    "bitrate": round(bits / length / 1e3, 3),
                    "codec": "h264",
                    "duration": round(length, 6),
                    "fps": self.frame_rate,
                    "resolution": resolution,
                    "start": round(float(start), 6),
                }
            )
        stalling = [[0.0, round(self.startup_delay, 6)]]
        pauses = zip(self.playback.positions, self.playback.stalls, strict=True)
        stalling += [[round(at, 6), round(length, 6)] for at, length in pauses]
        return {
            "I11": {"segments": [], "streamId": 1},
            "I13": {"segments": segments, "streamId": 1},
            "I23": {"stalling": stalling, "streamId": 1},
            "IGen": {"device": device, "displaySize": resolution, "viewingDistance": "150cm"},
        }


def frame_rate(application: Mapping[str, Any]) -> float:
    """Return the frames per second of an application of a complete scenario."""
    ((kind, settings),) = application.items()
    if kind == "cbr":
        interval = settings.get("interval") or 8 * settings["packet"] / _core.rate(settings["rate"])
        return round(1 / float(interval), 3)
    film = settings if kind == "media" else settings.get("media")
    if film is None:
        return float((settings.get("encoder") or {}).get("frame-rate", FRAME_RATE))
    return round(len(film["times"]) / float(film["length"]), 3)


def viewings(result: Result, *, startup_delay: float = STARTUP_DELAY) -> list[Viewing]:
    """Show the films as `shown` does; raises `InputError` if there is none."""
    found = shown(result, startup_delay=startup_delay)
    if not found:
        raise InputError("the run has no film of which a frame came. Give it a flow of media, and time.")
    return found


def shown(result: Result, *, startup_delay: float = STARTUP_DELAY) -> list[Viewing]:
    """Show every film of a run to a viewer, who starts after `startup_delay` seconds; its own one by its own rule."""
    end = float(result.summary["duration_s"])
    groups = {group["name"]: group["application"] for group in result.scenario["flows"]}
    applications = {flow: groups[group] for flow, group in result.flows.select("flow", "group").iter_rows()}
    frames = result.deliveries.sort("unit").partition_by("flow", as_dict=True, maintain_order=True)
    every = (
        _viewing(result, str(name), table, startup_delay, end, applications[str(name)])
        for (name,), table in frames.items()
    )
    return [viewing for viewing in every if viewing is not None]


def _viewing(
    result: Result, flow: str, frames: pl.DataFrame, startup_delay: float, end: float, application: Mapping[str, Any]
) -> Viewing | None:
    kept = frames.filter(pl.col("delivered_s").is_finite() | (pl.col("unit") > _last_that_came(frames)))
    written, delivered = (kept[name].to_numpy() for name in ("written_s", "delivered_s"))
    if not len(written) or not math.isfinite(delivered[0]):
        return None
    delivered = np.maximum.accumulate(delivered)
    segments = application.get("segments")
    row = result.flows.row(by_predicate=pl.col("flow") == flow, named=True)
    skips = not math.isnan(row.get("playback_delay_s", math.nan))
    if _has_viewer(row) or segments is not None:
        begins = _own_start(row, written, is_requested=segments is not None)
        if math.isnan(begins):
            return None
        playback = _own_playback(result, flow, written, begins, end)
    else:
        begins = max(startup_delay, float(delivered[0] - written[0]))
        playback = play(written, delivered, startup_delay=begins, end=end)
    shown = playback.shown(written, begins)
    # A viewer that skips does not show what comes late.
    shown = np.where(skips & (delivered > shown), np.inf, shown)
    rates, dropped = _encoder(result, flow)
    sizes = kept["bytes"].to_numpy()
    viewing = Viewing(
        flow, written, delivered, shown, sizes, playback, begins, end, rates, dropped, frame_rate(application)
    )
    if segments is None:
        return dataclasses.replace(viewing, top_rate=float(rates[1].max()) if rates.shape[1] else None)
    length = parse_duration(segments["segment"]) or SEGMENT
    top = max(_core.rate(rate) for rate in segments["ladder"])
    return dataclasses.replace(viewing, segment=length, is_live=bool(segments["live"]), top_rate=float(top))


def _has_viewer(row: Mapping[str, Any]) -> bool:
    """Return whether the scenario gives a flow a viewer: units were due for it."""
    return int(row.get("units_played", 0)) + int(row.get("units_lost", 0)) > 0


def _own_start(row: Mapping[str, Any], written: NDArray[np.float64], *, is_requested: bool) -> float:
    """Return when a flow's viewer began to play, in seconds from the writing of the first unit; NaN if it did not."""
    begins = float(row["startup_delay_s"])
    if math.isnan(begins):
        begins = float(row["playback_delay_s"])
    # The delay of a film in segments counts from the first request.
    return begins + float(row["start_s"]) - float(written[0]) if is_requested else begins


def _own_playback(result: Result, flow: str, written: NDArray[np.float64], begins: float, end: float) -> Playback:
    """Return the playback of a flow's own viewer, with the stalls of the table `stalls`."""
    first = float(written[0]) + begins
    if "stalls" not in result.tables:
        return Playback((), (), max(end - first, 0.0))
    rows = result.stalls.filter(pl.col("flow") == flow)
    times, stalls = (rows[name].to_numpy() for name in ("time_s", "stalled_s"))
    before = np.concatenate([[0.0], np.cumsum(stalls)])[: len(stalls)]
    # The film stalls at a unit: rounding must not put the stall behind it.
    offsets = written - written[0]
    units = np.searchsorted(offsets, times - first - before - ROUNDING)
    positions = offsets[np.minimum(units, len(offsets) - 1)]
    played = end - first - float(stalls.sum())
    return Playback(tuple(stalls.tolist()), tuple(positions.tolist()), max(played, 0.0))


def _last_that_came(frames: pl.DataFrame) -> int:
    came = frames.filter(pl.col("delivered_s").is_finite())["unit"]
    return int(came.to_numpy().max()) if len(came) else -1


def _encoder(result: Result, flow: str) -> tuple[NDArray[np.float64], int]:
    """Return the rates of a flow's encoder and how many frames were dropped, if it has one."""
    if "encoder" not in result.tables:
        return np.empty((2, 0)), 0
    events = result.encoder.filter(pl.col("flow") == flow)
    rates = events.filter(pl.col("bitrate_bps").is_not_nan())
    return rates.select("time_s", "bitrate_bps").to_numpy().T, events.height - rates.height


def score(document: Mapping[str, Any]) -> float:
    """
    Score the output of `Viewing.p1203` (o46, 1 bad to 5 excellent) with the reference software, if installed.

    Its licence keeps it from being a part of this package. A score knows nothing of live latency: tell both.
    """
    try:
        standalone = importlib.import_module("itu_p1203").P1203Standalone
    except ImportError as error:
        raise InputError(
            "--score: the reference software of ITU-T P.1203 is not installed. Its licence allows research only, so it "
            "is yours to choose: `pip install itu_p1203`; or give the file of --p1203 to another program."
        ) from error
    return float(standalone(dict(document)).calculate_complete()["O46"])
