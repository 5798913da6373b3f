"""The parts that need no privileges: each in a process that has dropped its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from conftest import HUNG, REPOSITORY
from test_transmit import free_port

NOBODY = 65534
NOT_ALLOWED = "this system gives no network namespace"

DROP = f"""
import ctypes, os, sys, threading, numpy
from earlybird.loading import resolve
from earlybird.emulation import emulate, link, network
from earlybird.errors import EarlybirdError
from earlybird.limits import memory_guard
from earlybird.runs import execute
from earlybird.transmission import transmit
memory_guard()  # loads what is read later, which a user may not read where root has installed it
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
    ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE, as for a program that was never root's
assert os.geteuid() != 0
"""

SIMULATION = """
assert execute(resolve({scenario!r}, {{"duration": "6s"}}), 1).summary["seed"] == 1
"""

KERNEL = """
text = resolve({scenario!r}, {{"duration": "6s", "backend": "kernel"}})
assert execute(text, 1).summary["seed"] == 1
"""

EMULATION = """
shape = link(rate="10M", delay="5ms")
assert emulate(network(shape, shape), ["true"], servers=[["true"]]).exit_code == 0
"""

THIS_MACHINE = """
shape = link(rate="10M")
try:
    emulate(network(shape, shape), ["true"])
except EarlybirdError as error:
    assert "--server" in str(error) or {not_allowed!r} in str(error), error
else:
    sys.exit("an ordinary user has changed the machine's network")
"""

RELAYS = """
came = threading.Event()
def watch(state):
    if state and state["peers"]:
        came.set()
    return not came.is_set()
ends = [("udp://:{ports[0]}", "eb://:{ports[1]}?insecure=1"), ("eb://127.0.0.1:{ports[1]}", "udp://127.0.0.1:{ports[0]}")]
relays = [threading.Thread(target=transmit, args=both, kwargs=dict(watch=watch)) for both in ends]
for relay in relays:
    relay.start()
assert came.wait({hung})
for relay in relays:
    relay.join()
"""


@pytest.mark.parametrize(
    "part",
    [SIMULATION, KERNEL, EMULATION, THIS_MACHINE, RELAYS],
    ids=["run", "kernel", "emulate", "machine", "transmit"],
)
def test_an_ordinary_user_may(part: str) -> None:
    scenario = str(REPOSITORY / "scenarios" / "linux-download.toml")
    ports = (free_port(), free_port())
    script = DROP + part.format(scenario=scenario, ports=ports, hung=HUNG, not_allowed=NOT_ALLOWED)
    finished = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=HUNG)
    if NOT_ALLOWED in finished.stderr:
        pytest.skip(finished.stderr.splitlines()[-1])
    assert finished.returncode == 0, finished.stderr


def test_a_port_of_roots_is_named() -> None:
    script = DROP + "transmit('udp://:4999', 'eb://:80?insecure=1')"
    finished = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True, timeout=HUNG)
    lowest = REPOSITORY.joinpath("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()
    if int(lowest) <= 80:
        pytest.skip("every port is everybody's here")
    assert "eb://:80?insecure=1: Ports below 1024 need root." in finished.stderr
