"""
Studies: a question, the runs that answer it, and what papers state about the answer.

A study is a folder below studies/ with ``study.toml`` (scenarios and grids), ``items.toml`` (statements, as data),
``expected/*.csv`` (the papers' numbers) and a README. What studies share is here, each room with what it takes from
those before it: `language` (what the files say), `runs` (made of them), `reductions` (what each run showed, as a few
numbers), `statements` (tested with these), `evaluation` (all of that for one study), and `search`.
"""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.report.entry_points import publish_all, report_all, report_study
    from earlybird.study.archive.checking import Check, check_archive
    from earlybird.study.archive.packing import Exported, export_studies
    from earlybird.study.archive.reading import Archive, open_archive
    from earlybird.study.evaluation import Evaluation, evaluate_study
    from earlybird.study.runs.execution import RunCount, StudyOutcome, progress_of, run_studies, run_study
    from earlybird.study.runs.listing import StudyInfo, list_studies
    from earlybird.study.statements.verdicts import Verdict
else:
    __getattr__, __dir__ = loader(
        __name__,
        {
            **dict.fromkeys(("publish_all", "report_all", "report_study"), ".report.entry_points"),
            **dict.fromkeys(("Evaluation", "evaluate_study"), "evaluation"),
            **dict.fromkeys(("RunCount", "StudyOutcome", "progress_of", "run_studies", "run_study"), "runs.execution"),
            **dict.fromkeys(("StudyInfo", "list_studies"), "runs.listing"),
            **dict.fromkeys(("Archive", "open_archive"), "archive.reading"),
            **dict.fromkeys(("Check", "check_archive"), "archive.checking"),
            **dict.fromkeys(("Exported", "export_studies"), "archive.packing"),
            "Verdict": "statements.verdicts",
        },
    )

__all__ = [
    "Archive",
    "Check",
    "Evaluation",
    "Exported",
    "RunCount",
    "StudyInfo",
    "StudyOutcome",
    "Verdict",
    "check_archive",
    "evaluate_study",
    "export_studies",
    "list_studies",
    "open_archive",
    "progress_of",
    "publish_all",
    "report_all",
    "report_study",
    "run_studies",
    "run_study",
]
