"""The compiled part: scenarios and the simulator. Use it through `earlybird`, not directly."""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, final

__all__ = [
    "HostError",
    "NamespaceError",
    "ScenarioError",
    "check_address",
    "check_backend",
    "code_version",
    "duration",
    "emulate",
    "estimate",
    "output_warnings",
    "random_parts",
    "rate",
    "resolve",
    "run",
    "schema",
    "tcp_segments",
    "transmit",
    "transports",
    "unused",
    "version",
    "warnings",
]

@final
class ScenarioError(ValueError):
    """A scenario that cannot be run; `str()` is one paragraph for the person who wrote it."""

    path: str
    """Where in the scenario, as a dotted key path."""
    value: str
    """What stands there."""
    allowed: str
    """What may stand there."""
    hint: str
    """What to do about it."""

def resolve(text: str, overrides: list[tuple[str, str]], folder: str = "") -> str:
    """Turn TOML or JSON into the canonical JSON of the complete, valid scenario; `folder` has the files it names."""

def unused(scenario_json: str) -> list[str]:
    """List what a resolved scenario declares that nothing reads or that cannot matter, one paragraph each."""

def output_warnings(
    scenario_json: str,
    *,
    trace: str | None = None,
    qlog: str | None = None,
    trace_flows: list[str] | None = None,
    pcap: str | None = None,
) -> list[str]:
    """List what of the files that a run is to write is not what one may expect, one paragraph each."""

def warnings(scenario_json: str) -> list[str]:
    """List what in a resolved scenario can be run but is probably not meant, one paragraph each."""

def estimate(
    scenario_json: str,
    limit: float,
    *,
    trace: str | None = None,
    qlog: str | None = None,
    link_trace: str | None = None,
) -> tuple[float, float, float]:
    """
    Tell what a run of a resolved scenario takes: packets, seconds of processor time, bytes of memory.

    Raises ScenarioError if that is more than `limit` bytes.
    """

def random_parts(scenario_json: str) -> list[str]:
    """List the keys of a resolved scenario under which something is drawn at random that can matter."""

def rate(text: str) -> int:
    """Read a rate as scenarios write it; return bits per second."""

def duration(text: str) -> float:
    """Read a duration as scenarios write it; return seconds."""

def schema() -> str:
    """Return the JSON schema of scenarios."""

def transports() -> str:
    """Return the table of transports as JSON: a list of objects with name, names, title, source and parameters."""

def check_backend(scenario_json: str) -> None:
    """Raise ScenarioError if the backend in which a resolved scenario takes place cannot do what it asks for."""

def run(
    scenario_json: str,
    seed: int,
    *,
    trace: str | None = None,
    qlog: str | None = None,
    trace_flows: list[str] | None = None,
    link_trace: str | None = None,
    pcap: str | None = None,
    watch: Callable[[float], object] | None = None,
) -> dict[str, Any]:
    """
    Run a resolved scenario in its backend; return its `summary`, its `tables` of columns and the `cpu_s` it took.

    `watch` is called some twenty times a second with the share that is done; what it raises ends the run.
    """

class NamespaceError(OSError):
    """The system gives no network namespace with a TUN device."""

class HostError(OSError):
    """The system does not let the process add a device to its network."""

def emulate(
    scenario_json: str,
    seed: int,
    command: list[str],
    *,
    peers: list[list[str]],
    far: Literal["machine", "own", "gateway"],
    resolver: str | None = None,
    mtu: int,
    flow: str | None = None,
    pcap: str | None = None,
    watch: Callable[[dict[str, Any] | None], object],
) -> dict[str, Any]:
    """
    Run a command whose packets cross the network of a resolved scenario; return how it ended and what the network did.

    `watch` is called several times a second, with the state of the network once a second; what it raises ends the
    command.
    """

def check_address(text: str) -> None:
    """Raise ValueError, one sentence, if this is no address of a relay's end."""

def transmit(source: str, destination: str, watch: Callable[[dict[str, Any] | None], bool]) -> dict[str, Any]:
    """
    Carry a live stream from one address to another; return the last report.

    `watch` is called many times a second, with a report once a second. With false what is under way is sent and played,
    and the relay ends; what it raises ends it at once.
    """

def tcp_segments(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a capture's TCP segments: `packets`, why it `breaks_off`, `connections`, and `segments` as columns."""

def version() -> str:
    """Return the version of earlybird."""

def code_version(backend: str = "sim") -> str:
    """Return the hash of the code that decides what a run gives in a backend."""
