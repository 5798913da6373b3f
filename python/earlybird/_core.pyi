"""The compiled part: scenarios and the simulator. Use it through `earlybird`, not directly."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from os import PathLike
from typing import Any, Literal, Protocol, Self, final

__all__ = [
    "ControlEvent",
    "ControlSetup",
    "Episode",
    "HostError",
    "NamespaceError",
    "PanicException",
    "ResolvedNetwork",
    "ResolvedScenario",
    "ScenarioError",
    "_panic",
    "check_address",
    "check_serve_transport",
    "code_version",
    "duration",
    "emulate",
    "is_network",
    "load_agent",
    "load_class",
    "load_library",
    "rate",
    "schema",
    "serve",
    "tcp_segments",
    "trace_times",
    "transmit",
    "transports",
    "version",
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

@final
class PanicException(BaseException):
    """A panic of the compiled part: a bug."""

class _Outputs(Protocol):
    """The files that a run writes, see `earlybird.outputs.Outputs`."""

    @property
    def files(self) -> dict[str, str]: ...
    @property
    def flows(self) -> list[str]: ...

@final
class ResolvedNetwork:
    """A complete, valid network without traffic."""

    def __new__(
        cls, text: str, overrides: list[tuple[str, str]] = ..., folder: str = "", source: str | None = None
    ) -> Self:
        """Parse TOML or JSON; `folder` has the files that it names, `source` is the file's name in errors."""

def is_network(text: str) -> bool:
    """Return whether a text is that of a network by itself and not of a scenario."""

@final
class ResolvedScenario:
    """A complete, valid scenario; equal ones have the same canonical JSON. It can be pickled."""

    title: str | None
    backend: str
    """The name of what executes its runs: `sim`, `live` or `kernel`."""
    duration: str
    """The length of a run, as scenarios write it."""
    duration_s: float
    parameters: list[str]
    """The names of its parameters."""
    flow_groups: list[tuple[str, int]]
    """The name and the number of flows of each group."""
    bottleneck: str | None
    """The link of which the summary reports, if the scenario names it."""
    series: str | None
    """The time between two samples of the series, if there are series."""
    sweep_grid: dict[str, list[Any]]
    sweep_seeds: int | list[int]
    """The number of seeds, counted from 1, or the seeds."""

    def __new__(
        cls, text: str, overrides: list[tuple[str, str]] = ..., folder: str = "", source: str | None = None
    ) -> Self:
        """Parse TOML or JSON; `folder` has the files that it names, `source` is the file's name in errors."""

    def to_json(self) -> str:
        """Return the canonical JSON: sorted keys, all defaults filled in, no spaces."""

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary with the keys of the TOML form."""

    def measuring(self, period_ns: int) -> ResolvedScenario:
        """Return the scenario with deliveries, and with series of this period if it has none."""

    def check_backend(self) -> None:
        """Raise ScenarioError if the backend does not support everything that the scenario asks for."""

    def warnings(self) -> list[str]:
        """Return what is valid but probably not meant, one paragraph each."""

    def unused(self) -> list[str]:
        """Return what is declared and has no effect, one paragraph each."""

    def output_warnings(self, outputs: _Outputs) -> list[str]:
        """Return what to expect of the files that a run is to write, one paragraph each."""

    def estimate(self, limit: float, outputs: _Outputs | None = None) -> tuple[float, float, float]:
        """
        Return the cost of a run: packets, seconds of processor time, bytes of memory.

        Raises ScenarioError if that is more than `limit` bytes.
        """

    def random_parts(self) -> list[str]:
        """Return the keys under which something is drawn at random that can matter."""

    def run(
        self, seed: int, outputs: _Outputs | None = None, watch: Callable[[float], object] | None = None
    ) -> dict[str, Any]:
        """
        Run the scenario in its backend; return its `summary`, its `tables` of columns and the `cpu_s` it took.

        `watch` is called some twenty times a second with the share that is done; its exception ends the run.
        """

def rate(text: str) -> int:
    """Read a rate as scenarios write it; return bits per second."""

def duration(text: str) -> float:
    """Read a duration as scenarios write it; return seconds."""

def trace_times(text: str, file: str) -> list[int]:
    """Return the milliseconds at which a trace has delivery opportunities; `file` names it in errors."""

@final
class Episode:
    """A run in a thread of its own, which waits for the window of its flow with transport `agent` at each interval."""

    def __new__(cls, scenario: ResolvedScenario, seed: int, length: float | None = None) -> Self:
        """Start a run; intervals have `length` seconds, or one round trip without it."""

    def wait(self) -> tuple[dict[str, float | None] | None, dict[str, Any] | None]:
        """Wait for the end of an interval; return its measurements, or the run's result, as `run` does."""

    def decide(self, cwnd: float) -> None:
        """Continue the run with a window in segments."""

    def close(self) -> None:
        """End the run and wait for its thread."""

