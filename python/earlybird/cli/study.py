"""`earlybird study`: the experiments of the papers, repeated and compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.archive import check_command, export_command
from earlybird.cli.arguments import Dask, Jobs, Json, Output, Parallel, ShardOption, examples
from earlybird.cli.error_boundary import guarded
from earlybird.cli.output import echo, rest_text, show_json, show_outcome
from earlybird.cli.study_arguments import DEFAULT_SCALE, Item, Names, Results, Scale, complete_name
from earlybird.paths import PUBLISHED, REPORTS, RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from earlybird.report.overview import Row
    from earlybird.study import RunCount, StudyInfo, StudyOutcome


Reports = Annotated[Path, typer.Option(metavar="DIR", help="Where the report goes.")]


def list_command(
    *,
    done: Annotated[
        bool, typer.Option("--done", help="Count how many runs are done too, which takes half a minute.")
    ] = False,
    results: Results = RESULTS,
    json: Json = False,
) -> None:
    """List the studies: the figures and tables that each is about, and its runs at each scale."""
    from earlybird.study import list_studies, progress_of

    studies = list_studies()
    counts = {study.name: progress_of(study.name, output=results) for study in studies} if done else {}
    if json:
        show_json([_listed(study, counts.get(study.name, {})) for study in studies])
        return
    from earlybird.cli.display import show_studies

    show_studies(studies, counts)


def _listed(study: StudyInfo, counts: Mapping[str, RunCount]) -> dict[str, Any]:
    made = {scale: {"done": count.done} for scale, count in counts.items()}
    runs = {scale: {"runs": runs, **made.get(scale, {})} for scale, runs in study.runs.items()}
    scales, items = list(study.scales), list(study.items)
    return {"name": study.name, "title": study.title, "scales": scales, "items": items, "runs": runs}


def run_command(
    names: Names,
    *,
    scale: Scale = DEFAULT_SCALE,
    item: Item = None,
    jobs: Jobs = None,
    parallel: Parallel = 1,
    output: Output = RESULTS,
    shard: ShardOption = None,
    dask: Dask = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only estimate the duration of the missing runs.")] = False,
    json: Json = False,
) -> None:
    """Execute the runs of studies. After an interruption the same command resumes."""
    from earlybird.study import run_studies

    if dry_run:
        _show_cost(names, scale, item, jobs, output, json=json)
        return
    outcome = run_studies(
        names, scale, jobs=jobs, parallel=parallel, output=output, progress=True, shard=shard, dask=dask, item=item
    )
    counts = f"{outcome.runs} runs, {outcome.made} of them made now. Results kept in {output}"
    only = f' --item "{item}"' if item else ""
    following = f"Next: earlybird study report {' '.join(names)} --scale {scale}{only}"
    rest = rest_text(outcome.awaited, output) if outcome.awaited else following
    show_outcome(outcome_document(outcome), counts, rest, json=json)


def outcome_document(outcome: StudyOutcome) -> dict[str, Any]:
    """Return what ``--json`` prints of runs that were made."""
    studies = [study.name for study in outcome.studies]
    counts = {"runs": outcome.runs, "made": outcome.made, "awaited": outcome.awaited}
    return {"studies": studies, "scale": outcome.scale, "output": str(outcome.store), **counts}


def _show_cost(names: list[str], scale: str, item: str | None, jobs: int | None, output: Path, *, json: bool) -> None:
    from earlybird.cli.display import show_costs
    from earlybird.store import Store
    from earlybird.study.language.library import choose_studies
    from earlybird.study.runs.cost import estimate, together

    costs = estimate(choose_studies(names, scale, item), scale, made=Store(output), jobs=jobs)
    rows = [cost.row() for cost in (*costs, together("together", costs))]
    if json:
        show_json(rows)
    else:
        show_costs(rows, "told roughly from their packets")


def report_command(
    names: Names,
    *,
    scale: Scale = DEFAULT_SCALE,
    item: Item = None,
    results: Results = RESULTS,
    output: Reports = REPORTS,
    json: Json = False,
) -> None:
    """
    Compare the results of studies with the papers: a table here, and a page with plots for each.

    `all` makes one site of every study, whose start page has the verdict on every figure and table of the papers.
    """
    from earlybird.cli.display import show
    from earlybird.report.terminal import item_summary, terminal_summary
    from earlybird.report.writer import report_document, report_name, write_report
    from earlybird.store import Store
    from earlybird.study import report_all
    from earlybird.study.evaluation import evaluate
    from earlybird.study.language.library import ALL, choose_studies

    if ALL in names and item is None:
        _show_site(*report_all(scale, output=results, report=output), scale, "Report", json=json)
        return
    documents = []
    for study in choose_studies(names, scale, item):
        evaluation = evaluate(study, scale, Store(results))
        page = write_report(evaluation, output / report_name(evaluation))
        if json:
            documents.append(report_document(evaluation, page))
            continue
        show(item_summary(evaluation) if item else terminal_summary(evaluation))
        echo(f"Report: {page}")
    if json:
        show_json(documents)


def _show_site(page: Path, rows: list[Row], scale: str, what: str, *, json: bool) -> None:
    from earlybird.cli.display import show
    from earlybird.report.site import verdict_table
    from earlybird.report.terminal import site_summary

    if not json:
        show(site_summary(rows, scale))
    verdicts = verdict_table(rows).to_dicts()
    show_outcome({"page": str(page), "scale": scale, "verdicts": verdicts}, f"{what}: {page}", json=json)


def publish_command(
    *,
    scale: Scale = "medium",
    results: Results = RESULTS,
    output: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder to write; older results there are replaced.")
    ] = PUBLISHED,
    json: Json = False,
) -> None:
    """
    Write the results of all studies as Markdown and pictures, to be kept beside the code.

    The same results give the same bytes. `report all` makes a site of them, with interactive plots and every cell.
    """
    from earlybird.study import publish_all

    _show_site(*publish_all(scale, output=results, to=output), scale, "Published", json=json)


def search_command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A study that has a search.toml, or all of them.",
            autocompletion=complete_name,
            show_default=False,
        ),
    ],
    *,
    trials: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Settings to try.", show_default="as search.toml says")
    ] = None,
    jobs: Jobs = None,
    output: Output = RESULTS,
    json: Json = False,
) -> None:
    """
    Search for a setting under which all statements of a paper hold.

    An optimiser tries what the paper leaves open; its objective is the distance to the paper's numbers. After an
    interruption the same command resumes. `earlybird study report all` shows the outcome.
    """
    from earlybird.cli.display import show
    from earlybird.report.search_terminal import search_document, search_summary
    from earlybird.study.search.searching import search_studies

    documents = []
    for found in search_studies(name, trials, jobs=jobs, output=output, progress=True):
        if json:
            documents.append(search_document(found))
            continue
        show(search_summary(found))
        echo(f"{found.sentence}\nTables: {output / 'searches' / found.about['study']}\n")
    if json:
        show_json(documents)


EXAMPLES = {
    "list": ["list"],
    "run": [
        "run early-retransmission --scale medium --jobs 2",
        "run early-retransmission --item T-F7",
        "run all --scale smoke",
        "run all --scale medium --dry-run",
        "run all --scale full --shard 2/4",
    ],
    "report": [
        "report early-retransmission --scale medium",
        "report early-retransmission --item T-F7",
        "report all --scale smoke",
    ],
    "publish": ["publish", "publish --scale smoke --output /tmp/results"],
    "search": ["search burst-loss --trials 60", "search all --jobs 2"],
    "export": ["export cross-checks --scale smoke", "export burst-loss cross-checks --scale medium -o cited.zip"],
    "check": [
        "check cross-checks-smoke.zip",
        "check cited.zip --share 10% --jobs 2",
        "check cited.zip --sample 0 --json",
    ],
}
COMMANDS: dict[str, Callable[..., None]] = {
    "list": list_command,
    "run": run_command,
    "report": report_command,
    "publish": publish_command,
    "search": search_command,
    "export": export_command,
    "check": check_command,
}

application = typer.Typer(
    name="study",
    help="Repeat the papers' experiments: list, run, report, publish, search, export, check.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for name, command in COMMANDS.items():
    application.command(name, epilog=examples(*(f"earlybird study {line}" for line in EXAMPLES[name])))(
        guarded(command)
    )
