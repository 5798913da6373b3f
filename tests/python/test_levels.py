"""The levels of statements: those that depend on the set-up are claims, and the page of them names nothing else."""

from __future__ import annotations

import re

from earlybird.paths import shipped_file
from earlybird.study.language.library import find_study

ROW = re.compile(r"^\| (\S+) \| `(\S+)` \| \S.* \|$", re.MULTILINE)
PAGE = shipped_file("studies").parent / "docs" / "levels.md"


def test_what_depends_on_the_set_up_is_a_claim() -> None:
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert rows
    for study, name in rows:
        (check,) = (check for item in find_study(study).items for check in item.checks if check.id == name)
        assert check.level == "claim", f"{study}: {name}"
