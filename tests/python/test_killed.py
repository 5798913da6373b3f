"""Commands that are killed (SIGKILL) at random moments leave nothing; ``KILLS`` in the environment sets how often."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from conftest import HUNG, command
from earlybird import kernel
from earlybird.errors import EarlybirdError
from earlybird.testbed import needs
from test_backends import SCENARIO
from test_testbed import BED, running

if TYPE_CHECKING:
    from collections.abc import Iterator

KILLS: Final = int(os.environ.get("KILLS", "2"))
BEYOND: Final = 1.2
"""Times how long a command takes to begin, within which it is killed."""
STUBBORN: Final = "trap '' TERM HUP; sh -c 'sleep 600' & sleep 600; sleep 600"
"""A shell with children that does not end when it is asked to."""
PERT: Final = f"pert_k{os.getpid() % 100_000}"

LINES: Final = {
    "emulate": ("emulate", "--rate", "10M", "--", "sh", "-c", STUBBORN),
    "emulate --server": ("emulate", "--rate", "10M", "--server", f'sh -c "{STUBBORN}"', "--", "sh", "-c", STUBBORN),
    "emulate --internet": ("emulate", "--rate", "10M", "--internet", "--", "sh", "-c", STUBBORN),
    "emulate --internet --server": (
        *("emulate", "--rate", "10M", "--internet", "--server", f'sh -c "{STUBBORN}"', "--", "sh", "-c", STUBBORN),
    ),
    "run --backend live": ("run", "{folder}/bulk.toml", "--backend", "live", "--set", "duration=60s"),
    "run --backend kernel": ("run", "{folder}/bulk.toml", "--backend", "kernel", "--set", "duration=60s"),
    "testbed": ("testbed", "run", "{folder}/bed.toml"),
    "kernel run": ("kernel", "run", "pert", "--name", PERT, "--", "sh", "-c", STUBBORN),
    "serve": ("serve", "--listen", "10.76.0.2:80", "--to", "127.0.0.1:8080"),
    "transmit via=tun": ("transmit", "eb://10.79.0.2:4201?mode=listener&via=tun&insecure=1", "file:/dev/null"),
}


class Network:
    """Network and mount namespaces of a test: what is there was made by the command that runs in it."""

    def __init__(self, process: int) -> None:
        self._enter = ["nsenter", f"--net=/proc/{process}/ns/net", f"--mount=/proc/{process}/ns/mnt"]

    def start(self, folder: Path, mark: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Run the program in it; its processes have a mark in their environment, and temporary files of their own."""
        environment = {**os.environ, mark: "1", "TMPDIR": str(folder / "temporary")}
        line = [*self._enter, *command(*(word.replace("{folder}", str(folder)) for word in arguments))]
        with (folder / "errors").open("wb") as errors:
            return subprocess.Popen(
                line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )

    def state(self) -> str:
        """Describe devices, routes, rules, forwarding, named namespaces and mounts."""
        commands = (
            ["ip", "-brief", "link"],
            ["ip", "route", "show", "table", "all"],
            ["ip", "rule"],
            ["nft", "list", "ruleset"],
            ["ip", "netns"],
            ["cat", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"],
            ["sh", "-c", "grep -c . /proc/self/mountinfo"],
        )
        script = "; ".join(" ".join(f"'{word}'" for word in words) for words in commands)
        return subprocess.run([*self._enter, "sh", "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def network() -> Iterator[Network]:
    """Make namespaces that nobody else uses."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("ip", "nft", "iptables", "nsenter"))):
        pytest.skip("needs root, ip, nft, iptables and nsenter")
    line = ["unshare", "--net", "--mount", "sh", "-c", "ip link set lo up && echo ready && exec cat"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        if holder.stdout.readline() != b"ready\n":
            pytest.skip("this system gives no namespaces")
        made = Network(holder.pid)
        # Empty chains of iptables stay when the last rule is deleted; they exist from the start here.
        for rule in ("FORWARD -j ACCEPT", "POSTROUTING -t nat -j ACCEPT"):
            for action in "-A", "-D":
                subprocess.run([*made._enter, "iptables", action, *rule.split()], check=True)
        yield made
        holder.communicate()


def require(name: str) -> None:
    """Skip the test where the machine lacks something that a command needs."""
    tools = {"emulate --internet --server": "slirp4netns"}
    if name in tools and not shutil.which(tools[name]):
        pytest.skip(f"there is no {tools[name]}")
    try:
        if name == "testbed":
            needs.check({"chromium"})
        unmet = [each for each in kernel.check(PERT) if each["met"] is False] if name == "kernel run" else []
    except EarlybirdError as error:
        pytest.skip(str(error))
    if any("only)" not in condition["name"] for condition in unmet):
        pytest.skip(str(unmet))


def programs_and_groups() -> list[str]:
    """Return what the kernel has of eBPF by the name of this test, and its control groups."""
    try:
        registered = [PERT] if PERT in kernel.status()["registered"] else []
    except EarlybirdError:
        registered = []
    return registered + [path.name for path in Path("/sys/fs/cgroup").glob(f"**/earlybird-{PERT}*")]


@contextmanager
def prepared(folder: Path) -> Iterator[str]:
    """Write what the commands read; yields a mark for the processes of one of them."""
    (folder / "temporary").mkdir()
    (folder / "bulk.toml").write_text(SCENARIO, encoding="utf-8")
    (folder / "bed.toml").write_text(BED.replace('["vlc", "chromium"]', '["chromium"]'), encoding="utf-8")
    mark = f"EARLYBIRD_KILLED_{os.getpid()}_{time.monotonic_ns()}"
    try:
        yield mark
    finally:
        for place in Path("/proc").glob("[0-9]*"):
            try:
                if mark.encode() in (place / "environ").read_bytes():
                    os.kill(int(place.name), signal.SIGKILL)
            except OSError:
                continue  # it has just ended


def has_namespace(process: int) -> bool:
    """Return whether a process holds the file of a network namespace."""
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if str(file.readlink()).startswith("net:["):
                return True
    return False


def time_to_begin(network: Network, before: str, process: subprocess.Popen[bytes], mark: str, folder: Path) -> float:
    """Wait until a command has a namespace, a device, a rule or another process, and a second more; return how long."""
    began = time.monotonic()
    while time.monotonic() < began + HUNG:
        assert process.poll() is None, (folder / "errors").read_text()
        if has_namespace(process.pid) or network.state() != before or len(running(mark)) > 1:
            time.sleep(1)
            return time.monotonic() - began
        time.sleep(0.05)
    pytest.fail("it does not begin")


def left_over(network: Network, before: str, folder: Path, mark: str) -> list[str]:
    """Return what is there still after some seconds, in which helpers undo what was done."""
    end = time.monotonic() + 15
    while True:
        after = network.state()
        left = [f"process: {line}" for line in running(mark)] + programs_and_groups()
        left += sorted(set(after.splitlines()) ^ set(before.splitlines()))
        left += [str(path) for path in (folder / "temporary").iterdir()]
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.root
@pytest.mark.parametrize("name", LINES)
def test_nothing_is_left_by_a_command_that_is_killed(network: Network, tmp_path: Path, name: str) -> None:
    require(name)
    draw, before = random.Random(name), network.state()
    with prepared(tmp_path) as mark:
        after = longest = 0.0
        for turn in range(KILLS):
            process = network.start(tmp_path, mark, *LINES[name])
            if turn:
                after = draw.uniform(0, longest)
                time.sleep(after)
            else:  # killed in the midst of its work, which shows how long it takes to begin
                longest = BEYOND * time_to_begin(network, before, process, mark, tmp_path)
            assert process.poll() is None, (tmp_path / "errors").read_text()
            process.kill()
            process.wait(HUNG)
            assert left_over(network, before, tmp_path, mark) == [], f"killed after {after:.3f} s"
