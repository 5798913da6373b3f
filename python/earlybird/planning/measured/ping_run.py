"""One run of ping: what was sent and came back, by its summary, its numbers or its lines."""

from __future__ import annotations

import dataclasses
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from earlybird.planning.measured.ping_lines import Counts, Reply

NUMBERS: Final = 2**16  # of sequence numbers, after which they begin anew (RFC 792)
FAR_BACK: Final = 2**15  # steps in a sequence beyond which it is the other way round


@dataclasses.dataclass
class Run:
    """One run of ping: replies, the lines between them that are none, and what its summary says."""

    replies: list[Reply] = dataclasses.field(default_factory=list)
    missed: int = 0
    unanswered: list[int] = dataclasses.field(default_factory=list)  # numbers that lines name and that are no replies
    counts: Counts | None = None
    summary: tuple[float, float, float] | None = None
    seconds: float | None = None  # that it took, by its summary

    @property
    def numbers(self) -> list[int]:
        """The sequence numbers of the replies, counted on past the end of 16 bits."""
        found = [reply.number for reply in self.replies if reply.number is not None]
        steps = [(after - before + FAR_BACK) % NUMBERS - FAR_BACK for before, after in pairwise(found)]
        return list(accumulate([*found[:1], *steps]))

    @property
    def unique(self) -> list[Reply]:
        """The replies without those to a number that was answered before."""
        if not self._is_numbered:
            return self.replies
        known: dict[int, Reply] = {}
        for number, reply in zip(self.numbers, self.replies, strict=True):
            known.setdefault(number, reply)
        return list(known.values())

    @property
    def _is_numbered(self) -> bool:
        return bool(self.replies) and all(reply.number is not None for reply in self.replies)

    @property
    def sent(self) -> int:
        """The pings that were sent: by the summary, by the numbers, or by the lines."""
        if self.counts:
            return max(self.counts.sent, len(self.unique))
        if self._is_numbered:
            last = self.numbers[-1]
            beyond = [last + (number - last + FAR_BACK) % NUMBERS - FAR_BACK for number in self.unanswered]
            tried = [*self.numbers, *beyond]
            return max(tried) - min(tried) + 1
        return len(self.replies) + self.missed

    @property
    def received(self) -> int:
        """The pings that were answered."""
        return len(self.unique) or (self.counts.received if self.counts and self.summary else 0)

    @property
    def gaps(self) -> list[int]:
        """The lengths of the runs of lost pings that the numbers show."""
        numbers = sorted(set(self.numbers)) if self._is_numbered else []
        return [after - before - 1 for before, after in pairwise(numbers) if after - before > 1]
