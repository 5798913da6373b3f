"""`earlybird study`: the experiments of the papers, repeated and compared."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import Jobs, Json, examples
from earlybird.cli.plain import say, show_json
from earlybird.cli.rim import guarded
from earlybird.paths import REPORTS, RESULTS

Name = Annotated[str, typer.Argument(metavar="NAME", help="The study, as `earlybird study list` names it.")]
Scale = Annotated[str, typer.Option(metavar="SCALE", help="How long and how often: smoke, medium or full.")]
Results = Annotated[Path, typer.Option("--out", metavar="DIR", help="Results folder; runs there are not repeated.")]
Reports = Annotated[Path, typer.Option("--report", metavar="DIR", help="Where the report goes.")]

DEFAULT_SCALE = "smoke"


def list_command(*, json: Json = False) -> None:
    """List the studies."""
    from earlybird.study import list_studies

    studies = list_studies()
    if json:
        show_json([{"name": study.name, "title": study.title, "scales": list(study.scales)} for study in studies])
        return
    from earlybird.cli.display import show_studies

    show_studies(studies)


def run_command(name: Name, *, scale: Scale = DEFAULT_SCALE, jobs: Jobs = None, out: Results = RESULTS) -> None:
    """Make a study's runs. After an interruption the same command goes on where it stopped."""
    from earlybird.study import run_study

    outcome = run_study(name, scale=scale, jobs=jobs, out=out, progress=True)
    say(f"{outcome.runs} runs, {outcome.made} of them made now. Results kept in {out}")
    say(f"Next: earlybird study report {name} --scale {scale}")


def report_command(
    name: Name, *, scale: Scale = DEFAULT_SCALE, out: Results = RESULTS, report: Reports = REPORTS
) -> None:
    """Compare a study's results with the paper: a table here, and a page with plots."""
    from earlybird.cli.display import show
    from earlybird.report.terminal import terminal_summary
    from earlybird.report.writer import write_report
    from earlybird.study import evaluate_study

    evaluation = evaluate_study(name, scale, out=out)
    show(terminal_summary(evaluation))
    say(f"Report: {write_report(evaluation, report / f'{name}-{scale}')}")


application = typer.Typer(name="study", help="Repeat the papers' experiments: list, run, report.", no_args_is_help=True)
application.command("list", epilog=examples("earlybird study list"))(guarded(list_command))
application.command("run", epilog=examples("earlybird study run early-retransmission --scale medium --jobs 2"))(
    guarded(run_command)
)
application.command("report", epilog=examples("earlybird study report early-retransmission --scale medium"))(
    guarded(report_command)
)
