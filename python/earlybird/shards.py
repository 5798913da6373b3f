"""Parts of a sweep, for machines that share nothing but the command."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.pool import Job


@dataclass(frozen=True, slots=True)
class Shard:
    """One of `count` parts that runs are dealt out to, numbered from 1."""

    index: int
    count: int

    @classmethod
    def of(cls, given: Shard | str | None) -> Shard | None:
        """Read a shard as people write it, ``"2/4"``; a shard and None are returned as they are."""
        if not isinstance(given, str):
            return given
        written = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", given.strip())
        index, count = map(int, written.groups()) if written else (0, 0)
        if not 1 <= index <= count:
            raise InputError(
                f"shard = {given}: there is no such part; allowed: I/N with I from 1 to N, such as 2/4. "
                "hint: of a SLURM array, --array=1-4 and --shard $SLURM_ARRAY_TASK_ID/4."
            )
        return cls(index, count)

    def among(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Deal runs out as cards are, so that each part gets some of the long ones, and of each seed."""
        return jobs[self.index - 1 :: self.count]

    def __str__(self) -> str:
        """Write it as it is given."""
        return f"{self.index}/{self.count}"
