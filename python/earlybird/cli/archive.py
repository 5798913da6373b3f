"""`earlybird study export` and `earlybird study check`: a study in one file, to be cited and checked."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import Jobs, Json
from earlybird.cli.output import show_json, show_outcome
from earlybird.cli.study_arguments import DEFAULT_SCALE, Names, Results, Scale
from earlybird.paths import CHECKS, RESULTS

DIFFERENT = 1  # the exit code where an archive is whole, but not what this program gives


def export_command(
    names: Names,
    *,
    scale: Scale = DEFAULT_SCALE,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The archive.", show_default="STUDY-SCALE.zip"),
    ] = None,
    results: Results = RESULTS,
    json: Json = False,
) -> None:
    """
    Pack studies into one file: definition, runs, results, verdicts and pictures, to be cited.

    All runs must exist. The same results give the same bytes. `earlybird study check` checks the file.
    """
    from dataclasses import asdict

    from earlybird.study import export_studies

    exported = export_studies(names, scale, output=results, to=to)
    show_outcome(
        {**asdict(exported), "path": str(exported.path)},
        f"Fingerprint: {exported.fingerprint}",
        f"{exported.path}: {exported.runs} runs, {exported.members} files, {exported.bytes / 1e6:.1f} MB",
        f"Next: earlybird study check {exported.path}",
        json=json,
    )


def check_command(
    archive: Annotated[
        Path, typer.Argument(metavar="ARCHIVE", help="What `earlybird study export` wrote.", show_default=False)
    ],
    *,
    sample: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Repeat only N runs, drawn; 0: only files and verdicts.", show_default="all"
        ),
    ] = None,
    share: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Repeat only this part of the runs, such as 10%.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the selection; the same seed selects the same runs.")] = 1,
    jobs: Jobs = None,
    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder for the repeated runs; those there are not made again. Not `results`."
        ),
    ] = CHECKS,
    json: Json = False,
) -> None:
    """
    Check an archive: its files, its verdicts and, by repeating them, its runs.

    Exits with code 0 if all is equal, 1 if runs or verdicts differ, 2 if the archive is damaged. After an interruption
    the same command resumes.
    """
    from earlybird.study import check_archive

    check = check_archive(archive, sample=sample, share=share, seed=seed, jobs=jobs, output=output, progress=True)
    if json:
        show_json(check.document())
    else:
        from earlybird.report.archive_terminal import show_check

        show_check(check)
    if not check.is_equal:
        raise typer.Exit(DIFFERENT)
