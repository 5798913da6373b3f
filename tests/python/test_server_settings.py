"""Settings of a server: applied, checked and undone in a network namespace, for which root is needed."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from earlybird import kernel
from earlybird.cli.application import application
from earlybird.errors import EarlybirdError, InputError
from earlybird.planning.advice import advice, server_settings
from earlybird.planning.candidates import Candidate, candidate
from earlybird.planning.path import Measurements, completed
from earlybird.planning.server_settings import BEFORE, CONGESTION_CONTROL, ServerSettings
from earlybird.planning.stream import StreamSpec, synthetic_clip

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from earlybird.planning.stream import Goal

LINE = completed(Measurements(rate=20e6, round_trip=0.06))
LONG_LINE = completed(Measurements(rate=1e9, round_trip=0.1))
DELAY = 0.5
VIEWER = "10.93.0.2"

SETUP = """
mount --make-rprivate /
for folder in /run /var/lib /etc/sysctl.d /etc/modules-load.d /etc/systemd/system; do
    [ ! -d $folder ] || mount -t tmpfs none $folder
done
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
ip link add server type veth peer name viewer
ip address add 10.93.0.1/24 dev server
ip link set server up; ip link set viewer up
ip route add default via 10.93.0.2 dev server mtu lock 1400
echo ready; exec sleep 600
"""
"""A server as its programs see it: folders of settings that are empty, no systemd, and a default route."""

PASSPHRASE = "correct horse $battery"

STATE = (
    "sysctl -a 2> /dev/null | grep -E '^net.(core|ipv4.tcp)'; ip route; ip -6 route;"
    " find /etc/sysctl.d /etc/modules-load.d /etc/systemd/system /var/lib"
)

WITH_TIMER = Candidate("sack+rto-min", "sack", {"rto": {"floor": "50ms"}})
"""As cubic+rto-min, over a congestion control that every namespace may select."""


class Server:
    """A network namespace with its own folders of settings, held by a process."""

    def __init__(self, holder: int, folder: Path) -> None:
        """Take the namespaces of a process, and a folder for scripts."""
        self.holder, self.script, self.programs = holder, folder / "server.sh", folder
        self.add("earlybird", f'exec {sys.executable} -m earlybird "$@"')

    def add(self, name: str, shell: str) -> None:
        """Add a program to those that are found there."""
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{shell}\n", encoding="utf-8")
        program.chmod(0o755)

    def run(self, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a shell command there."""
        path = f"{self.programs}:/usr/sbin:/sbin:{os.environ['PATH']}"
        return subprocess.run(
            ["nsenter", "-t", str(self.holder), "-n", "-m", "sh", "-c", command],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, "PATH": path, **environment},
        )

    def ask(self, command: str, **environment: str) -> str:
        """Run a shell command there that has to succeed, and return what it prints."""
        done = self.run(command, **environment)
        assert done.returncode == 0, (command, done)
        return done.stdout

    def write(self, settings: ServerSettings, title: str = "a test") -> str:
        """Write the script of settings, and return the command that runs it."""
        settings.write(self.script, title)
        return f"sh {self.script}"