def load_agent() -> None:
    """Add the transport `agent`, whose window a program decides, to those of this process."""

@final
class ControlSetup:
    """The settings of a connection, as `__init__` of a congestion control gets them."""

    @property
    def initial_window(self) -> float:
        """Window to begin with, in segments."""
    @property
    def largest_window(self) -> float:
        """Largest allowed window in segments."""
    @property
    def mss(self) -> float:
        """Payload of a full segment in bytes."""
    @property
    def seed(self) -> int:
        """Seed for random numbers: equal for equal runs, different for each connection."""

@final
class ControlEvent:
    """An event of a connection, as the methods of a congestion control get it."""

    @property
    def now(self) -> float:
        """Time in seconds since the beginning of the run."""
    @property
    def acked(self) -> float:
        """Segments newly delivered by the ACK, in order or not."""
    @property
    def growth(self) -> float:
        """Segments by which the ACK may grow the window in slow start: 0 in recovery, and if the window is not used."""
    @property
    def rtt(self) -> float | None:
        """Round-trip time in seconds."""
    @property
    def in_flight(self) -> float:
        """Segments sent and neither delivered nor lost; at a loss those sent and not acknowledged."""
    @property
    def delivery_rate(self) -> float | None:
        """Delivery rate in segments per second."""
    @property
    def delivered(self) -> float:
        """Segments delivered so far."""
    @property
    def lost(self) -> float:
        """Segments found lost since the ACK before."""
    @property
    def is_app_limited(self) -> bool:
        """Whether the application had less to send than the window allows."""
    @property
    def is_mark(self) -> bool:
        """Whether an ECN mark was echoed and no segment was lost."""

def load_library(path: str, build: str) -> str:
    """Load a library of the C interface; return the name of its congestion control."""

def load_class(kind: Callable[..., object], name: str, title: str, path: str, build: str) -> str:
    """Load a class as a congestion control; return its name."""

def schema() -> str:
    """Return the JSON schema of scenarios."""

def transports() -> str:
    """Return the table of transports as JSON: a list of objects with name, names, title, source and parameters."""

class NamespaceError(OSError):
    """The system gives no network namespace with a TUN device."""

class HostError(OSError):
    """The system does not let the process add a device to its network."""

def emulate(
    source: ResolvedScenario | ResolvedNetwork,
    seed: int,
    command: list[str],
    *,
    servers: list[list[str]],
    far: Literal["machine", "own", "gateway"],
    resolver: str | None = None,
    mtu: int,
    flow: str | None = None,
    pcap: str | None = None,
    watch: Callable[[dict[str, Any] | None], object],
) -> dict[str, Any]:
    """
    Run a command whose packets cross a network; return how it ended and what the network did.

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

def check_serve_transport(name: str) -> None:
    """Raise `ScenarioError` if there is no such transport, or ordinary clients cannot receive from it."""

def serve(
    address: IPv4Address | IPv6Address,
    port: int,
    server: tuple[IPv4Address | IPv6Address, int],
    *,
    device: str,
    transport: str,
    max_connections: int,
    idle_timeout_s: float,
    watch: Callable[[dict[str, Any] | None], bool | None],
) -> dict[str, Any]:
    """
    Accept connections behind a TUN device and forward their bytes to a server; return the last report.

    `watch` is called many times a second, with a report once a second. With `None` open connections may end, with false
    they are reset; what it raises ends the proxy at once.
    """

def tcp_segments(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a capture's TCP segments: `packets`, why it `breaks_off`, `connections`, and `segments` as columns."""

def version() -> str:
    """Return the version of earlybird."""

def code_version(backend: str = "sim") -> str:
    """Return the hash of the code that determines the results of a backend."""

def _panic() -> None:
    """Panic: for the test that a panic becomes an exception."""
