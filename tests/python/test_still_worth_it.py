"""The numbers of docs/still-worth-it.md are those of the published results."""

from pathlib import Path

import polars as pl
import pytest

REPOSITORY = Path(__file__).parents[2]
RESULTS = REPOSITORY / "docs" / "results" / "modern-readings"
PAGE = " ".join((REPOSITORY / "docs" / "still-worth-it.md").read_text(encoding="utf-8").split())


def shares(sender: str, reference: str) -> list[float]:
    """Return a sender's frozen time as a share of another's, per queue."""
    table = pl.read_csv(RESULTS / "still-worth-it.csv")
    values = {name: table.filter(line=name)["value"] for name in (sender, reference)}
    return (values[sender] / values[reference]).to_list()


@pytest.mark.parametrize(
    ("sender", "reference", "text"),
    [
        ("cubic-rack", "cubic", "of a video over CUBIC to {low:.0f}–{high:.0f} %"),
        ("ns2-sack-er", "ns2-sack", "of the papers' sender to {low:.0f}–{high:.0f} %"),
        ("cubic-er", "cubic", "that of CUBIC to {low:.0f} % (shortest queue) to {high:.0f} % (longest queue"),
    ],
)
def test_the_shares_of_frozen_time_are_those_of_the_results(sender: str, reference: str, text: str) -> None:
    found = [100 * share for share in shares(sender, reference)]
    assert text.format(low=min(found), high=max(found)) in PAGE


def test_the_queues_named_are_the_extremes() -> None:
    found = shares("cubic-er", "cubic")
    assert found.index(min(found)) == 0
    assert found.index(max(found)) == 2


@pytest.mark.parametrize(
    ("sender", "text"),
    [("CUBIC", "of {low:.1f} to {high:.1f} s over CUBIC"), ("BBR", "of {low:.1f} to {high:.1f} s over BBR")],
)
def test_the_startup_delays_are_those_of_the_results(sender: str, text: str) -> None:
    found = pl.read_csv(RESULTS / "delay-today.csv").filter(x=f"{sender}-RACK")["value"].to_list()
    assert text.format(low=min(found), high=max(found)) in PAGE
