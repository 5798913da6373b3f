"""Small studies, one of runs and one of numbers instead of runs, shared by the tests of studies and reports."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from conftest import SMALL
from earlybird.study.language.definition import Axis, Delay, Group, Headline, MainTable, Part, Scale, Study
from earlybird.study.reductions.observations import Observation
from earlybird.study.statements.quantities import Measurements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from earlybird.study.language.items import Item, Number
    from earlybird.study.language.points import Scalar

DELAYS = np.array([1.0, 2.0, 3.0])

STUDY = """
title = "A small study"
question = "Does a small study work?"
papers = "None."

[axes.transport]
key = "transport"
title = "Transport"
[axes.n]
key = "pairs"
[axes.restart]
key = "flows.video.endpoint.rto.restart-on-duplicate"
default = false

[parts.main]
scenario = "small.toml"
flows = "video"
reference-duration = 10.0

[scales.smoke]
seeds = 2
duration = "5s"

[[grids]]
part = "main"
scales = ["smoke"]
n = [1, 2]
transport = ["sack", "sack-er"]

[main]
item = "S-1"
table = "numbers"
rows = "n"
columns = "transport"
metrics = ["frozen_s"]

[headline]
text = "SACK freezes for {sack}."
values = { sack = { metric = "frozen_s", transport = "sack" } }
"""

ITEMS = """
[[items]]
id = "S-1"
title = "Frozen time"
metric = "frozen_s"
[items.plots]
frozen = { title = "Frozen time", x = { n = [1, 2] }, lines = { transport = ["sack", "sack-er"] } }
[items.checks.nothing-negative]
must = "Nothing is negative & all is escaped"
least = 0.0
at = { transport = "sack" }
[items.checks.as-printed]
report = "Numbers"
table = "numbers"
"""

NUMBERS = "metric,n,transport,over.transport,value,note\nfrozen_s,2,sack,,1.5,\nfrozen_s,2,sack-er,sack,0.5,a ratio\n"


def small_study(folder: Path) -> Path:
    """Write a study of eight runs of a moment each."""
    (folder / "expected").mkdir(parents=True)
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "items.toml").write_text(ITEMS, encoding="utf-8")
    (folder / "expected" / "numbers.csv").write_text(NUMBERS, encoding="utf-8")
    return folder


def study(items: Sequence[Item] = (), numbers: Sequence[Number] = ()) -> Study:
    """Return a study with two transports, two buffers and two bands."""
    return Study(
        name="toy",
        folder=Path(),
        title="A toy",
        question="Which?",
        papers="None.",
        axes={
            "n": Axis("n", "pairs", label="N = {}"),
            "buffer": Axis("buffer", "buffer", label="{} packets", title="Buffer (packets)"),
            "transport": Axis("transport", "transport", names={"sack": "SACK", "sack-er": "SACK-ER"}),
            "restart": Axis("restart", "restart", default=False, names={"true": "restarted", "false": "standard"}),
        },
        parts={
            "main": Part("main", Path("toy.toml"), "video", partners="file"),
            "one": Part("one", Path(), "video", deterministic=True),
        },
        scales={"smoke": Scale("smoke", 1, "20s")},
        grids=(),
        groups={
            "low": Group("low", "low", (1.2, 1.6)),
            "high": Group("high", "high", (1.6, 2.0)),
            "lossy": Group("lossy", "lossy", drop=(0.02, 0.04)),
        },
        delays={"half": Delay("half", 0.5, {"transport": "sack", "buffer": 80, "group": "low"})},
        items=tuple(items),
        numbers={"table": tuple(numbers)},
        main=MainTable("T-1", "table", "buffer", "transport", ("frozen_s",)),
        headline=Headline(
            "SACK freezes for {sack}.", {"sack": {"metric": "frozen_s", "transport": "sack", "buffer": 80}}
        ),
    )


def run(
    seed: int,
    frozen: float,
    *,
    load: float = 1.4,
    drop: float = 0.0,
    success: Sequence[float] = (0.2, 0.6, 1.0),
    late: Sequence[float] = (0.1, 0.0, 0.0),
    **axes: Scalar,
) -> Observation:
    """Return a run of as many flows as its `n`, with a frozen time of so many seconds."""
    given: dict[str, Scalar] = {"n": 10, "buffer": 80, "transport": "sack", "restart": False, **axes}
    part = str(given.pop("part", "main"))
    values = {"frozen_s": frozen, "rto_count": frozen / 0.25, "on_time_share_largest_fall": 0.0, "flow_drop_rate": drop}
    lateness = {"late_share": np.array(late)}
    return Observation(part, given, seed, int(given["n"]), load, values, DELAYS, np.array(success), lateness)


def measured(*runs: Observation, numbers: Sequence[Number] = ()) -> Measurements:
    """Return the measurements of a study with these runs."""
    return Measurements(study(numbers=numbers), runs)


def compared(left: Sequence[float], right: Sequence[float]) -> Measurements:
    """Return runs of SACK-ER and SACK with these frozen times, one per seed."""
    return measured(
        *(run(seed, value, transport="sack-er") for seed, value in enumerate(left)),
        *(run(seed, value, transport="sack") for seed, value in enumerate(right)),
    )
