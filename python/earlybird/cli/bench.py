"""`earlybird bench`: how fast the simulator is."""

from earlybird.cli.arguments import Json, examples
from earlybird.cli.plain import show_json

NAME = "bench"
EXAMPLES = examples("earlybird bench", "earlybird bench --json")


def command(*, json: Json = False) -> None:
    """
    Measure bottleneck packets per second of processor time, and of ns-2 beside it where `ns` is installed.

    Then from a few runs of each kind, how long the studies take here: all at medium, early retransmission at full.
    """
    from earlybird.benchmark import measure_all, measure_studies, number_of_runs
    from earlybird.cli.display import show_bench
    from earlybird.progress import progress_bar

    with progress_bar(number_of_runs(), what="measuring") as advance:
        rows = measure_all(done=advance)
    rows += measure_studies(progress=True)
    if json:
        show_json(rows)
    else:
        show_bench(rows)
