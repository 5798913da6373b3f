"""Lists the studies of the repository with the number of their runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from earlybird.study.language.definition import Study
from earlybird.study.language.library import find_study, study_names
from earlybird.study.runs.plan import count


@dataclass(frozen=True, slots=True)
class StudyInfo:
    """A study in a list of studies."""

    name: str
    title: str
    question: str
    scales: tuple[str, ...]
    items: tuple[str, ...]  # the figures and tables that it is about
    folder: Path
    runs: Mapping[str, int]  # the number of runs of each scale


def list_studies() -> list[StudyInfo]:
    """List the studies, sorted by name."""
    return [_info(find_study(name)) for name in study_names()]


def _info(study: Study) -> StudyInfo:
    items = tuple(item.id for item in study.items)
    runs = {scale: count(study, scale) for scale in study.scales}
    return StudyInfo(study.name, study.title, study.question, tuple(study.scales), items, study.folder, runs)
