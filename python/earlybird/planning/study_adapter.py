"""One session of a plan as a run, whose result is the delay that it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from earlybird.errors import InputError
from earlybird.models.described import DescribedCase
from earlybird.planning.candidates import candidate
from earlybird.planning.path import Measurements, NetworkPath, completed
from earlybird.planning.session import SessionRunner, scenario
from earlybird.planning.stream import HEADERS, KEY_FRAME_SIZE, SEGMENT, StreamSpec, synthetic_clip
from earlybird.player import LATE_SHARE_ALLOWED
from earlybird.quantities import parse_duration, parse_rate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@dataclass(frozen=True, slots=True)
class SessionCase(DescribedCase):
    """A live film over a line, as `earlybird plan` plays it."""

    name: ClassVar[str] = "session"
    revision: ClassVar[int] = 1
    seconds: ClassVar[float] = 0.3
    table: ClassVar[str] = "session"

    sender: str  # as `earlybird plan --transport` takes it
    loss: float  # share of the packets that get lost
    rtt: str  # the empty line's
    ratio: float  # the film's bit rate ÷ the line's rate
    burst: float = 1.0  # packets that are lost one behind the other, on average
    bitrate: str = "4Mb/s"
    late: float = LATE_SHARE_ALLOWED  # share of the frames below which those that are late have to stay
    key_frame: float = KEY_FRAME_SIZE  # size of a key frame ÷ another frame's
    length: float = 60.0  # seconds that the viewer watches

    @property
    def stream(self) -> StreamSpec:
        """The stream."""
        return StreamSpec.of(synthetic_clip(parse_rate(self.bitrate), "live", self.key_frame), "live", self.length)

    @property
    def round_trip(self) -> float:
        """Seconds of the empty line's round trip; raise InputError if that is no time."""
        value = parse_duration(self.rtt)
        if not value:
            raise InputError(f"rtt = {self.rtt}: a time above zero with its unit, such as 60ms.")
        return value

    @property
    def path(self) -> NetworkPath:
        """The path."""
        rate = parse_rate(self.bitrate) / self.ratio
        return completed(Measurements(rate, self.round_trip, self.loss, self.burst))

    @property
    def largest_frame_s(self) -> float:
        """Seconds that the largest frame takes on the line, with its headers."""
        return 8 * self.stream.clip.largest_frame * (1 + HEADERS / SEGMENT) / self.path.rate

    def scenario(self, delay: float | None = None) -> dict[str, Any]:
        """Write the session as a scenario; `delay` is for senders that give up what is late."""
        return scenario(self.path, self.stream, candidate(self.sender), delay)

    def computed(self, seed: int) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Play the session: the delay it needed, and the shares held back by a window and delivered."""
        played = SessionRunner(self.path, self.stream, candidate(self.sender), self.late).play(seed)
        return {}, {
            "need_s": [played.delay_needed],
            "held_back": [played.limited_share],
            "carried": [played.delivered_share],
        }
