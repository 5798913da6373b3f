"""Results of a run: a summary and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from earlybird.errors import InputError
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    from earlybird import files, notebook, pandas_tables, text_view
    from earlybird.notebook import Picture
    from earlybird.plots import run
    from earlybird.plots.run import Flows
else:
    files = LateModule("earlybird.files")
    notebook = LateModule("earlybird.notebook")
    pandas_tables = LateModule("earlybird.pandas_tables")
    run = LateModule("earlybird.plots.run")
    text_view = LateModule("earlybird.text_view")
    pl = LateModule("polars")

MEASURE_FLAGS = {
    "series": 'measure.series = "100ms"',
    "duplicates": "measure.duplicates = true",
    "queue_positions": "measure.queue-positions = true",
    "deliveries": "measure.deliveries = true",
    "bursts": "measure.bursts = { count = 10 }",
    "transmissions": "measure.transmissions = true",
}
"""Tables that a scenario has to ask for, and how."""


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a table, arrays of numpy and lists of text; called, it makes a data frame of them."""

    columns: Mapping[str, Any]

    def __call__(self) -> pl.DataFrame:
        """Return the data frame."""
        return pl.DataFrame(self.columns)


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """
    The result of a run; tables are polars data frames that are created on first use.

    Two results are equal if scenario, seed, summary and all tables are; what a clock measured does not count. Columns
    carry their unit in their name (``_s`` seconds, ``_ms`` milliseconds, ``_bps`` bits per second).

    Attributes
    ----------
    scenario
        The complete scenario, with the keys of the TOML form.
    seed
        The seed of the run's random numbers.
    summary
        One number (or name) per measure; ``cpu_s`` only in the process that made the run.
    sources
        How to get each table.
    """

    scenario: dict[str, Any]
    seed: int
    summary: dict[str, Any]
    sources: Mapping[str, Callable[[], pl.DataFrame]]
    _tables: dict[str, pl.DataFrame] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        """Compare scenarios and results."""
        if not isinstance(other, Result):
            return NotImplemented
        is_alike = files.comparable(self) == files.comparable(other) and set(self.tables) == set(other.tables)
        return is_alike and all(self.table(name).equals(other.table(name)) for name in self.tables)

    __hash__ = None  # type: ignore[assignment]

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables."""
        return tuple(self.sources)

    def table(self, name: str) -> pl.DataFrame:
        """Return a table by name; raises `InputError` if the run did not measure it."""
        self.require(name)
        if name not in self._tables:
            self._tables[name] = self.sources[name]()
        return self._tables[name]

    def to_pandas(self, name: str = "flows") -> Any:  # noqa: ANN401, as pandas need not be installed
        """Return a table by name as a `pandas.DataFrame`; raises `MissingPackageError` if pandas is not installed."""
        return pandas_tables.to_pandas(self.table(name))

    def require(self, name: str) -> None:
        """Raise InputError if the run did not measure a table of that name."""
        if name not in self.sources:
            raise InputError(f"this run has no table {name!r}: {self._why_missing(name)}.")

    def _why_missing(self, name: str) -> str:
        if name in MEASURE_FLAGS:
            return f"ask for it with {MEASURE_FLAGS[name]} in the scenario"
        return f"it has {', '.join(self.sources)}"

    @property
    def web_sessions(self) -> dict[str, int | None]:
        """Number of web sessions per group of flows; None for other applications."""
        groups = self.scenario["flows"]
        return {group["name"]: _only(group["application"]).get("sessions") for group in groups}

    @property
    def flows(self) -> pl.DataFrame:
        """One row per flow: packets, losses, timeouts, throughput, delays."""
        return self.table("flows")

    @property
    def lateness(self) -> pl.DataFrame:
        """One row per media flow and startup delay: units judged, units late, success."""
        return self.table("lateness")

    @property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: packets, losses, utilisation, queue length."""
        return self.table("links")

    @property
    def link_groups(self) -> pl.DataFrame:
        """One row per link and flow group."""
        return self.table("link_groups")

    @property
    def drops(self) -> pl.DataFrame:
        """One row per link, flow and cause (``queue`` or ``loss``): how many packets the link dropped."""
        return self.table("drops")

    @property
    def timeouts(self) -> pl.DataFrame:
        """One row per expiry of a retransmission timer."""
        return self.table("timeouts")

    @property
    def stalls(self) -> pl.DataFrame:
        """One row per stall of a viewer (with viewers that stall for what is missing)."""
        return self.table("stalls")

    @property
    def series(self) -> pl.DataFrame:
        """Samples over time of windows, timers and queues (with ``measure.series``)."""
        return self.table("series")

    @property
    def duplicates(self) -> pl.DataFrame:
        """Age and threshold at every duplicate ACK of the media flows (with ``measure.duplicates``)."""
        return self.table("duplicates")

    @property
    def queue_positions(self) -> pl.DataFrame:
        """Numbers of waiting packets that packets of each group found (with ``measure.queue-positions``)."""
        return self.table("queue_positions")

    @property
    def deliveries(self) -> pl.DataFrame:
        """Times at which each unit of the media flows was written and delivered (with ``measure.deliveries``)."""
        return self.table("deliveries")

    @property
    def encoder(self) -> pl.DataFrame:
        """Times of dropped frames of live streams (``dropped``: their kind), and the rates of their encoders."""
        return self.table("encoder")

    @property
    def bursts(self) -> pl.DataFrame:
        """Effects of each burst of losses on the media flows (with ``measure.bursts``)."""
        return self.table("bursts")

    @property
    def transmissions(self) -> pl.DataFrame:
        """Times at which lost and retransmitted packets of media flows were sent (with ``measure.transmissions``)."""
        return self.table("transmissions")

    def save(self, folder: str | Path) -> Path:
        """
        Write the result into a folder of its own, all or nothing, and return it.

        An older result there is replaced; a folder with anything else in it is left alone (`StoreError`).
        """
        return files.write_result(self, Path(folder))

    def plot(self, path: str | Path | None = None, *, flows: Flows | None = None) -> Picture:
        """
        Draw the run over time: windows, round-trip times, the bottleneck's queue, arrivals, and the viewers' stalls.

        `flows` are their names, or rows of the table `flows`, such as ``result.flows.sort("rto_count").tail(3)``
        (default: four that last, the first of each group in front; at most ten can be told apart).
        `path` is a file to draw to as well, ending in ``.png``, ``.svg`` or ``.html``. Notebooks show the picture; its
        `lacking` says what is not in it because the run did not measure it.
        """
        return run.picture(self, path, flows)

    def __repr__(self) -> str:
        """Show itself in a shell: the main numbers of the summary."""
        return text_view.result_text(self)

    def _repr_html_(self) -> str:
        """Show itself in a notebook: the main numbers of the summary."""
        return notebook.result_html(self)

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """Read a result back; raises `StoreError` if there is none, or it is damaged."""
        return files.read_result(Path(folder))


def _only(application: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the settings of an application, which stand under its kind."""
    (settings,) = application.values()
    return cast("Mapping[str, Any]", settings)
