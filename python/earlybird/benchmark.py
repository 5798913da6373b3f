"""
Measure the speed of the simulator, and of ns-2 on the same scenarios if `ns` is installed.

Every run has a process of its own, and the best of several counts: other work on the machine only ever slows a run.
Processor time is taken around the run itself, not the start of the interpreter; ns-2's start (some 0.05 s) is included
in its time.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from earlybird.errors import EarlybirdError, ScenarioError
from earlybird.limits import cost_of, time_text
from earlybird.loading import DEFAULT_SEED, resolve
from earlybird.paths import REPOSITORY, shipped_file
from earlybird.transports import transports

SECONDS_TO_START = 0.7  # start of an interpreter, once per run

NS2_IS_SLOWER = 10.0  # time of ns-2 ÷ time of earlybird, roughly

STUDIES_SECONDS = 5.0  # time to estimate the cost of every study, roughly

Measured = TypeVar("Measured")


@dataclass(frozen=True)
class Case:
    """A scenario of the benchmark, and the script that does the same in ns-2."""

    name: str
    scenario: str
    script: str


CASES = (
    Case("long-flows-56", "bench-56-flows.toml", "long-flows-56.tcl"),
    Case("dumbbell", "dumbbell.toml", "dumbbell.tcl"),
)


TRANSPORTS_SCENARIO = "bench-transports.toml"  # long transfers of one transport, behind a queue that is never empty


@dataclass(frozen=True)
class Crowd:
    """So many long transfers at once: the 56 of the first case, each with the same share of link and queue."""

    flows: int
    duration: str  # simulated time that makes a second of processor time or less
    counted: str
    """Simulated time that makes some seconds where every instruction is counted (`tools/instructions.py`)."""

    @property
    def settings(self) -> tuple[str, ...]:
        """Overrides of the first case as KEY=VALUE, without the duration."""
        return (
            f"flows.file.count={self.flows}",
            'flows.file.start.uniform=["0s", "250ms"]',
            f"network.dumbbell.bottleneck.rate={25_000_000 * self.flows // 56}b/s",
            f"network.dumbbell.bottleneck.queue.packets={160 * self.flows // 56}",
        )


CROWDS = (
    Crowd(10, "500s", "20s"),
    Crowd(100, "50s", "5s"),
    Crowd(1000, "5s", "1s"),
    Crowd(10_000, "2s", "500ms"),
)

LONGEST_STUDY = "early-retransmission"  # the study whose full scale is measured too

BASELINE = "sack"  # the transport beside which the others are set


@dataclass(frozen=True)
class BenchmarkPlan:
    """The cases of a benchmark; the best of `repeats` counts, and `transports` of None are all."""

    repeats: int
    transports: tuple[str, ...] | None
    crowds: tuple[Crowd, ...]
    ns2: bool
    studies: bool


SHORT = BenchmarkPlan(repeats=1, transports=(BASELINE, "cubic-rack", "bbr-rack"), crowds=(), ns2=False, studies=False)
FULL = BenchmarkPlan(repeats=3, transports=None, crowds=CROWDS, ns2=True, studies=True)


def number_of_runs(plan: BenchmarkPlan = FULL) -> int:
    """Return how many runs `measure_all` makes, those of ns-2 included."""
    programs = 2 if plan.ns2 else 1
    return (len(CASES) * programs + len(_names(plan)) + len(plan.crowds)) * plan.repeats


def duration_text(plan: BenchmarkPlan) -> str:
    """Return roughly how long measuring takes, estimated from the number of packets."""
    cases = sum(_expected(case.scenario) for case in CASES)
    crowds = sum(_expected(CASES[0].scenario, *_settings(crowd)) for crowd in plan.crowds)
    ns2 = cases * NS2_IS_SLOWER if plan.ns2 and shutil.which("ns") else 0.0
    runs = cases + crowds + _expected(TRANSPORTS_SCENARIO) * len(_names(plan)) + ns2
    once = runs + SECONDS_TO_START * number_of_runs(plan) / plan.repeats
    return time_text(once * plan.repeats + (STUDIES_SECONDS if plan.studies else 0.0))


def _expected(scenario: str, *settings: str) -> float:
    """Return the seconds that a run takes on a slow machine."""
    return cost_of(resolve(shipped_file("scenarios", scenario), _overrides(settings))).seconds


def _settings(crowd: Crowd) -> tuple[str, ...]:
    return (*crowd.settings, f"duration={crowd.duration}")


def _overrides(settings: Iterable[str]) -> list[tuple[str, str]]:
    """Split KEY=VALUE, the values as they are written."""
    return [(key, value) for key, _, value in (setting.partition("=") for setting in settings)]


def _names(plan: BenchmarkPlan) -> list[str]:
    return transport_names() if plan.transports is None else [*plan.transports]


def transport_names() -> list[str]:
    """Return the names of all transports that carry a long transfer, without those of the other timer."""
    return [name for one in transports() for name in one.names if _carries_a_transfer(name)]


def _carries_a_transfer(transport: str) -> bool:
    """Return whether a transport can carry a bulk transfer, without the rate or frames of a source."""
    try:
        resolve(shipped_file("scenarios", TRANSPORTS_SCENARIO), {"transport": transport})
    except ScenarioError:
        return False
    return True


def measure_all(plan: BenchmarkPlan = FULL, done: Callable[[], None] = lambda: None) -> Iterator[dict[str, Any]]:
    """
    Measure all cases, the transports, and few to many flows; then estimate the duration of studies.

    Memory is that of the whole process in 10⁶ bytes, per flow in 10³ bytes beyond the fewest flows. An interruption
    passes through when what was measured of the transports is given. `done` is called after each run.
    """
    for case in CASES:
        yield _measure(case, plan, done)
    yield from _measure_transports(plan, done)
    yield from _measure_crowds(plan, done)
    if plan.studies:
        yield from measure_studies()


def measure_studies() -> list[dict[str, Any]]:
    """Estimate how long the studies take on all processors: all at medium, at full the longest one."""
    from earlybird.study.language.library import ALL, choose_studies
    from earlybird.study.runs.cost import estimate, together

    medium = estimate(choose_studies([ALL], "medium"), "medium")
    full = estimate(choose_studies([LONGEST_STUDY], "full"), "full")
    return [cost.row() for cost in (*medium, together(ALL, medium), *full)]


def _measure_transports(plan: BenchmarkPlan, done: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """Measure the transports in turns, so that what else the machine does meets all of them."""
    speeds: dict[str, float] = {}
    interruption: KeyboardInterrupt | None = None
    try:
        for name in _names(plan) * plan.repeats:
            run = _ours(TRANSPORTS_SCENARIO, f"transport={name}")
            speeds[name] = max(speeds.get(name, 0.0), run["packets_per_cpu_second"])
            done()
    except KeyboardInterrupt as error:
        interruption = error
    baseline = speeds.get(BASELINE)
    for name, speed in speeds.items():
        yield {
            "transport": name,
            "bottleneck_packets_per_cpu_second": round(speed),
            "relative_to_sack": round(speed / baseline, 3) if baseline else None,
        }
    if interruption:
        raise interruption


def _measure_crowds(plan: BenchmarkPlan, done: Callable[[], None]) -> Iterator[dict[str, Any]]:
    few: dict[str, Any] = {}
    for crowd in plan.crowds:
        settings = _settings(crowd)
        row = {"flows": crowd.flows, **_best_of(CASES[0].scenario, settings, plan.repeats, done)}
        few = few or row
        more = crowd.flows - few["flows"]
        growth = row["peak_memory_mb"] - few["peak_memory_mb"]
        yield {**row, "memory_per_flow_kb": round(1e3 * growth / more, 1) if more else None}


def _best_of(scenario: str, settings: Sequence[str], repeats: int, done: Callable[[], None]) -> dict[str, float]:
    """Run a scenario several times; return the largest speed and the smallest memory."""
    runs = list(_repeated(lambda: _ours(scenario, *settings), repeats, done))
    return {
        "bottleneck_packets_per_cpu_second": round(max(run["packets_per_cpu_second"] for run in runs)),
        "peak_memory_mb": round(min(run["peak_memory_mb"] for run in runs), 1),
    }


def _measure(case: Case, plan: BenchmarkPlan, done: Callable[[], None]) -> dict[str, Any]:
    ours = _best_of(case.scenario, (), plan.repeats, done)
    measured = _repeated(lambda: _ns2(case), plan.repeats if plan.ns2 else 0, done)
    theirs = [speed for speed in measured if speed]
    return {
        "case": case.name,
        **ours,
        "ns2_bottleneck_packets_per_cpu_second": round(max(theirs)) if theirs else None,
    }


def _repeated(measure: Callable[[], Measured], repeats: int, done: Callable[[], None]) -> Iterator[Measured]:
    for _ in range(repeats):
        yield measure()
        done()


def _ours(scenario: str, *settings: str) -> dict[str, float]:
    path = shipped_file("scenarios", scenario)
    output = _output([sys.executable, "-m", "earlybird.benchmark", str(path), *settings])
    measured: dict[str, float] = json.loads(output)
    return measured


def _ns2(case: Case) -> float | None:
    """Return ns-2's packets per second of processor time, or nothing where it cannot be had."""
    program, script = shutil.which("ns"), REPOSITORY / "bench" / "ns2" / case.script
    if not (program and script.exists()):
        return None
    with tempfile.TemporaryDirectory() as folder:
        before = _seconds_of_children()
        packets = int(_output([program, str(script), str(Path(folder, "deliveries.log"))]))
        return packets / (_seconds_of_children() - before)


def _output(command: list[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        last_line = (finished.stderr.strip().splitlines() or ["no message"])[-1]
        raise EarlybirdError(f"`{' '.join(command)}` ended with code {finished.returncode}: {last_line}")
    return finished.stdout


def _seconds_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure_here(scenario: Path, settings: Sequence[str]) -> dict[str, float]:
    """Run a scenario in this process; return packets per second of processor time and the process' largest memory."""
    outcome = resolve(scenario, _overrides(settings)).run(DEFAULT_SEED)
    rate = outcome["summary"]["bottleneck_packets"] / outcome["cpu_s"]
    return {"packets_per_cpu_second": rate, "peak_memory_mb": _peak_memory_mb()}


def _peak_memory_mb() -> float:
    """Return the largest memory this process has had, in 10⁶ bytes; `ru_maxrss` begins with the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
        return int(fields["VmHWM"].split()[0]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    print(json.dumps(measure_here(Path(sys.argv[1]), sys.argv[2:])))
