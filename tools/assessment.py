"""
Write docs/results/assessment.md: congestion controls by the criteria of RFC 9743, compared with CUBIC.

`python tools/assessment.py` takes about two minutes of one processor; results are kept in `results`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from earlybird.assessment import assess
from earlybird.assessment.register import excluded
from earlybird.assessment.view import arrow, number, reasons_of
from earlybird.paths import RESULTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.assessment import Assessment, Row

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "results" / "assessment.md"
BASELINE: Final = "cubic-rack"
CONTROLS: Final = ("sack-rack", "bbr1-rack", "bbr3-rack", "pert-rack", "pert-er", "sack-er", "copa-rack", "vegas")
SIGNS: Final = {"better": " ✓", "worse": " ✗", "open": " ?", "like": "", "": ""}

HEAD: Final = f"""# Congestion controls by the criteria of RFC 9743

Written by `python tools/assessment.py`. Figures of each congestion control, and whether they are better (✓) or worse
(✗) than those of CUBIC (`{BASELINE}`) beyond chance, like it (no sign), or not decided by three seeds (?); ↓ smaller
and ↑ larger figures are better. [Assess](../assess.md) explains criteria and words. The ending of a name is its loss
recovery: `-rack` RACK-TLP, `-er` early retransmission, none RFC 6675; where it is not that of `{BASELINE}`, a
difference is one of both. Everything is simulated, and this is a comparison.

Reno with RACK-TLP (`sack-rack`) loses up to nine of ten packets in 7.1, nearly all of them retransmissions, where
`cubic-rack` and `sack` do not. The cause is not established. It is probably that a retransmission which is lost is sent
once more within a round trip, without another reduction of the window (RFC 5681, section 4.3).
"""


def page(found: Sequence[Assessment]) -> str:
    """Return the page: a line per criterion, a column per congestion control."""
    names = [one.control for one in found]
    lines = [
        HEAD,
        _line("RFC", "measured", f"`{BASELINE}`", *(f"`{name}`" for name in names)),
    ]
    lines.append("|---|---|" + "--:|" * (len(names) + 1))
    lines += [_criterion([one.rows[place] for one in found]) for place in range(len(found[0].rows))]
    lines += [
        _line("", "better ✓ / worse ✗", "", *(f"{one.counts['better']} / {one.counts['worse']}" for one in found))
    ]
    lines += ["", "Not measured:", ""]
    lines += [f"* {one.section} {one.title}: {one.reason}" for one in excluded()]
    lines += [f"* {text}" for text in dict.fromkeys(text for one in found for text in reasons_of(one))]
    return "\n".join([*lines, "", f"Code version `{found[0].code_version}`.", ""])


def _criterion(rows: Sequence[Row]) -> str:
    one = rows[0].criterion
    unit = f", {one.unit}" if one.unit else ""
    figures = (f"{number(row.figure(row.control).mean)}{SIGNS[row.comparison]}" for row in rows)
    baseline = number(rows[0].figure(BASELINE).mean)
    return _line(one.section, f"{arrow(rows[0])} {one.title}{unit}", baseline, *figures)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    store = Path(sys.argv[1]) if sys.argv[1:] else RESULTS
    every = [assess(name, against=[BASELINE], budget=0.0, output=store, progress=True) for name in CONTROLS]
    PAGE.write_text(page(every), encoding="utf-8")
