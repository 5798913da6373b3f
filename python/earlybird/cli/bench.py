"""`earlybird bench`: how fast the simulator is."""

from earlybird.cli.arguments import Json, examples

NAME = "bench"
EXAMPLES = examples("earlybird bench", "earlybird bench --json")


def command(*, json: Json = False) -> None:
    """Measure bottleneck packets per second of processor time, and of ns-2 beside it where `ns` is installed."""
    from earlybird.benchmark import measure_all
    from earlybird.cli.display import show_bench, show_json

    rows = measure_all()
    if json:
        show_json(rows)
    else:
        show_bench(rows)
