"""Write docs/results-reference.md, all names in a result with their definitions, from the register of metrics."""

import sys
from collections.abc import Iterator, Mapping

from earlybird.metrics import DescribedTable, Entry, Section, StudyEntry, sections, studies, studies_section, tables
from generated import REPOSITORY, row, write_or_check

TARGET = REPOSITORY / "docs" / "results-reference.md"

HEAD = """\
# Results reference

Written by `make docs` from `python/earlybird/metrics.toml`, which tests compare with the results of runs. A run has
a summary and tables: `earlybird run FILE --output results` stores them as `summary.json` and a Parquet file per table,
and `earlybird.run` returns them as `Result.summary` and `Result.table(NAME)`, a polars data frame. Of results with at
most 4096 values `sweep` and `study run` store all in one file, `result.json`, with the keys `scenario`, `summary`,
`tables` (by table and column) and `types`. `Result.load(FOLDER)` reads both forms, and its `save` writes Parquet.

Names carry their unit (`_s` seconds, `_ms` milliseconds, `_us` microseconds, `_bps` bits per second). A *share* is from
0 to 1. Floats and integers have 64 bits. A number that does not exist is NaN in a column and null in `summary.json`;
in a column of `result.json` it is null or `"-nan"`, and an infinite one `"inf"` or `"-inf"`.
Media are the applications `cbr`, `media` and `ingest`.

## Measured interval

The rule is the same for flows and links:

* Counts, sums and extremes (packets, bytes, drops, timeouts, frozen time, largest queue), and the measures of viewers
  (units, delays, lateness, stalls), are of the whole run.
* Rates, shares of packets, and means over time are of the *measured interval*: from the end of the warm-up
  (`measure.warm-up`, 100 s or at most a tenth of the run by default) to the end of the run. Quotients such as
  `drop_rate` can therefore differ from the quotient of the counts beside them.
* A flow with a given amount of data (`bulk.bytes`, `cbr.packets`) is measured from its start to its completion,
  with or without a warm-up: `completion_time_s`, `throughput_bps` and `flow_drop_rate` are those of the whole transfer.

A packet belongs to a link from its arrival to the end of its transmission. At any time a link has transmitted, dropped
or still holds each packet that arrived, so that `packets_in` = `packets_out` + `packets_dropped` + `packets_waiting`.
Events at the end of the run or later do not count, except a transmission that ends exactly then.
"""


def main() -> int:
    """Write the page, or with ``--check`` compare it; return the exit code."""
    return write_or_check(TARGET, "\n".join(page()), "make docs")


def page() -> Iterator[str]:
    """Yield the sections: the summary, the tables, and the other files."""
    every = sections()
    yield HEAD
    for key in ("summary", "real_time"):
        yield section(every[key])
    for name, table in tables().items():
        yield described(name, table)
    for key in ("quantities", "trace", "events", "link_trace"):
        yield section(every[key])
    for key in ("comparison_flows", "comparison_curve", "comparison_transports"):
        yield section(every[key])
    yield metrics_of_studies()


def section(one: Section) -> str:
    """Describe a section of names."""
    return f"## {one.title}\n\n{one.about}\n\n{listing(one.entries)}"


def described(name: str, table: DescribedTable) -> str:
    """Describe a table."""
    when = f", if {table.when}" if table.when else ""
    return f"## Table `{name}`\n\nOne row {table.rows}{when}.\n\n{listing(table.entries)}"


def listing(entries: Mapping[str, Entry]) -> str:
    """Write a row per name."""
    head = "| name | type | unit | definition |\n|---|---|---|---|"
    return (
        "\n".join([head, *(row(f"`{name}`", one.type, one.unit, one.definition) for name, one in entries.items())])
        + "\n"
    )


def metrics_of_studies() -> str:
    """Write a row per metric of studies."""
    title, about = studies_section()
    head = f"## {title}\n\n{about}\n\n| name | unit | in print | definition |\n|---|---|---|---|\n"
    return head + "\n".join(study_row(name, entry) for name, entry in studies().items()) + "\n"


def study_row(name: str, entry: StudyEntry) -> str:
    """Write the row of a metric: its unit, its title and unit in print, and its definition."""
    unit = entry.unit if entry.print is None else entry.print
    return row(f"`{name}`", entry.unit, f"{entry.title} ({unit})" if unit else entry.title, entry.definition)


if __name__ == "__main__":
    sys.exit(main())
