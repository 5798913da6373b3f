"""Observations of earlier reports: a result that has not changed is not reduced once more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import polars as pl
import scipy

from earlybird.cache import code, hashed, keep, kept
from earlybird.study.reductions.observations import Observation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from earlybird.store import Store
    from earlybird.study.language.definition import Study
    from earlybird.study.runs.plan import StudyRun

KIND: Final = "observations"


class Packed(msgspec.Struct, array_like=True):
    """An observation but for what its run says of itself."""

    flows: int
    load: float
    values: dict[str, float]
    delays: list[int | float]
    success: list[float]
    late: dict[str, list[float]]
    members: dict[str, Packed]


@dataclass
class Kept:
    """The observations of a study at a scale, by a hash of the result and of what is asked of it."""

    name: str  # of their file
    by_result: dict[str, Packed]
    used: dict[str, Packed] = field(default_factory=dict)
    _parts: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, study: Study, scale: str, store: Store) -> Kept:
        """Read what is kept of a study; nothing of other versions of the code."""
        versions = (code(), pl.__version__, np.__version__, scipy.__version__)
        name = hashed(study.name, study.item, scale, str(store.root.resolve()), repr(study.groups), *versions)
        content = kept(KIND, name)
        try:
            return cls(name, msgspec.msgpack.decode(content, type=dict[str, Packed]) if content else {})
        except msgspec.DecodeError:
            return cls(name, {})

    def key(self, run: StudyRun, result: str, fingerprint: str) -> str:
        """Return the key of an observation: of the run, the name of its result and a hash of that."""
        part = self._parts.get(id(run.part)) or self._parts.setdefault(id(run.part), repr(run.part))
        return hashed(part, repr(sorted(run.axes.items())), str(run.seed), result, fingerprint)

    def get(self, key: str, run: StudyRun) -> Observation | None:
        """Return an observation, if it is kept."""
        if key not in self.by_result:
            return None
        self.used[key] = self.by_result[key]
        return _observation(self.used[key], run)

    def add(self, observed: Mapping[str, Observation]) -> None:
        """Add observations that were made now."""
        self.used |= {key: _packed(each) for key, each in observed.items()}

    def write(self) -> None:
        """Keep the observations that were used, if they are others than before."""
        if self.used.keys() != self.by_result.keys():
            keep(KIND, self.name, msgspec.msgpack.encode(self.used))


def _packed(observed: Observation) -> Packed:
    return Packed(
        observed.flows,
        float(observed.load),
        {name: float(value) for name, value in observed.values.items()},
        observed.delays.tolist(),
        observed.success.tolist(),
        {name: values.tolist() for name, values in observed.late.items()},
        {name: _packed(member) for name, member in observed.members.items()},
    )


def _observation(packed: Packed, run: StudyRun) -> Observation:
    late = {name: _array(values) for name, values in packed.late.items()}
    members = {name: _observation(member, run) for name, member in packed.members.items()}
    delays, success = _array(packed.delays), _array(packed.success)
    return Observation(
        run.part.name, run.axes, run.seed, packed.flows, packed.load, packed.values, delays, success, late, members
    )


def _array(values: Sequence[float]) -> np.ndarray[Any, Any]:
    return np.array(values)  # of whole numbers where all are
