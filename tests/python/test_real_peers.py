"""The page of what real peers do names tests; each of them exists."""

import re

import pytest

from conftest import REPOSITORY

PAGE = REPOSITORY / "docs" / "real-peers.md"
TCP = REPOSITORY / "crates" / "tcp"
FOLDERS = {
    "": TCP / "tests" / "conversations",
    "wire/": REPOSITORY / "crates" / "wire" / "tests" / "packets",
    "properties/": TCP / "tests" / "properties",
    "smoltcp/": TCP / "tests" / "interop",
    "kernel/": REPOSITORY / "crates" / "live" / "tests" / "kernel",
    "policy/": TCP / "src" / "policy",
    "config/": TCP / "src" / "config",
}
NAMED = re.findall(r"`([a-z]+/)?([a-z_0-9]+\.rs)::([a-z_0-9]+)`", PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("folder", "file", "name"), NAMED)
def test_a_test_that_the_page_names_exists(folder: str, file: str, name: str) -> None:
    source = (FOLDERS[folder] / file).read_text(encoding="utf-8")
    assert re.search(rf"fn {name}\(", source), f"{file} has no test {name}"


def test_every_row_of_the_page_names_a_test() -> None:
    tables, _ = PAGE.read_text(encoding="utf-8").split("## Against other implementations")
    rows = [line for line in tables.splitlines() if line.startswith("| ")]
    symptoms = [row for row in rows if not row.startswith(("| symptom |", "| peer |"))]
    assert len(symptoms) > 40
    assert [row for row in symptoms if ".rs::" not in row] == []
