"""Films in several renditions: the ladder of their rates, and what their players did in a session."""

from __future__ import annotations

import dataclasses
import math
import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import numpy as np

from earlybird.clip import MediaError
from earlybird.errors import InputError
from earlybird.film_files import check_is_readable, manifest_kind
from earlybird.paths import limited_bytes
from earlybird.quantities import complete_rate, parse_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

Player: TypeAlias = Literal["hls.js", "dash.js", "shaka"]

PLAYERS: Final[tuple[Player, ...]] = get_args(Player)
DEFAULT_PLAYER: Final[Player] = "hls.js"

UNSENT_LIMIT: Final = 131072
"""Bytes that wait unsent in the server's socket, simulated and advised: docs/web-server.md has what they do."""

NOTICEABLE_SHORTFALL: Final = 0.05
"""Share of the highest rate by which a sender's quality must be higher for a change (our choice)."""


@dataclasses.dataclass(frozen=True)
class Ladder:
    """The rates of a film in bits per second, rising, and the player that chooses among them."""

    rates: tuple[float, ...]
    player: Player = DEFAULT_PLAYER

    @property
    def keys(self) -> dict[str, Any]:
        """The keys of the application `segments`."""
        return {"ladder": [f"{round(rate)}b/s" for rate in self.rates], "rule": self.player}


@dataclasses.dataclass(frozen=True)
class Viewing:
    """The playback of one session; times are in seconds."""

    shares: tuple[float, ...]  # of the time that was played, by rate
    played: float
    startup_delay: float  # infinite if playback never started
    stalls: int
    stalled: float
    abandoned: int  # segments
    shortfall: float  # of the quality, as a share of the highest rate

    @classmethod
    def of(cls, ladder: Ladder, tables: Mapping[str, Any], flow: str, *, counts_startup: bool) -> Viewing:
        """
        Read it from the tables of a run.

        The quality is that of Yin, Jindal, Sekar and Sinopoli, "A Control-Theoretic Approach for Dynamic Adaptive Video
        Streaming over HTTP" (SIGCOMM 2015, eq. 5 with their balanced weights): the mean rate, less the highest rate for
        each second of waiting. Changes of the rate do not count here.
        """
        flows, rows = tables["flows"], tables["renditions"]
        own, chosen = np.asarray(flows["flow"]) == flow, np.asarray(rows["flow"]) == flow
        played = rows["played_s"][chosen]
        started = float(flows["startup_delay_s"][own].item())
        startup_delay = math.inf if math.isnan(started) else started
        stalled, total = float(flows["stalled_s"][own].item()), float(played.sum())
        waited = stalled + (startup_delay if counts_startup else 0.0)
        quality = float(np.dot(played, ladder.rates)) - ladder.rates[-1] * waited
        return cls(
            shares=tuple(map(float, rows["time_share"][chosen])),
            played=total,
            startup_delay=startup_delay,
            stalls=int(flows["stalls"][own].item()),
            stalled=stalled,
            abandoned=int(rows["segments_abandoned"][chosen].sum()),
            shortfall=1 - quality / (ladder.rates[-1] * total) if total else math.inf,
        )


def parse_ladder(text: str | Sequence[str], player: str | None) -> Ladder:
    """Read rates, separated by commas or one by one; raise InputError if they make no ladder."""
    parts = text.split(",") if isinstance(text, str) else list(text)
    rates = tuple(float(parse_rate(complete_rate(part.strip()), "ladder")) for part in parts)
    return Ladder(_rising(rates, "ladder"), checked_player(player))


def checked_player(player: str | None) -> Player:
    """Return a player, the usual one if none is given; raise InputError if it is not known."""
    found: Player | None = DEFAULT_PLAYER if player is None else next((one for one in PLAYERS if one == player), None)
    if found is None:
        raise InputError(f"player = {player}: one of {', '.join(PLAYERS)}.")
    return found


def _rising(rates: Iterable[float], what: str) -> tuple[float, ...]:
    given = tuple(rates)
    rising = tuple(sorted(set(given)))
    if len(rising) < 2 or rising != given:
        raise InputError(
            f"{what} = {','.join(f'{rate / 1e3:g}kb/s' for rate in given)}: at least two rates from the lowest to the "
            "highest, such as 400kb/s,800kb/s,1.6Mb/s,3Mb/s. A film of one rate needs none: --bitrate."
        )
    return rising


def ladder_of_manifest(path: Path, player: str | None) -> Ladder | None:
    """Read the rates of a playlist of HLS with several renditions or of a manifest of DASH; None if it is neither."""
    check_is_readable(path)
    kind = manifest_kind(path)
    if kind is None:
        return None
    try:
        with path.open("rb") as file:
            text = limited_bytes(file).decode("utf-8", "replace")
    except ValueError as error:
        raise MediaError(path, f"is no {kind}: {error}", "Name the file of a film.") from error
    rates = sorted(set(_of_hls(text) if kind == "playlist of HLS" else _of_dash(path, text)))
    if len(rates) < 2:
        hint = "Name the file of its film, or its own playlist."
        raise MediaError(path, f"is a {kind} with {'one rendition' if rates else 'no rates'}", hint)
    return Ladder(tuple(rates), checked_player(player))


def _of_hls(text: str) -> list[float]:
    """Return the rates of the variants (RFC 8216 §4.3.4.2): the average if it is stated, else the peak."""
    lines = re.findall(r"^#EXT-X-STREAM-INF:(.*)$", text, re.MULTILINE)
    found = (
        re.search(r"(?<![A-Z-])AVERAGE-BANDWIDTH=(\d+)", line) or re.search(r"(?<![A-Z-])BANDWIDTH=(\d+)", line)
        for line in lines
    )
    return [float(rate[1]) for rate in found if rate]


def _of_dash(path: Path, text: str) -> list[float]:
    """Return the rates of the video (ISO/IEC 23009-1, `Representation@bandwidth`) with the highest of the sound."""
    try:
        root = ElementTree.fromstring(text.lstrip("\ufeff"))
    except ElementTree.ParseError as error:
        raise MediaError(path, f"is a damaged manifest of DASH ({error})", "Download it again.") from error
    rates: dict[bool, list[float]] = {True: [], False: []}
    for group in root.iterfind(".//{*}AdaptationSet"):
        for one in group.iterfind(".//{*}Representation"):
            kind = "".join(part.get(key, "") for part in (group, one) for key in ("contentType", "mimeType"))
            if (rate := one.get("bandwidth", "")).isdigit():
                rates["audio" in kind].append(float(rate))
    sound = max(rates[True], default=0.0)
    return [rate + sound for rate in rates[False]]
