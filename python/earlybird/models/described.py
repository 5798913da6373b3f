"""A case of a model as a run: a description that names its result, a seed, and a table, as a simulation has them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from earlybird import _core
from earlybird.lazy import LateModule
from earlybird.result import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
else:
    pl = LateModule("polars")


class DescribedCase(ABC):
    """A dataclass of numbers and texts, of which a seed makes a result."""

    __slots__ = ()

    name: ClassVar[str]  # its name in the parts of a study
    revision: ClassVar[int]
    """Raised when its numbers change, so that results of the old ones are not taken for those of the new ones."""
    seconds: ClassVar[float]
    """Expected seconds of processor time on the slow machine that `earlybird.limits.cost_of` assumes."""
    table: ClassVar[str]  # the name of the only table

    def document(self) -> dict[str, Any]:
        """Return the description, which is in the place of a simulation's scenario."""
        case = asdict(self)  # type: ignore[call-overload]
        # As a file has it: a result that was read back is equal to the one that was written.
        document: dict[str, Any] = json.loads(
            json.dumps({"model": self.name, "revision": self.revision, "case": case}, sort_keys=True)
        )
        return document

    @abstractmethod
    def computed(self, seed: int) -> tuple[Mapping[str, float], Mapping[str, Any]]:
        """Compute the case: the numbers of the summary, and the columns of the table."""

    def result(self, seed: int) -> Result:
        """Return what is `computed` as the result of a run."""
        numbers, columns = self.computed(seed)
        summary = {"seed": seed, **numbers, "code_version": _core.code_version()}
        return Result(self.document(), seed, summary, {self.table: partial(pl.DataFrame, columns)})
