"""Evaluates the statements of an archive's studies again, from the archive's results."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from earlybird.errors import InputError, ScenarioError
from earlybird.report.writer import tabled_verdicts
from earlybird.store import Store
from earlybird.study.archive.definitions import STUDIES
from earlybird.study.archive.packing import RESULTS, listed_runs
from earlybird.study.archive.rerun import planned_rerun
from earlybird.study.evaluation import evaluate
from earlybird.study.language.library import check_scale
from earlybird.study.language.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from earlybird.study.archive.reading import Archive
    from earlybird.study.language.definition import Study

Placed: TypeAlias = "tuple[Mapping[str, Any], str]"
"""A run as the archive lists it, and the key that this program gives to what the definition asks for."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A cell of the table of verdicts that differs from the archive."""

    study: str
    item: str
    statement: str
    variant: str
    column: str  # a column of the table of verdicts, such as ``holds`` or ``ours``
    archived: str
    recomputed: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdicts on the statements of an archive's studies."""

    verdicts: int
    revisions: Sequence[Revision]
    misplaced: Sequence[Mapping[str, Any]]
    """Runs as they are listed whose result is of another scenario than the definition asks for."""


def judge(archive: Archive) -> Judgement:
    """Evaluate the archive's studies from its definitions and results, and compare with its verdicts."""
    verdicts, revisions = 0, list[Revision]()
    misplaced: list[Mapping[str, Any]] = []
    meant = {key: planned_rerun(archive, key).key for key in archive.by_key}
    with TemporaryDirectory() as folder:
        archive.container.unpack(archive.definitions, Path(folder))
        for name in archive.studies:
            runs, recomputed = _recomputed(archive, name, Path(folder))
            verdicts += len(recomputed)
            revisions += _revisions(name, archive.verdicts_of(name), recomputed)
            misplaced += [archived for archived, key in runs if meant[archived["key"]] != key]
    return Judgement(verdicts, revisions, misplaced)


def _recomputed(archive: Archive, name: str, folder: Path) -> tuple[list[Placed], list[dict[str, str]]]:
    """Judge a study in a folder that has its definition; return where its results were put there, and the verdicts."""
    scale, store = archive.scale, Store(folder / RESULTS, is_keyed=False)
    try:
        study = load(folder / STUDIES / name)
        _check_is_inside(study, folder)
        check_scale(study, scale)
        runs = _lay_out(archive, study, store)
        table = tabled_verdicts(evaluate(study, scale, store))
    except (InputError, ScenarioError) as error:
        made_by = archive.about["earlybird"]
        raise InputError(f"this earlybird cannot judge the study {name!r} of earlybird {made_by}: {error}") from error
    return runs, [{column: str(cell or "") for column, cell in row.items()} for row in table.to_dicts()]


def _check_is_inside(study: Study, folder: Path) -> None:
    """Raise InputError if a part names a file that the archive does not have."""
    named = (path for part in study.parts.values() for path in (part.scenario, part.testbed, part.program))
    for path in named:
        if "\0" in str(path) or (path != Path() and not path.resolve().is_relative_to(folder.resolve())):
            raise InputError(f"{path} lies outside of the archive.")


def _lay_out(archive: Archive, study: Study, store: Store) -> list[Placed]:
    """Keep the archive's results under the names that this program gives to the study's runs."""
    archived, placed = {_identity(run): run for run in archive.listed}, list[Placed]()
    for run in listed_runs(study, archive.scale):
        listed = archived.get(_identity(run))
        if listed is None:
            raise InputError(f"the archive has no run of part {run['part']!r}, {run['axes']}, seed {run['seed']}.")
        if not store.has(run["key"]):
            store.keep(run["key"], archive.files(listed["key"]))
        placed.append((listed, run["key"]))
    return placed


def _identity(run: Mapping[str, Any]) -> tuple[object, ...]:
    return run["study"], run["part"], run["seed"], *sorted(run["axes"].items())


def _revisions(
    study: str, archived: Sequence[Mapping[str, str]], recomputed: Sequence[Mapping[str, str]]
) -> Iterator[Revision]:
    for old, new in zip_longest(archived, recomputed, fillvalue=dict[str, str]()):
        named = {name: (old or new).get(name, "") for name in ("item", "statement", "variant")}
        for column in dict.fromkeys((*old, *new)):
            if old.get(column, "") != new.get(column, ""):
                yield Revision(
                    study, **named, column=column, archived=old.get(column, ""), recomputed=new.get(column, "")
                )
