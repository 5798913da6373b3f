"""One run of one scenario."""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from earlybird import _core
from earlybird.backends import BACKEND_KEY, SIMULATOR, namespaces, warn_of_disturbance
from earlybird.errors import InputError, InternalError, ScenarioWarning
from earlybird.lazy import LateModule
from earlybird.limits import cost_of, memory_guard, warn_of_length
from earlybird.loading import DEFAULT_SEED, Overrides, ScenarioLike, override_texts, path_of, resolve, warn_about
from earlybird.outputs import NO_OUTPUTS, Outputs, check_outputs
from earlybird.result import Columns, Result
from earlybird.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from earlybird import progress as progress_bars
    from earlybird._core import ResolvedScenario
    from earlybird.backends import Backend
    from earlybird.plots import run as run_plot
else:
    run_plot = LateModule("earlybird.plots.run")
    progress_bars = LateModule("earlybird.progress")

LARGEST_SEED = 2**64 - 1


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    overrides: Overrides = (),
    backend: Backend | None = None,
    output: str | Path | None = None,
    outputs: Outputs = NO_OUTPUTS,
    plot: str | Path | None = None,
    progress: bool = False,
) -> Result:
    """
    Run a scenario once, in the simulator or in real time.

    Parameters
    ----------
    scenario
        A path, TOML or JSON text, a dictionary with the keys of the TOML form, or an `earlybird.scenario.Scenario`.
    seed
        Of the random numbers (default 1). The same seed gives the same result to the last bit.
    overrides
        Values that replace the scenario's, by parameter name or dotted key: ``{"pairs": 28}``.
    backend
        What executes the run (default: the scenario's, else ``sim``). In real time: ``live`` over the endpoints of the
        simulator, ``kernel`` over the TCP of this machine's kernel; both over the simulator's links, with a clock. They
        need Linux and network namespaces.
    output
        Results folder to keep the result in (default: none).
    outputs
        Further files to write: traces, qlog, a capture.
    plot
        File for the plot of the run, ending in ``.png``, ``.svg`` or ``.html``: windows, round-trip times, the
        bottleneck's queue, deliveries. Makes the run measure series and deliveries.
    progress
        Show a progress bar on the error stream, unless the run is short.

    Returns
    -------
    Result
        The summary and the tables.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or there is not enough memory for the run.
    InputError
        If the scenario's file cannot be read, the seed is not valid, or a file would replace another.
    EarlybirdError
        If the system does not allow what a run in real time needs; the message says how to fix it.
    StoreError
        If the result cannot be stored.
    OSError
        If a file of `outputs` or the picture cannot be written.
    InternalError
        On a bug in earlybird.

    Warns
    -----
    ScenarioWarning
        If the scenario can be run but is probably not meant, declares what the run does not use, takes more than ten
        minutes, was disturbed, or a file of `outputs` is not what one may expect.

    Examples
    --------
    >>> import earlybird
    >>> result = earlybird.run("scenarios/dumbbell.toml", overrides={"pairs": 4, "duration": "20s"})
    >>> result.summary["drop_rate"] < 0.1
    True
    """
    check_outputs({**outputs.files, "plot": plot}, {"scenario": path_of(scenario)})
    changes = override_texts(overrides) + ([(BACKEND_KEY, backend)] if backend else [])
    resolved = resolve(scenario, changes)
    if plot:
        run_plot.check_ending(plot)
        resolved = run_plot.measured(resolved)
    resolved.check_backend()
    warn_of_length(cost_of(resolved, outputs), resolved.duration)
    warn_about(resolved, typed=dict(changes))
    store = None if output is None else Store(Path(output)).open()
    result = execute(resolved, DEFAULT_SEED if seed is None else seed, outputs, progress=progress)
    if store:
        store.save(result)
    warn_of_disturbance(result.summary)
    for text in resolved.output_warnings(outputs):
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    if plot:
        result.plot(plot)
    return result


def execute(scenario: ResolvedScenario, seed: int, outputs: Outputs = NO_OUTPUTS, *, progress: bool = False) -> Result:
    """Run a scenario that `resolve` returned; aborts a run that exceeds the memory limit."""
    guard, is_simulated = memory_guard(), scenario.backend == SIMULATOR
    # Workers show no bar, and need not load what draws it.
    bar = progress_bars.share_bar("simulating" if is_simulated else "running") if progress else nullcontext(_ignore)
    with namespaces(), panics(), bar as advance:

        def watch(done: float) -> None:
            guard()
            advance(done)

        outcome = scenario.run(checked_seed(seed), outputs, watch)
    # In real time other threads and the kernel do the work, which this thread's clock does not count.
    spent = {"cpu_s": round(outcome["cpu_s"], 3)} if is_simulated else {}
    summary = {"seed": seed, **outcome["summary"], **spent, "code_version": _core.code_version(scenario.backend)}
    sources = {name: Columns(columns) for name, columns in outcome["tables"].items()}
    return Result(scenario.to_dict(), seed, summary, sources)


def _ignore(_: float) -> None:
    """Ignore the progress of a run that is not shown."""


@contextmanager
def panics() -> Iterator[None]:
    """Raise InternalError for a panic of the compiled part, which no `except Exception` would catch."""
    try:
        yield
    except _core.PanicException as error:
        raise InternalError(f"this is a bug in earlybird: {error}.") from error


def checked_seed(seed: int) -> int:
    """Return the seed if it is one; raise InputError otherwise."""
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed = {seed}: a seed is a whole number from 0 to {LARGEST_SEED}.")
    return seed
