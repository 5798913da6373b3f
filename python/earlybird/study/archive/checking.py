"""Checks an archive: its files, its verdicts, and its runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.errors import InputError
from earlybird.files import finite
from earlybird.paths import CHECKS
from earlybird.quantities import parse_share
from earlybird.study.archive.judgement import Judgement, judge
from earlybird.study.archive.reading import Archive, open_archive
from earlybird.study.archive.rerun import Rerun, Sample, drawn, repeat, repeatable

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of checking an archive."""

    archive: Archive
    judgement: Judgement
    sample: Sample
    reruns: Sequence[Rerun]
    in_real_time: int  # runs that are not repeatable: testbed plays, or runs in real time

    @property
    def different(self) -> list[Rerun]:
        """The runs that come out otherwise."""
        return [each for each in self.reruns if not each.is_equal]

    @property
    def is_equal(self) -> bool:
        """Whether all repeated runs and verdicts are equal to the archive's, and belong to its definition."""
        return not (self.different or self.judgement.revisions or self.judgement.misplaced)

    def document(self) -> dict[str, Any]:
        """Write it for other programs."""
        about = self.archive.about
        return {
            "archive": str(self.archive.container.path),
            "fingerprint": self.archive.fingerprint,
            "equal": self.is_equal,
            **{name: about[name] for name in ("studies", "scale", "earlybird", "commit", "code_versions")},
            "checked_with": {"earlybird": _core.version(), "code_version": _core.code_version()},
            "files": len(self.archive.container.members),
            "verdicts": self.judgement.verdicts,
            "verdicts_different": [asdict(each) for each in self.judgement.revisions],
            "runs_of_another_definition": list(self.judgement.misplaced),
            "runs": self.sample.every + self.in_real_time,
            "runs_in_real_time": self.in_real_time,
            "runs_repeated": self.sample.count,
            "sample_seed": self.sample.seed if self.sample.count < self.sample.every else None,
            "runs_same_bytes": sum(each.same_bytes for each in self.reruns),
            "runs_different": [_document(each) for each in self.different],
        }


def check_archive(
    path: str | Path,
    *,
    sample: int | None = None,
    share: float | str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    output: str | Path = CHECKS,
    progress: bool = False,
) -> Check:
    """
    Check an archive that `export_studies` wrote: every file, every verdict, and its runs by making them again.

    Of the runs `sample` are repeated (0: none), or the part `share` of all, as ``0.1`` or ``"10%"``, drawn by `seed`;
    by default all. Those made again are kept in `output`, so that an interrupted check goes on; it must not be the
    results folder that the archive was packed from. Where the same code made the archive, results have to be the same
    bytes, else all numbers the same.

    Raises `StoreError` if the archive is damaged, something else, or of a form that this version does not know;
    `InputError` if both a number and a share are given, or this version cannot make its runs or judge its studies; and
    the errors of `earlybird.sweep`.
    """
    if sample is not None and share is not None:
        raise InputError("sample and share both say how many runs are repeated; leave one out.")
    archive = open_archive(path)
    archive.container.verify()
    judgement, keys = judge(archive), repeatable(archive)
    chosen = drawn(keys, sample, None if share is None else parse_share(share), seed)
    reruns = repeat(archive, chosen, jobs=jobs, output=Path(output), progress=progress)
    in_real_time = len(archive.by_key) - len(keys)
    return Check(archive, judgement, Sample(len(chosen), len(keys), seed), reruns, in_real_time)


def _document(rerun: Rerun) -> dict[str, Any]:
    found = [finite({**asdict(each), "size": each.size}) for each in rerun.differences]
    return {"key": rerun.key, "runs": rerun.runs, "same_code": rerun.same_code, "differences": found}
