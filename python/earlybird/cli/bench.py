"""`earlybird bench`: how fast the simulator is."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import echo_status, show_json
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import benchmark, progress
    from earlybird.cli import display
else:
    benchmark = LateModule("earlybird.benchmark")
    display = LateModule("earlybird.cli.display")
    progress = LateModule("earlybird.progress")

NAME = "bench"
EXAMPLES = examples("earlybird bench", "earlybird bench --full --json")


def command(
    *,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Measure all transports and 10 to 10,000 flows, the best of three runs each, ns-2 where `ns` is "
            "installed, and what studies take.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """
    Measure bottleneck packets per second of processor time: some transports, in less than a minute.

    With --full every transport, 10 to 10,000 flows, ns-2 where `ns` is installed, and roughly how long the studies take
    here: all at medium, early retransmission at full. If interrupted, it prints its results so far.
    """
    plan = benchmark.FULL if full else benchmark.SHORT
    echo_status(
        f"This takes about {benchmark.duration_text(plan)}." + ("" if full else " With --full everything is measured.")
    )
    rows: list[dict[str, Any]] = []
    try:
        with progress.progress_bar(benchmark.number_of_runs(plan), what="measuring") as advance:
            for row in benchmark.measure_all(plan, done=advance):
                rows.append(row)  # noqa: PERF402, what is there by an interruption is kept
    finally:
        if rows:
            (show_json if json else display.show_bench)(rows)
