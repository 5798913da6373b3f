"""`earlybird demo`: what the program is about, in a minute."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird.cli import compare, study
from earlybird.cli.arguments import Jobs, Json, examples
from earlybird.cli.output import echo, show_json
from earlybird.lazy import LateModule
from earlybird.paths import REPORTS, shipped_file

if TYPE_CHECKING:
    from earlybird import compare as comparing
    from earlybird import study as studies
    from earlybird.report import writer
else:
    comparing = LateModule("earlybird.compare")
    studies = LateModule("earlybird.study")
    writer = LateModule("earlybird.report.writer")

NAME = "demo"
EXAMPLES = examples("earlybird demo")
STUDY = "early-retransmission"


def command(*, jobs: Jobs = None, json: Json = False) -> None:
    """
    Repeat the first study at its smallest scale, then compare transports on a film.

    Both come with the program. Results and reports go to the folders results and reports below the working folder; a
    second time nothing is made again.
    """
    film = shipped_file("media", "test-clip.mp4")
    if json:
        show_json(_document(film, jobs))
        return
    study.run_command([STUDY], jobs=jobs)
    study.report_command([STUDY])
    compare.command(media=[film], jobs=jobs)
    echo("Next: the same with your own film: earlybird compare --media FILM; your own network: earlybird new")


def _document(film: Path, jobs: int | None) -> dict[str, Any]:
    """Do the same and return what each of the three sub-commands prints with ``--json``."""
    runs = study.outcome_document(studies.run_study(STUDY, jobs=jobs))
    evaluation = studies.evaluate_study(STUDY)
    page = writer.write_report(evaluation, REPORTS / f"{STUDY}-{evaluation.scale}")
    comparison = comparing.compare_media(film, jobs=jobs, progress=True).to_dict()
    return {"run": runs, "report": writer.report_document(evaluation, page), "comparison": comparison}
