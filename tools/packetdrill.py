"""
Run packetdrill scripts against the endpoint, or against the machine's kernel, and say by directory how many passed.

Each script runs in a network namespace of its own: scripts set the kernel's parameters of TCP, which the endpoint reads
from there. The suite of packetdrill is not part of this repository: ``PACKETDRILL`` names a built checkout of it.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from generated import REPOSITORY

CRATE = REPOSITORY / "crates" / "packetdrill"
OWN_SCRIPTS = CRATE / "scripts"  # the project's own scripts
LIBRARY = REPOSITORY / "target" / "debug" / "libearlybird_packetdrill.so"
RESULTS = REPOSITORY / "target" / "packetdrill"
"""Folder of the results: one JSON file for the endpoint, one for the kernel."""

Version = Literal["ipv4", "ipv6"]

OPTIONS: dict[Version, tuple[str, ...]] = {
    "ipv4": (
        "--ip_version=ipv4",
        "--local_ip=192.168.0.1",
        "--gateway_ip=192.168.0.1",
        "--netmask_ip=255.255.0.0",
        "--remote_ip=192.0.2.1",
        "-DTFO_COOKIE=3021b9d889017eeb",
        "-DCODE=host_unreachable",
        "-DCMSG_LEVEL_IP=SOL_IP",
        "-DCMSG_TYPE_RECVERR=IP_RECVERR",
    ),
    "ipv6": (
        "--ip_version=ipv6",
        "--mtu=1520",
        "--local_ip=fd3d:0a0b:17d6::1",
        "--gateway_ip=fd3d:0a0b:17d6:8888::1",
        "--remote_ip=fd3d:fa7b:d17d::1",
        "-DTFO_COOKIE=c1d1e9742a47a9bc",
        "-DCMSG_LEVEL_IP=SOL_IPV6",
        "-DCMSG_TYPE_RECVERR=IPV6_RECVERR",
    ),
}
"""Addresses and symbols that the scripts of the suite count on; the cookies are those of its Fast Open key."""

MTU: dict[Version, int] = {"ipv4": 1500, "ipv6": 1520}
OWN_ADDRESSES = "192.168.0.1,fd3d:0a0b:17d6::1"  # source addresses of connections that no script has bound

TRIES = 3
"""Attempts with a script on the kernel's clock before it counts as failed: other work of the machine disturbs it."""

TIMEOUT = 90.0  # seconds after which a script has failed: on the kernel's clock the longest takes about 30


@dataclass(frozen=True)
class Outcome:
    """The outcome of one script."""

    script: str
    version: Version
    passed: bool
    seconds: float
    message: str


def missing(checkout: str | None) -> str | None:
    """Return a line with what is missing to run scripts, if anything is."""
    if not checkout or not program(Path(checkout)).exists():
        return "packetdrill: set PACKETDRILL to a built checkout of https://github.com/google/packetdrill"
    if os.geteuid() != 0:
        return "packetdrill: network namespaces need the rights of root"
    return None


def program(checkout: Path) -> Path:
    """Return the path of the program in a checkout."""
    return checkout / "gtests" / "net" / "packetdrill" / "packetdrill"


def suite(checkout: Path) -> Path:
    """Return the folder of packetdrill's own scripts for TCP."""
    return checkout / "gtests" / "net" / "tcp"


def scripts(folder: Path, version: Version, only: str) -> list[Path]:
    """Return the scripts for an IP version: some say by their names or addresses that they are for the other."""
    other = "v6" if version == "ipv4" else "v4"
    found = (path for path in sorted(folder.rglob("*.pkt")) if not path.stem.endswith(other))
    return [path for path in found if only in str(path.relative_to(folder)) and speaks(path, version)]


def speaks(script: Path, version: Version) -> bool:
    """Return whether the addresses that a script names, if it names any, are of an IP version."""
    own = own_options(script).get("--local_ip", own_options(script).get("--remote_ip"))
    return own is None or (":" in own) == (version == "ipv6")


def own_options(script: Path) -> dict[str, str]:
    """Return the options that a script names itself."""
    lines = (line.split("//")[0].strip() for line in script.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("=") for line in lines if line.startswith("--"))
    return {name: value for name, _, value in pairs}


def command(checkout: Path, script: Path, version: Version, library: Path | None) -> list[str]:
    """Return the command line that runs a script in a new network namespace."""
    prepare = "ip link set lo up"
    # Options of the command line override those of a script, so options that the script has itself are omitted.
    own = own_options(script)
    options = [option for option in OPTIONS[version] if option.split("=")[0] not in own]
    options.append("--send_omit_free")
    run = [str(program(checkout)), *options, script.name]
    if library is not None:
        # The scripts' first commands configure the device that packetdrill makes when it tests the kernel.
        prepare += f" && ip tuntap add tun0 mode tun && ip link set tun0 mtu {MTU[version]} up"
        load = [f"--so_filename={library}", f"--so_flags={OWN_ADDRESSES}"]
        run = ["env", f"LD_PRELOAD={library}", str(program(checkout)), *load, *options, script.name]
    return ["unshare", "--net", "sh", "-c", f'{prepare} && exec "$@"', "sh", *run]


