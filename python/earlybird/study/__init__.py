"""
Studies: a question, the runs that answer it, and what papers state about the answer.

A study is a folder below studies/ with ``study.toml`` (scenarios and grids), ``items.toml`` (statements, as data),
``expected/*.csv`` (the papers' numbers) and a README. What studies share is here.
"""

from typing import TYPE_CHECKING

from earlybird.lazy import loader

if TYPE_CHECKING:
    from earlybird.study.evaluation import Evaluation, evaluate_study, publish_all, report_all, report_study
    from earlybird.study.execution import RunCount, StudyOutcome, progress_of, run_studies, run_study
    from earlybird.study.library import StudyInfo, list_studies
    from earlybird.study.verdicts import Verdict
else:
    __getattr__ = loader(
        __name__,
        {
            **dict.fromkeys(
                ("Evaluation", "evaluate_study", "publish_all", "report_all", "report_study"), "evaluation"
            ),
            **dict.fromkeys(("RunCount", "StudyOutcome", "progress_of", "run_studies", "run_study"), "execution"),
            **dict.fromkeys(("StudyInfo", "list_studies"), "library"),
            "Verdict": "verdicts",
        },
    )

__all__ = [
    "Evaluation",
    "RunCount",
    "StudyInfo",
    "StudyOutcome",
    "Verdict",
    "evaluate_study",
    "list_studies",
    "progress_of",
    "publish_all",
    "report_all",
    "report_study",
    "run_studies",
    "run_study",
]
