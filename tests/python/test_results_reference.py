"""The register of metrics has exactly the names that runs have."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl
import pytest

from conftest import SMALL
from earlybird import Result, run
from earlybird.compare import Comparison, compare_media
from earlybird.metrics import DescribedTable, Entry, Section, sections, studies, tables, view
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from collections.abc import Iterable

REPOSITORY: Final = Path(__file__).parents[2]
CLIP: Final = REPOSITORY / "media" / "test-clip.mp4"
TYPES: Final = {"float": pl.Float64(), "integer": pl.Int64(), "string": pl.String(), "boolean": pl.Boolean()}
SUMMARY_TYPES: Final = {"float": float, "integer": int, "string": str}
STARTUP_DELAYS: Final = [f"{seconds}s" for seconds in (1, 2, 3, 5, 8, 10, 15, 20)]
REAL_TIME_TABLES: Final = {"added_delay"}

MEASURED: Final = """
[measure]
warm-up = "0s"
duplicates = true
queue-positions = true
percentiles = true
deliveries = true
transmissions = true
series = "50ms"
"""

VARIED: Final = """
duration = "12s"

[endpoint]
profile = "rfc"

[network.dumbbell]
access = { rate = "100Mb/s", delay = "5ms", loss = [{ bernoulli = { probability = 0.02 } }] }
bottleneck = { rate = "6Mb/s", delay = "15ms", queue = { dualpi2 = {} } }
"""
"""Each kind of sender, application and viewer, over a queue that marks and links that lose."""


def group(name: str, transport: str, application: str, more: str = "") -> str:
    """Write a group of one flow."""
    return (
        f'\n[[flows]]\nname = "{name}"\nfrom = "left"\nto = "right"\ntransport = "{transport}"\n'
        f"application = {application}\n{more}\n"
    )


VARIED_FLOWS: Final = [
    group("stream", "cubic", '{ ingest = { rate = "4Mb/s" } }'),
    group("call", "sack-er", '{ cbr = { rate = "64kb/s", packet = 160 } }', "client = { deadline = {} }"),
    group("film", "cubic", '{ cbr = { rate = "2Mb/s", packet = 1000 } }', "client = { rebuffer = {} }"),
    *(group(name, name, "{ bulk = {} }") for name in ("pert-er", "prague", "bbr-rack", "tfrc")),
    group("web", "sack", "{ webtraf = { sessions = 2 } }"),
    group("series", "cubic", '{ segments = { ladder = ["200kb/s", "400kb/s"], segment = "2s", rule = "hls.js" } }'),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, ...]:
    """Runs that have together all that can be measured in the simulator."""
    bursts = [{"periodic": {"period": 200, "burst": 3}}]
    measured = {"measure.start-up-delays": STARTUP_DELAYS, "measure.bursts": {"count": 3}}
    overrides = {"duration": "25s", **measured, "network.dumbbell.bottleneck.loss": bursts}
    varied = VARIED + MEASURED + "".join(VARIED_FLOWS)
    return run(SMALL + MEASURED, overrides=overrides), run(varied, overrides={"measure.harm-by": "web"})


def named(entries: Iterable[str]) -> list[str]:
    """Sort names, so that a difference is shown as one."""
    return sorted(entries)


def everything() -> list[tuple[str, Entry]]:
    """List all names that are described, with what is said of them."""
    parts: list[Section | DescribedTable] = [*sections().values(), *tables().values()]
    return [item for part in parts for item in part.entries.items()]


def lines(path: Path) -> list[dict[str, str]]:
    """Read a CSV file."""
    with path.open(encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_every_table_has_the_columns_of_the_reference_and_no_others(results: tuple[Result, ...]) -> None:
    assert named({name for result in results for name in result.tables} | REAL_TIME_TABLES) == named(tables())
    for result in results:
        for name in result.tables:
            described = tables()[name].entries
            assert {**result.table(name).schema} == {column: TYPES[one.type] for column, one in described.items()}, name


def test_the_columns_of_a_table_stand_in_the_order_of_the_reference(results: tuple[Result, ...]) -> None:
    for name in results[0].tables:
        assert results[0].table(name).columns == [*tables()[name].entries], name


def test_the_summaries_have_the_measures_of_the_reference_and_no_others(results: tuple[Result, ...]) -> None:
    described = sections()["summary"].entries
    assert named({key for result in results for key in result.summary}) == named(described)
    for result in results:
        kinds = {key: SUMMARY_TYPES[described[key].type] for key in result.summary}
        assert {key: type(value) for key, value in result.summary.items()} == kinds


def test_series_have_the_quantities_of_the_reference_and_no_others(results: tuple[Result, ...]) -> None:
    measured = {quantity for result in results for quantity in result.series["quantity"]}
    assert named(measured) == named(sections()["quantities"].entries)


def test_traces_have_the_columns_and_events_of_the_reference_and_no_others(tmp_path: Path) -> None:
    run(SMALL, overrides={"pairs": 4}, outputs=Outputs(trace=tmp_path / "trace", link_trace=tmp_path / "link"))
    trace, link = (lines(tmp_path / name) for name in ("trace", "link"))
    assert [*trace[0]] == [*sections()["trace"].entries]
    assert named({line["event"] for line in trace}) == named(sections()["events"].entries)
    assert [*link[0]] == [*sections()["link_trace"].entries]
    assert all(f"`{line['event']}`" in sections()["link_trace"].entries["event"].definition for line in link)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """One film with one sender, from two seeds."""
    out = tmp_path_factory.mktemp("results")
    return compare_media(CLIP, transports=["sack-er"], duration="20s", seeds=2, jobs=1, output=out)


def test_comparisons_have_the_columns_of_the_reference_and_no_others(comparison: Comparison) -> None:
    for name, table in (("flows", comparison.flows), ("curve", comparison.curve)):
        described = sections()[f"comparison_{name}"].entries
        assert {**table.schema} == {column: TYPES[one.type] for column, one in described.items()}, name


def test_transports_of_a_comparison_have_the_measures_of_the_reference_and_no_others(comparison: Comparison) -> None:
    described = sections()["comparison_transports"].entries
    for values in (comparison.transports["sack-er"], comparison.by_seed["sack-er"][2]):
        assert {key: type(value) for key, value in values.items()} == {
            key: SUMMARY_TYPES[one.type] for key, one in described.items()
        }


def test_the_page_has_every_measure_of_studies() -> None:
    page = (REPOSITORY / "docs" / "results-reference.md").read_text(encoding="utf-8").partition("## Metrics of studies")
    assert [name for name in studies() if f"| `{name}` |" not in page[2]] == []


def test_every_metric_of_studies_has_a_definition_and_a_column_that_flows_have() -> None:
    assert [name for name, one in studies().items() if not one.definition.endswith(".")] == []
    assert {one.column for one in studies().values() if one.reduce} <= tables()["flows"].entries.keys()


@pytest.mark.parametrize("name", ["viewer", "network", "media", "flows", "limits"])
def test_views_show_entries_that_have_titles(name: str) -> None:
    assert all(entry.title for entry in view(name).values())


@pytest.mark.parametrize("name", ["viewer_sweep", "network_sweep", "media_sweep"])
def test_views_of_sweeps_have_headings(name: str) -> None:
    assert all(entry.heading for entry in view(name).values())


def test_every_entry_states_what_it_means_in_a_sentence() -> None:
    assert all(one.definition.endswith(".") and one.type in {*TYPES, "word"} for _, one in everything())


def test_names_and_units_agree() -> None:
    units = {"s": "s", "ms": "ms", "us": "µs", "bps": "bit/s", "mbps": "Mb/s"}
    ends = {name: (units.get(name.rpartition("_")[2]), one.unit) for name, one in everything() if "_" in name}
    del ends["bandwidth_segments_per_s"]
    assert {name: unit for name, (end, unit) in ends.items() if end and end != unit} == {}