def run(checkout: Path, folder: Path, script: Path, version: Version, library: Path | None) -> Outcome:
    """Run one script."""
    begin = time.monotonic()
    try:
        done = subprocess.run(
            command(checkout, script, version, library),
            cwd=script.parent,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
        passed, output = done.returncode == 0, (done.stdout + done.stderr).strip()
    except subprocess.TimeoutExpired:
        passed, output = False, f"still running after {TIMEOUT:.0f} s"
    seconds = round(time.monotonic() - begin, 2)
    return Outcome(str(script.relative_to(folder)), version, passed, seconds, "" if passed else output[-2000:])


def run_all(
    checkout: Path, folder: Path, versions: Iterable[Version], library: Path | None, only: str, jobs: int
) -> list[Outcome]:
    """Run all scripts of a folder, so many at a time; on the kernel's clock, those that fail are run again."""
    tasks = [(script, version) for version in versions for script in scripts(folder, version, only)]

    def attempt(task: tuple[Path, Version]) -> Outcome:
        outcome = run(checkout, folder, *task, library)
        for _ in range(1, TRIES if library is None else 1):
            if not outcome.passed:
                outcome = run(checkout, folder, *task, library)
        return outcome

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(attempt, tasks))


def table(outcomes: list[Outcome]) -> str:
    """Return passed and run scripts by directory, a column for each IP version."""
    versions = sorted({outcome.version for outcome in outcomes})
    lines = [f"{'directory':24}" + "".join(f"{version:>10}" for version in versions)]
    for directory in [*sorted({directory_of(outcome) for outcome in outcomes}), None]:
        cells = ""
        for version in versions:
            group = [o for o in outcomes if o.version == version and directory in (None, directory_of(o))]
            cells += f"{sum(o.passed for o in group):>5} / {len(group):<3}" if group else " " * 11
        lines.append(f"{directory or 'all':24}" + cells)
    return "\n".join(lines)


def directory_of(outcome: Outcome) -> str:
    """Return the directory that a script is counted under."""
    return outcome.script.split("/")[0]


def expected_to_fail() -> dict[str, str]:
    """Return the scripts of the suite that are expected to fail, each with the reason."""
    failing: dict[str, str] = tomllib.loads((CRATE / "failing.toml").read_text(encoding="utf-8"))["failing"]
    return failing


def surprises(outcomes: list[Outcome], failing: dict[str, str]) -> list[str]:
    """Return the scripts that failed unexpectedly, and those that passed unexpectedly."""
    lines = []
    for outcome in outcomes:
        reason = failing.get(f"{outcome.version}/{outcome.script}", failing.get(outcome.script))
        if not outcome.passed and reason is None:
            lines.append(f"failed: {outcome.version} {outcome.script}: {outcome.message.splitlines()[-1:]}")
        elif outcome.passed and reason is not None:
            lines.append(f"passed, though listed in failing.toml: {outcome.version} {outcome.script}")
    return lines


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", default=os.environ.get("PACKETDRILL"), help="a built checkout of packetdrill")
    parser.add_argument("--library", type=Path, default=LIBRARY, help="the endpoint as packetdrill loads it")
    parser.add_argument("--kernel", action="store_true", help="run this machine's kernel in place of the endpoint")
    parser.add_argument("--own", action="store_true", help="run the project's scripts in place of packetdrill's suite")
    parser.add_argument("--version", choices=["ipv4", "ipv6"], help="one IP version only")
    parser.add_argument("--only", default="", help="scripts whose path contains this")
    parser.add_argument("--jobs", type=int, default=2, help="scripts at a time")
    parser.add_argument("--show", action="store_true", help="show what failing scripts print")
    return parser.parse_args()


def main() -> int:
    """Run scripts, print the table and what surprises; 1 if a script failed that should have passed."""
    options = arguments()
    if why := missing(options.checkout):
        print(why, file=sys.stderr)
        return 2
    checkout = Path(options.checkout).resolve()
    folder = OWN_SCRIPTS if options.own else suite(checkout)
    library = None if options.kernel else options.library.resolve()
    versions: list[Version] = [options.version] if options.version else ["ipv4", "ipv6"]
    outcomes = run_all(checkout, folder, versions, library, options.only, options.jobs)
    if options.show:
        for outcome in outcomes:
            if not outcome.passed:
                print(f"=== {outcome.version} {outcome.script}\n{outcome.message}\n")
    print(table(outcomes))
    if not options.only and not options.own:
        RESULTS.mkdir(parents=True, exist_ok=True)
        target = RESULTS / ("kernel.json" if options.kernel else "endpoint.json")
        target.write_text(json.dumps([asdict(outcome) for outcome in outcomes], indent=1) + "\n", encoding="utf-8")
    if options.kernel:
        return 0
    lines = surprises(outcomes, {} if options.own else expected_to_fail())
    print("\n".join(lines))
    return int(any(line.startswith("failed") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
