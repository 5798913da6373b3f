"""Write docs/results-reference.md, every measure and column of a result, from what the package says of them."""

import sys
from collections.abc import Iterator, Mapping

from earlybird.dictionary import DescribedTable, Entry, Section, sections, tables
from earlybird.study.language.metrics import METRICS
from generated import REPOSITORY, row, write_or_check

TARGET = REPOSITORY / "docs" / "results-reference.md"

HEAD = """\
# Results reference

Written by `make docs` from `python/earlybird/dictionary.toml`, which tests compare with what runs give. A run gives a
summary and tables: `earlybird run FILE --out results` keeps them as `summary.json` and a Parquet file per table, and
`earlybird.run` returns them as `Result.summary` and `Result.table(NAME)`, a polars data frame.

Names carry their unit (`_s` seconds, `_ms` milliseconds, `_us` microseconds, `_bps` bits per second). A *share* is from
0 to 1. *Real* columns are 64-bit floating-point numbers, *whole* ones 64-bit integers, *flags* booleans. Where a number
does not exist, a column says NaN, and `summary.json` says null. Media are the applications `cbr`, `media` and `ingest`.
"""


MEASURES = """\
## Measures of studies

What the files of a study call `measure`: real numbers, with the unit in which pages and plots print them. Most are
means over flows, and then over seeds.

"""


def main() -> int:
    """Write the page, or with ``--check`` compare it; return the exit code."""
    return write_or_check(TARGET, "\n".join(page()), "make docs")


def page() -> Iterator[str]:
    """Yield the sections: the summary, the tables, and what stands in files beside them."""
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
    yield MEASURES + measures()


def section(one: Section) -> str:
    """Describe names that stand together."""
    return f"## {one.title}\n\n{one.about}\n\n{listing(one.entries)}"


def described(name: str, table: DescribedTable) -> str:
    """Describe a table."""
    when = f", if {table.when}" if table.when else ""
    return f"## Table `{name}`\n\nOne row {table.rows}{when}.\n\n{listing(table.entries)}"


def listing(entries: Mapping[str, Entry]) -> str:
    """Write a row per name."""
    head = "| name | kind | unit | meaning |\n|---|---|---|---|"
    return (
        "\n".join([head, *(row(f"`{name}`", one.kind, one.unit, one.meaning) for name, one in entries.items())]) + "\n"
    )


def measures() -> str:
    """Write a row per measure of studies."""
    rows = (row(f"`{name}`", one.unit, f"{one.label[0].upper()}{one.label[1:]}.") for name, one in METRICS.items())
    return "\n".join(["| name | unit | meaning |\n|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
