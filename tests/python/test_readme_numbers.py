"""The README's numbers are those of the published results."""

from pathlib import Path

import polars as pl
import pytest

REPOSITORY = Path(__file__).parents[2]
RESULTS = REPOSITORY / "docs" / "results" / "modern-readings"
README = " ".join((REPOSITORY / "README.md").read_text(encoding="utf-8").split())


def shares(sender: str, reference: str) -> list[float]:
    """Give what a sender leaves of another's frozen time, queue by queue."""
    table = pl.read_csv(RESULTS / "still-worth-it.csv")
    values = {name: table.filter(line=name)["value"] for name in (sender, reference)}
    return (values[sender] / values[reference]).to_list()


@pytest.mark.parametrize(
    ("sender", "reference", "text"),
    [
        ("cubic-rack", "cubic", "leaves {low:.2f} to {high:.2f} of the time"),
        ("ns2-sack-er", "ns2-sack", "leaves {low:.2f} to {high:.2f} of the frozen time of the papers' sender"),
        ("cubic-er", "cubic", "of CUBIC's {low:.2f} (shortest queue) to {high:.2f} (longest"),
    ],
)
def test_the_shares_of_frozen_time_are_those_of_the_results(sender: str, reference: str, text: str) -> None:
    found = shares(sender, reference)
    assert text.format(low=min(found), high=max(found)) in README


def test_the_queues_named_are_the_extremes() -> None:
    found = shares("cubic-er", "cubic")
    assert found.index(min(found)) == 0
    assert found.index(max(found)) == 2


@pytest.mark.parametrize(
    ("sender", "text"),
    [("CUBIC", "{low:.1f} to {high:.1f} s over CUBIC"), ("BBR", "of {low:.1f} to {high:.1f} s over BBR")],
)
def test_the_head_starts_are_those_of_the_results(sender: str, text: str) -> None:
    found = pl.read_csv(RESULTS / "delay-today.csv").filter(x=f"{sender}-RACK")["value"].to_list()
    assert text.format(low=min(found), high=max(found)) in README