@contextlib.contextmanager
def namespace(folder: Path) -> Iterator[Server]:
    """Make a namespace; skip the test where that is not allowed."""
    command = ["unshare", "--net", "--mount", "sh", "-euc", SETUP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stderr is not None
            if holder.stdout.readline() != "ready\n":
                pytest.skip(f"this system gives no network namespace: {holder.stderr.read().strip()}")
            yield Server(holder.pid, folder)
        finally:
            holder.kill()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with namespace(tmp_path) as made:
        yield made


def film(goal: Goal = "live") -> StreamSpec:
    return StreamSpec(synthetic_clip(4e6, goal), goal, 300.0)


def settings_of(sender: Candidate) -> ServerSettings:
    return server_settings(sender, LINE, film(), DELAY)


def can_be_set(server: Server, sender: Candidate) -> None:
    """Skip a congestion control that this machine's namespaces do not select."""
    control = settings_of(sender).control
    if control == "pert":
        try:
            missing = [one for one in kernel.check() if one["met"] is False and "only)" not in one["name"]]
        except EarlybirdError as error:
            pytest.skip(str(error))
        if missing:
            pytest.skip(f"{missing[0]['name']}: {missing[0]['found']}")
    elif server.run(f"sysctl -w {CONGESTION_CONTROL}={control} && sysctl -w {CONGESTION_CONTROL}=reno").returncode:
        pytest.skip(f"namespaces of this kernel may not select {control}")


IN_THE_KERNEL = [candidate(name) for name in ("cubic", "cubic+rto-min", "bbr", "vegas", "pert-rack", "sack")]


@pytest.mark.parametrize("sender", [*IN_THE_KERNEL, WITH_TIMER], ids=lambda sender: sender.name)
def test_the_script_applies_checks_and_undoes(server: Server, sender: Candidate) -> None:
    can_be_set(server, sender)
    script, before = server.write(settings_of(sender)), server.ask(STATE)
    assert server.run(f"{script} check").returncode == 1
    assert "nothing to undo" in server.run(f"{script} undo").stderr
    server.ask(f"{script} apply")
    applied = server.ask(STATE)
    assert applied != before
    assert f"{CONGESTION_CONTROL} = {settings_of(sender).control}\n" in applied
    checked = server.ask(f"{script} check")
    assert "WRONG" not in checked
    server.ask(f"{script} apply")
    assert server.ask(STATE) == applied
    server.ask(f"{script} undo")
    assert server.ask(STATE) == before


@pytest.mark.parametrize("sender", [*IN_THE_KERNEL, WITH_TIMER], ids=lambda sender: sender.name)
@pytest.mark.parametrize("interface", [None, "server"])
def test_the_printed_commands_are_accepted_and_undone(server: Server, sender: Candidate, interface: str | None) -> None:
    can_be_set(server, sender)
    server.ask("ip route change default via 10.93.0.2 dev server rto_min 80ms")
    before = server.ask(STATE)
    lines = [
        line.replace("VIEWER", VIEWER if interface else "192.0.2.1").replace(BEFORE, "/run/before")
        for line in advice(sender, LINE, film(), DELAY, interface)
        if not line.startswith("#")
    ]
    assert lines[-1].endswith("# undo")
    for line in lines[:-1]:
        server.ask(line)
    assert f"{CONGESTION_CONTROL} = {settings_of(sender).control}\n" in server.ask(STATE)
    assert ("rto_min lock 50ms" in server.ask("ip route")) == bool(settings_of(sender).rto_min)
    server.ask(lines[-1])
    after = server.ask(STATE)
    # Typed lines keep no former rto_min, which the script does.
    assert after == (before.replace(" rto_min lock 80ms", "") if settings_of(sender).rto_min else before)


def test_a_former_timeout_of_the_route_is_restored(server: Server) -> None:
    server.ask("ip route change default via 10.93.0.2 dev server rto_min 80ms initcwnd 20 mtu lock 1400")
    before = server.ask(STATE)
    script = server.write(ServerSettings("reno", rto_min="50ms", interface="server"))
    server.ask(f"{script} apply; {script} apply")
    route = server.ask("ip route show default")
    assert "rto_min lock 50ms" in route
    assert "initcwnd 20" in route
    assert "mtu lock 1400" in route
    assert "ExecStart=/bin/sh /var/lib/earlybird/settings.sh start" in server.ask("cat /etc/systemd/system/*.service")
    server.ask("ip route change default via 10.93.0.2 dev server; sh /var/lib/earlybird/settings.sh start")
    assert "ok     default" in server.ask(f"{script} check")  # as after a restart
    server.ask(f"{script} undo")
    assert server.ask(STATE) == before


def test_only_the_route_to_a_named_viewer_gets_the_timeout(server: Server) -> None:
    script = server.write(ServerSettings("reno", rto_min="50ms"))
    before = server.ask(STATE)
    server.ask(f"{script} apply", VIEWER=VIEWER)
    assert re.findall(r"^(\S+).*rto_min", server.ask("ip route"), re.MULTILINE) == ["10.93.0.0/24"]
    assert server.run(f"{script} check", VIEWER=VIEWER).returncode == 0
    assert "Environment=VIEWER=10.93.0.2" in server.ask("cat /etc/systemd/system/*.service")
    server.ask(f"{script} undo")
    assert server.ask(STATE) == before


def test_an_interface_without_a_route_is_named(server: Server) -> None:
    done = server.run(f"{server.write(ServerSettings('reno', rto_min='50ms', interface='viewer'))} apply")
    assert done.returncode == 1
    assert "there is no default route over viewer" in done.stderr


def test_settings_of_another_plan_are_undone_first(server: Server, tmp_path: Path) -> None:
    before = server.ask(STATE)
    server.ask(f"{server.write(server_settings(candidate('sack'), LONG_LINE, film(), DELAY))} apply")
    assert "tcp_wmem = 4096\t16384\t50000000" in server.ask(STATE)
    server.script = tmp_path / "second.sh"
    script = server.write(ServerSettings("bbr"))
    server.ask(f"{script} apply")
    assert "50000000" not in server.ask(STATE)
    server.ask(f"{script} undo")
    assert server.ask(STATE) == before


def test_a_file_of_somebody_else_is_kept(server: Server) -> None:
    server.ask("echo net.ipv4.tcp_sack=1 > /etc/sysctl.d/90-earlybird.conf")
    before = server.ask(STATE)
    done = server.run(f"{server.write(ServerSettings('bbr'))} apply")
    assert done.returncode == 1
    assert "90-earlybird.conf is there already" in done.stderr
    assert server.ask(STATE) == before


def test_a_later_file_that_counts_after_a_restart_is_reported(server: Server) -> None:
    script = server.write(ServerSettings("bbr"))
    server.ask(f"echo {CONGESTION_CONTROL} = cubic > /etc/sysctl.d/99-local.conf; {script} apply")
    done = server.run(f"{script} check")
    assert done.returncode == 1
    assert f"WRONG  /etc/sysctl.d/99-local.conf sets {CONGESTION_CONTROL} too" in done.stdout
    server.ask(f"echo {CONGESTION_CONTROL} = bbr > /etc/sysctl.d/99-local.conf; {script} check")


def test_a_route_that_lost_the_timeout_is_reported(server: Server) -> None:
    script = server.write(ServerSettings("reno", rto_min="50ms", interface="server"))
    server.ask(f"{script} apply; ip route change default via 10.93.0.2 dev server")
    done = server.run(f"{script} check")
    assert done.returncode == 1
    assert "without rto_min 50ms" in done.stdout


@pytest.mark.parametrize("name", ["srt", "earlybird-rt"])
def test_a_relay_becomes_a_service(server: Server, name: str) -> None:
    program = settings_of(candidate(name)).command[0]
    if name == "srt" and not shutil.which(program):
        pytest.skip(f"{program} is missing (Debian: srt-tools)")
    server.add("systemctl", 'echo "$@" >> /run/asked')
    script = server.write(settings_of(candidate(name)))
    assert "no systemd runs here" in server.run(f"{script} apply", VIEWER="127.0.0.1").stderr
    server.ask("rm -rf /var/lib/earlybird; mkdir -p /run/systemd/system")
    assert "VIEWER=ADDRESS" in server.run(f"{script} apply").stderr
    server.ask("rm -rf /var/lib/earlybird")
    before = server.ask(STATE)
    if name == "earlybird-rt":
        for wrong in ("too short", "with a ' in it"):
            assert "PASSPHRASE" in server.run(f"{script} apply", VIEWER="127.0.0.1", PASSPHRASE=wrong).stderr
    server.ask(f"{script} apply", VIEWER="127.0.0.1", PASSPHRASE=PASSPHRASE)
    assert PASSPHRASE not in server.ask("cat /etc/systemd/system/earlybird-sender.service")
    if name == "earlybird-rt":
        assert server.ask("stat -c %a /var/lib/earlybird/environment") == "600\n"
        assert server.ask(". /var/lib/earlybird/environment; echo $EARLYBIRD_PASSPHRASE") == f"{PASSPHRASE}\n"
    unit = server.ask("cat /etc/systemd/system/earlybird-sender.service")
    started = re.search("^ExecStart=(.*)", unit, re.MULTILINE)
    assert started
    assert "VIEWER" not in started[1]
    assert "latency=470" in started[1]
    if shutil.which("systemd-analyze"):
        assert not server.ask("systemd-analyze verify /etc/systemd/system/earlybird-sender.service 2>&1")
    # Neither argument is refused: the relay runs until it is ended.
    first, *rest = started[1].split()
    quoted = " ".join(f"'{word}'" for word in rest)
    assert server.run(f"timeout 3 {first} {quoted}", EARLYBIRD_PASSPHRASE=PASSPHRASE).returncode == 124
    assert "ok" in server.ask(f"{script} check")
    server.ask(f"{script} undo")
    assert server.ask(STATE) == before
    assert server.ask("cat /run/asked").splitlines()[-2:] == [
        "-q disable --now earlybird-sender.service",
        "daemon-reload",
    ]


def free_port() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        return str(unused.getsockname()[1])


def test_the_receiver_took_streams_of_everybody() -> None:
    lines = advice(candidate("earlybird-rt"), LINE, film(), DELAY)
    receiver = next(line for line in lines if "at the viewer" in line)
    commands = [receiver.partition("viewer: ")[2].partition("; undo")[0], lines[0]]
    assert not any("insecure" in command for command in commands)
    stream, film_in, film_out = free_port(), free_port(), free_port()
    known = {"PASSPHRASE earlybird": f"'{PASSPHRASE}' exec {sys.executable} -m earlybird", "VIEWER": "127.0.0.1"}
    known |= {"4201": stream, "1234": film_in, "5000": film_out}
    for word, value in known.items():
        commands = [command.replace(word, value) for command in commands]
    commands = [re.sub("^(\\S+='.*?') ", r"export \1; ", command) for command in commands]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as player, contextlib.ExitStack() as running:
        player.bind(("127.0.0.1", int(film_out)))
        player.settimeout(0.2)
        for command in commands:
            running.callback(running.enter_context(subprocess.Popen(["sh", "-c", command])).kill)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            player.sendto(b"a frame", ("127.0.0.1", int(film_in)))
            with contextlib.suppress(TimeoutError):
                assert player.recv(100) == b"a frame"
                return
    pytest.fail("nothing arrived")


def test_scripts_have_no_findings_of_shellcheck(tmp_path: Path) -> None:
    if not shutil.which("shellcheck"):
        pytest.skip("shellcheck is missing (Debian: shellcheck)")
    for sender in [*IN_THE_KERNEL, WITH_TIMER, candidate("srt"), candidate("earlybird-rt")]:
        script = tmp_path / f"{sender.name}.sh"
        server_settings(sender, LONG_LINE, film(), DELAY, "ens3").write(script, sender.name)
        done = subprocess.run(["shellcheck", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["udp", "quic"])
def test_a_sender_without_settings_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"nothing to set on a server for {name}"):
        settings_of(candidate(name)).write(tmp_path / "server.sh", name)


def test_early_retransmission_is_no_setting_of_the_kernel() -> None:
    assert settings_of(candidate("pert-er")).command[:2] == ("earlybird", "transmit")
    assert settings_of(candidate("bbr-er")).command[:2] == ("earlybird", "transmit")
    stored = advice(candidate("cubic-er"), LINE, film("vod"), DELAY)
    assert len(stored) == 1
    assert "no web server sends with cubic-er" in stored[0]


@pytest.mark.parametrize("name", ["cubic", "cubic+rto-min", "bbr", "bbr3", "pert-rack", "sack", "sack-er"])
def test_settings_of_web_servers_have_no_relay(name: str) -> None:
    lines = advice(candidate(name), LINE, film("vod"), DELAY)
    assert not any("earlybird transmit" in line for line in lines)
    assert any("web server" in line or "nginx" in line for line in lines)
    assert sum(not line.startswith("#") for line in lines) <= 6


def test_no_interface_is_invented(tmp_path: Path) -> None:
    lines = "\n".join(advice(candidate("cubic+rto-min"), LINE, film(), DELAY))
    assert "route get fibmatch VIEWER" in lines
    assert " dev " not in lines
    assert "dev ens3" in "\n".join(advice(candidate("cubic+rto-min"), LINE, film(), DELAY, "ens3"))
    script = tmp_path / "server.sh"
    settings_of(candidate("cubic+rto-min")).write(script, "cubic+rto-min")
    assert "eth0" not in script.read_text(encoding="utf-8")


def test_the_command_writes_the_settings_and_replaces_only_its_own(tmp_path: Path) -> None:
    script = tmp_path / "server.sh"
    given = ["plan", "--bitrate", "4M", "--rate", "20M", "--rtt", "60ms", "--loss", "1%", "--seeds", "3"]
    given += ["--duration", "20s", "--transport", "bbr", "--write-settings", str(script), "--interface", "ens3"]
    for _ in range(2):
        done = CliRunner().invoke(application, given)
        assert done.exit_code == 0, done.output
        assert f"Written: {script}" in done.output
    assert "CONTROL=bbr\n" in script.read_text(encoding="utf-8")
    assert os.access(script, os.X_OK)
    script.write_text("mine", encoding="utf-8")
    refused = CliRunner().invoke(application, given)
    assert refused.exit_code == 2
    assert script.read_text(encoding="utf-8") == "mine"
