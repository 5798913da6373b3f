"""The units of systemd, and the container image."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

UNITS = sorted((REPOSITORY / "systemd").iterdir())
INSTALLED = "/opt/earlybird/bin/earlybird"
IMAGE_VARIABLE = "EARLYBIRD_IMAGE"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_the_unit(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    text = unit.read_text(encoding="utf-8")
    assert INSTALLED in text
    # The program must exist; for the contents of a unit any will do.
    copy = tmp_path / unit.name.replace("@.", "@studio.")
    copy.write_text(text.replace(INSTALLED, sys.executable), encoding="utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, timeout=60, check=False
    )
    named = [line for line in checked.stderr.splitlines() if unit.name.partition("@")[0] in line]
    assert (checked.returncode, named) == (0, []), checked.stderr


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_the_command_of_the_unit_has_only_options_that_exist(unit: Path) -> None:
    (line,) = (line for line in unit.read_text(encoding="utf-8").splitlines() if line.startswith("ExecStart="))
    _, name, *rest = line.partition("=")[2].split()
    options = {word for word in rest if word.startswith("--")}
    shown = subprocess.run(
        [sys.executable, "-m", "earlybird", name, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    assert all(option in shown.stdout for option in options), options


def test_the_image_builds_and_runs() -> None:
    engine = next((name for name in ("docker", "podman") if shutil.which(name)), None)
    if engine is None or subprocess.run([engine, "info"], capture_output=True, timeout=60, check=False).returncode:
        pytest.skip(f"no container engine answers ({engine or 'neither docker nor podman is installed'})")
    if IMAGE_VARIABLE not in os.environ:
        pytest.skip(f"the image takes ten minutes to build: set {IMAGE_VARIABLE}=1")
    subprocess.run([engine, "build", "--tag", "earlybird-test", str(REPOSITORY)], timeout=3000, check=True)
    arguments = ["run", "--rm", "earlybird-test", "transmit", "udp://127.0.0.1:5000", "eb://host.invalid:4201"]
    ended = subprocess.run([engine, *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert "cannot be resolved" in ended.stderr
