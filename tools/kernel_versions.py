"""
Loads PERT into kernels of Debian in virtual machines: `make kernel-versions`.

Each kernel boots in software emulation, which needs no privileges, with the program and nothing else in its memory. It
loads PERT, sends a file over loopback, unloads it, and loses the process that holds it. A line for each kernel has its
version, what it did, and what failed. Needs QEMU, busybox and the packages of the kernels, which are downloaded once.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from earlybird.errors import EarlybirdError
from earlybird.kernel import program

KERNELS: Final = ("linux-image-cloud-amd64", "linux-image-6.12-cloud-amd64")
"""Packages that depend on the newest of a series; the first is Debian's own: 6.1 in Debian 12, 6.12 in Debian 13."""
CACHE: Final = Path(__file__).resolve().parents[1] / ".cache" / "kernels"
INIT: Final = Path(__file__).with_name("kernel_versions_init.sh")
PROGRAMS: Final = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "apt-get": "apt"}
STEPS: Final = 7  # lines that `kernel_versions_init.sh` prints of steps, the boot among them
LIMIT: Final = 300  # seconds for one kernel, which takes about 30 in software emulation


def main() -> int:
    """Try each kernel; return 1 if one failed."""
    if missing := [package for name, package in PROGRAMS.items() if shutil.which(name) is None]:
        print(f"skipped: apt-get install {' '.join(missing)}")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            memory = initramfs(Path(folder))
        except EarlybirdError as error:
            print(f"skipped: {error}")
            return 0
        outcomes = [tried(package, memory) for package in sys.argv[1:] or KERNELS]
    return 0 if all(outcomes) else 1


def initramfs(folder: Path) -> Path:
    """Pack the program, its libraries, busybox and the first process."""
    root, found = folder / "root", program()
    for name in ("bin", "tmp"):
        (root / name).mkdir(parents=True)
    shutil.copy(str(shutil.which("busybox")), root / "bin")
    shutil.copy(found, root / "bin" / "earlybird-kernel")
    shutil.copy(INIT, root / "init")
    (root / "init").chmod(0o755)
    for library in libraries(found):
        (root / library.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library.relative_to("/"))
    names = "\n".join(str(path.relative_to(root)) for path in root.rglob("*"))
    packed = folder / "initramfs"
    with packed.open("wb") as file:
        command = ["busybox", "cpio", "-o", "-H", "newc"]
        subprocess.run(command, cwd=root, input=names.encode(), stdout=file, stderr=subprocess.DEVNULL, check=True)
    return packed


def libraries(found: Path) -> list[Path]:
    """List the shared libraries of a program, the loader among them."""
    listed = subprocess.run(["ldd", found], capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in re.findall(r"(/\S+) \(0x", listed)]


def tried(package: str, memory: Path) -> bool:
    """Boot a kernel and print what it did; return whether nothing failed."""
    kernel = image(package)
    if kernel is None:
        print(f"{package}: skipped, as no such package can be downloaded here")
        return True
    lines = booted(kernel, memory)
    steps = [line.partition("STEP ")[2] for line in lines if "STEP " in line]  # the firmware writes before the first
    failed = [step.removeprefix("failed ") for step in steps if step.startswith("failed ")]
    if len(steps) < STEPS:
        failed.append(f"ended after {len(steps)} of {STEPS} steps: {' | '.join(lines[-5:])}")
    done = ", ".join(step.removeprefix("ok ") for step in steps if step.startswith("ok "))
    print(f"{kernel.name.removeprefix('vmlinuz-')}: {done or 'nothing'}. {'; '.join(failed) or 'Nothing failed.'}")
    return not failed


def image(package: str) -> Path | None:
    """Return the kernel that a package depends on, downloaded if need be."""
    asked = subprocess.run(
        ["apt-cache", "depends", "--important", package], capture_output=True, text=True, check=False
    )
    names = re.findall(r"Depends: (linux-image-\d\S*)", asked.stdout)
    if not names:
        return None
    CACHE.mkdir(parents=True, exist_ok=True)
    place = CACHE / f"vmlinuz-{names[0].removeprefix('linux-image-')}"
    if not place.exists():
        with tempfile.TemporaryDirectory() as folder:
            if subprocess.run(
                ["apt-get", "download", names[0]], cwd=folder, capture_output=True, check=False
            ).returncode:
                return None
            (archive,) = Path(folder).glob("*.deb")
            subprocess.run(["dpkg-deb", "-x", archive.name, "."], cwd=folder, check=True)
            shutil.copy(Path(folder, "boot", place.name), place)
    return place


def booted(kernel: Path, memory: Path) -> list[str]:
    """Return what the virtual machine prints."""
    words = "console=ttyS0 quiet panic=-1 rdinit=/init"
    machine = ["-machine", "accel=tcg", "-cpu", "max", "-m", "512", "-nographic", "-no-reboot", "-nic", "none"]
    command = ["qemu-system-x86_64", *machine, "-kernel", str(kernel), "-initrd", str(memory), "-append", words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=LIMIT)
        output = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        output = error.stdout or b""
    return [line for line in output.decode(errors="replace").replace("\r", "").splitlines() if line.strip()]


if __name__ == "__main__":
    sys.exit(main())
