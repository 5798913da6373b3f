"""Provenance of results: program, code, commit, and the libraries that wrote the tables."""

from __future__ import annotations

import json
import subprocess
from typing import Any, get_args

import polars as pl

from earlybird import _core
from earlybird.backends import Backend
from earlybird.paths import REPOSITORY, shipped_file

DIRTY = "-dirty"  # the suffix of a commit whose files have been changed


def origin() -> dict[str, Any]:
    """Describe this program, as far as results depend on it."""
    return {
        "earlybird": _core.version(),
        "commit": _commit(),
        "code_versions": {backend: _core.code_version(backend) for backend in get_args(Backend)},
        "polars": pl.__version__,
    }


def citation(title: str, made_by: dict[str, Any]) -> str:
    """Write a CITATION.cff for results: the program's own, of a data set."""
    changed = {
        "message": "Please cite these results with the fingerprint that `earlybird study check` prints.",
        "title": title,
        "abstract": "Results of a study, with its definition, its runs and its verdicts, to be checked.",
        "type": "dataset",
        "version": f"{made_by['earlybird']}+{made_by['code_versions']['sim']}",
    }
    lines = shipped_file("CITATION.cff").read_text(encoding="utf-8").splitlines()
    commit = [f"commit: {made_by['commit']}"] if made_by["commit"] and DIRTY not in made_by["commit"] else []
    return "\n".join([*(_line(line, changed) for line in lines), *commit, ""])


def _line(line: str, changed: dict[str, str]) -> str:
    """Replace the value of a changed key; a text of JSON is one of YAML 1.2 too (from memory)."""
    key = line.partition(":")[0]
    return f"{key}: {json.dumps(changed[key], ensure_ascii=False)}" if key in changed else line


def _commit() -> str | None:
    """Return the commit of the checkout that this program runs from, with `DIRTY` where that is so."""
    if not (REPOSITORY / ".git").exists():
        return None
    describe = ["git", "-C", str(REPOSITORY), "describe", "--always", f"--dirty={DIRTY}", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(describe, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip() or None
