"""Versions, limits and commands that several files of the repository state are the same everywhere."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import TYPE_CHECKING, Final

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

WORKFLOWS: Final = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def read_toml(path: str) -> dict[str, object]:
    return tomllib.loads((REPOSITORY / path).read_text(encoding="utf-8"))


def test_one_rust_version_is_stated_everywhere() -> None:
    channel = re.search(r'channel = "([0-9.]+)"', (REPOSITORY / "rust-toolchain.toml").read_text(encoding="utf-8"))
    assert channel
    minor = channel[1].rpartition(".")[0]
    for manifest in ("Cargo.toml", "crates/kernel/Cargo.toml"):
        stated = re.search(
            r'^rust-version = "([0-9.]+)"', (REPOSITORY / manifest).read_text(encoding="utf-8"), re.MULTILINE
        )
        assert stated, manifest
        assert stated[1] == minor, manifest
    assert f"FROM rust:{minor}-" in (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere_and_has_a_change_log() -> None:
    project = read_toml("pyproject.toml")["project"]
    assert isinstance(project, dict)
    command = [str(REPOSITORY / "tools" / "release-check"), str(project["version"]), "--notes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n* " in done.stdout


def test_a_version_that_is_nowhere_is_refused() -> None:
    command = [str(REPOSITORY / "tools" / "release-check"), "9.9.9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pyproject.toml has" in done.stderr
    assert "CHANGELOG.md has no section 9.9.9" in done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_call_commands_that_exist(workflow: Path) -> None:
    text = workflow.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = set(re.findall(r"\bmake ([a-z-]+)", text))
    tools = set(re.findall(r"\btools/([a-z-]+)", text))
    assert called | tools, "a workflow runs something of ours"
    assert called <= targets
    assert all((REPOSITORY / "tools" / tool).is_file() for tool in tools)


@pytest.mark.parametrize(("subject", "code"), [("x" * 72, 0), ("x" * 73, 1), ("ä" * 72, 0)])
def test_long_subjects_of_commits_are_refused(tmp_path: Path, subject: str, code: int) -> None:
    message = tmp_path / "message"
    message.write_text(f"{subject}\n\nWhy.\n", encoding="utf-8")
    tool = REPOSITORY / "tools" / "commit-subject"
    environment = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    done = subprocess.run([str(tool), str(message)], capture_output=True, check=False, env=environment)
    assert done.returncode == code
