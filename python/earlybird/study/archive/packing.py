"""Packs studies into an archive."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from earlybird.errors import InputError
from earlybird.files import complete_files
from earlybird.paths import RESULTS as RESULTS_FOLDER
from earlybird.paths import shipped_file
from earlybird.report.headline import conclusion, headline
from earlybird.report.publication import write_pages
from earlybird.report.templates import rendered
from earlybird.report.writer import write_tables
from earlybird.store import Store
from earlybird.study.archive.container import Container, write_container
from earlybird.study.archive.definitions import definition_files
from earlybird.study.archive.origin import citation, origin
from earlybird.study.evaluation import Evaluation, evaluate
from earlybird.study.language.library import choose_studies
from earlybird.study.runs.execution import planned_runs
from earlybird.study.runs.plan import plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from earlybird.study.language.definition import Study

RUNS: Final = "runs.json"  # the member that tells which result belongs to which run of a study
RESULTS: Final = "results"  # the folder of results in an archive, one below it for each, in the form of a store
REPORT: Final = "report"  # the folder of pages, verdicts and pictures in an archive
LICENCES: Final = ("LICENSE-APACHE", "LICENSE-MIT")


@dataclass(frozen=True, slots=True)
class Exported:
    """An archive that was written."""

    path: Path
    fingerprint: str  # SHA-256 of its manifest
    studies: tuple[str, ...]
    runs: int
    members: int
    bytes: int


def export_studies(
    names: Sequence[str], scale: str = "smoke", *, output: str | Path = RESULTS_FOLDER, to: str | Path | None = None
) -> Exported:
    """
    Pack studies, or ``all``, into one archive: definition, runs, results, verdicts, tables and pictures.

    The results folder has to have every run of the studies. The file is named after the study and the scale
    (``burst-loss-smoke.zip``) unless `to` says otherwise. The same results give the same bytes.
    """
    studies = choose_studies(names, scale)
    return pack(studies, scale, Store(Path(output)), Path(to or default_name([study.name for study in studies], scale)))


def default_name(studies: Sequence[str], scale: str) -> str:
    """Return the name of an archive: that of its only study, or a common one."""
    return f"{studies[0] if len(studies) == 1 else 'studies'}-{scale}.zip"


def pack(studies: Sequence[Study], scale: str, store: Store, path: Path) -> Exported:
    """Pack studies that were read already; otherwise as `export_studies`."""
    runs = [run for study in studies for run in listed_runs(study, scale)]
    keys = sorted({run["key"] for run in runs})
    _check_results([study.name for study in studies], scale, store, keys)
    evaluations = [evaluate(study, scale, store) for study in studies]
    made_by = origin()
    with TemporaryDirectory() as drafts:
        members: dict[str, bytes | Path] = {
            **{name: file for study in studies for name, file in definition_files(study).items()},
            **{
                f"{RESULTS}/{key}/{name}": file
                for key in keys
                for name, file in complete_files(store.folder(key)).items()
            },
            **_report(evaluations, Path(drafts)),
            **_texts(evaluations, scale, made_by),
            RUNS: (json.dumps(runs, indent=1, ensure_ascii=False) + "\n").encode(),
        }
        names = tuple(study.name for study in studies)
        write_container(path, {"studies": names, "scale": scale, **made_by}, members)
    written = Container.open(path)
    written.file.close()
    return Exported(path, written.fingerprint, names, len(keys), len(written.members), path.stat().st_size)


def listed_runs(study: Study, scale: str) -> Iterator[dict[str, Any]]:
    """List a study's runs: part, axes and seed, and under which key the result of each is kept."""
    for run, planned in zip(plan(study, scale), planned_runs(study, scale), strict=True):
        where = {"study": study.name, "part": run.part.name, "axes": dict(run.axes)}
        yield {**where, "seed": run.seed, "key": planned.key}


def _check_results(names: Sequence[str], scale: str, store: Store, keys: Sequence[str]) -> None:
    if missing := sum(not store.has(key) for key in keys):
        command = f"earlybird study run {' '.join(names)} --scale {scale}"
        raise InputError(f"{missing} of {len(keys)} runs have no result in {store.root}; `{command}` makes them.")
    for key in keys:
        store.verify(key)


def _report(evaluations: Sequence[Evaluation], folder: Path) -> dict[str, Path]:
    """Write the small forms of pages and tables; return the files by their names in the archive."""
    for evaluation in evaluations:
        write_pages(evaluation, folder, is_standalone=True)
        write_tables(evaluation, folder / evaluation.study.name)
    files = (path for path in folder.rglob("*") if path.is_file())
    return {f"{REPORT}/{path.relative_to(folder).as_posix()}": path for path in files}


def _texts(evaluations: Sequence[Evaluation], scale: str, made_by: dict[str, Any]) -> Mapping[str, bytes | Path]:
    """Return the archive's README, its citation and the licences, by name."""
    names = [evaluation.study.name for evaluation in evaluations]
    title = f"earlybird: results of {', '.join(names)} at scale {scale}"
    answers = [(evaluation.study, headline(evaluation), conclusion(evaluation)) for evaluation in evaluations]
    context = {"title": title, "answers": answers, "scale": scale, "made_by": made_by}
    context["file"] = default_name(names, scale)
    return {
        "README.md": rendered("archive.md.j2", context).encode(),
        "CITATION.cff": citation(title, made_by).encode(),
        **{name: shipped_file(name) for name in LICENCES},
    }
