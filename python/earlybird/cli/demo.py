"""`earlybird demo`: what the program is about, in a minute."""

from typing import TYPE_CHECKING, Any

from earlybird.cli import compare, study
from earlybird.cli.arguments import Jobs, Json, examples
from earlybird.cli.output import echo, show_json
from earlybird.lazy import LateModule
from earlybird.paths import REPORTS, shipped_file

if TYPE_CHECKING:
    from earlybird import compare as comparing
    from earlybird import recommendation
    from earlybird import study as studies
    from earlybird.report import text_templates, writer
    from earlybird.study import Evaluation
    from earlybird.study.language.points import Point
else:
    comparing = LateModule("earlybird.compare")
    recommendation = LateModule("earlybird.recommendation")
    studies = LateModule("earlybird.study")
    text_templates = LateModule("earlybird.report.text_templates")
    writer = LateModule("earlybird.report.writer")

NAME = "demo"
EXAMPLES = examples("earlybird demo")
STUDY = "early-retransmission"
PICTURE = REPORTS / "compare.png"


def command(*, jobs: Jobs = None, json: Json = False) -> None:
    """
    Repeat the first study at its smallest scale, then compare transports on a film.

    Both are part of the program. It ends with a sentence about each and a picture. Results and reports are written to
    the folders results and reports below the working folder; existing results are not made again.
    """
    film = shipped_file("media", "test-clip.mp4")
    if json:
        show_json(_document(jobs))
        return
    study.run_command([STUDY], jobs=jobs)
    study.report_command([STUDY])
    comparison = comparing.compare_media(film, jobs=jobs, progress=True)
    compare.show_comparison(comparison, PICTURE)
    echo(f"\n{early_retransmission(studies.evaluate_study(STUDY))}\n{recommendation.recommendation(comparison)}")
    echo(f"Picture: {PICTURE}")
    echo("Next: the same with your own film: earlybird compare --media FILM; your own network: earlybird new")


def early_retransmission(evaluation: "Evaluation") -> str:
    """Return what early retransmission changed in one cell of the study, in a sentence that claims no more."""
    cell: Point = {"n": 30, "buffer": 80}
    before, after = ({**cell, "transport": transport} for transport in ("pert", "pert-er"))
    rto = [text_templates.measured(evaluation, "rto_count", point) for point in (before, after)]
    frozen = [text_templates.measured(evaluation, "frozen_s", point) for point in (before, after)]
    return (
        f"One run of each, 30 pairs over a queue of 80 packets: per 1000 s a video flow of PERT had {rto[0]} timeouts "
        f"and was frozen for {frozen[0]}, with early retransmission {rto[1]} and {frozen[1]}."
    )


def _document(jobs: int | None) -> dict[str, Any]:
    """Do the same and return what each of the three sub-commands prints with ``--json``."""
    runs = study.outcome_document(studies.run_study(STUDY, jobs=jobs))
    evaluation = studies.evaluate_study(STUDY)
    page = writer.write_report(evaluation, REPORTS / f"{STUDY}-{evaluation.scale}")
    comparison = comparing.compare_media(shipped_file("media", "test-clip.mp4"), jobs=jobs, progress=True).to_dict()
    return {"run": runs, "report": writer.report_document(evaluation, page), "comparison": comparison}
