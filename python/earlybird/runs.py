"""One run of one scenario."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.backends import SIMULATOR, backend_of, check_backend, namespaces, warn_of_disturbance
from earlybird.description import DEFAULT_SEED, Overrides, ScenarioLike, override_texts, path_of, resolve, warn_about
from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.limits import cost_of, memory_guard, warn_of_length
from earlybird.outputs import check_outputs
from earlybird.result import Result
from earlybird.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    import polars as pl

    from earlybird import cases
    from earlybird import progress as progress_bars
    from earlybird.backends import Backend
    from earlybird.plots import run as run_plot
    from earlybird.testbed import play
else:
    cases = LateModule("earlybird.cases")
    run_plot = LateModule("earlybird.plots.run")
    progress_bars = LateModule("earlybird.progress")
    play = LateModule("earlybird.testbed.play")
    pl = LateModule("polars")

LARGEST_SEED = 2**64 - 1


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    overrides: Overrides = (),
    backend: Backend | None = None,
    out: str | Path | None = None,
    trace: str | Path | None = None,
    qlog: str | Path | None = None,
    trace_flows: Sequence[str] | None = None,
    link_trace: str | Path | None = None,
    pcap: str | Path | None = None,
    plot: str | Path | None = None,
    progress: bool = False,
) -> Result:
    """
    Run a scenario once: simulate it, or let it take place in real time.

    Parameters
    ----------
    scenario
        A path, TOML or JSON text, a dictionary with the keys of the TOML form, or an `earlybird.scenario.Scenario`.
    seed
        Of the random numbers (default 1). The same seed gives the same result to the last bit.
    overrides
        Values that replace the scenario's, by parameter name or dotted key: ``{"pairs": 28}``.
    backend
        Where it takes place (default: where the scenario says, else ``sim``). In real time: ``live`` over the endpoints
        of the simulator, ``kernel`` over the TCP of this machine's kernel; the links are the simulator's, with a clock.
        Takes Linux, and network namespaces.
    out
        Results folder to keep the result in (default: none).
    trace
        File to write every event of chosen flows to, as CSV; of the kernel's senders those that the links see.
    qlog
        File to write what the senders of chosen flows sent, heard and decided to, in the format qlog, for qvis; of the
        kernel's what they sent and heard.
    trace_flows
        Names of the flows to trace (default: all but web flows).
    link_trace
        File to write every packet that the bottleneck accepts or drops to, as CSV.
    pcap
        File to write the packets to, in the format pcapng, for Wireshark: as the hosts that open connections see them;
        in real time as they leave one side of the emulated links, and as they get to the other.
    plot
        File to draw the run over time to, ending in ``.png``, ``.svg`` or ``.html``: windows, round-trip times, the
        bottleneck's queue, when what was written arrived. Has the run measure series, if it does not, and deliveries.
    progress
        Show on the error stream how far the run is, if it takes more than a moment.

    Returns
    -------
    Result
        The summary and the tables.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or there is not enough memory for the run.
    InputError
        If the scenario's file cannot be read, the seed is none, or a file to write is another one's place.
    EarlybirdError
        If the system does not allow what a run in real time needs; the text says what to do.
    StoreError
        If the result cannot be kept.
    OSError
        If a trace, the packets, qlog or the picture cannot be written.

    Warns
    -----
    ScenarioWarning
        If the scenario can be run but is probably not meant, declares what the run does not use, takes more than ten
        minutes, or was disturbed.

    Examples
    --------
    >>> import earlybird
    >>> result = earlybird.run("scenarios/dumbbell.toml", overrides={"pairs": 4, "duration": "20s"})
    >>> result.summary["drop_rate"] < 0.1
    True
    """
    files = {"trace": trace, "qlog": qlog, "link-trace": link_trace, "pcap": pcap, "plot": plot}
    check_outputs(files, {"scenario": path_of(scenario)})
    changes = override_texts(overrides) + ([("backend", backend)] if backend else [])
    resolved = resolve(scenario, changes)
    if plot:
        resolved = resolve(_drawable(resolved, plot))
    check_backend(resolved)
    cost = cost_of(resolved, trace=_path(trace), qlog=_path(qlog), link_trace=_path(link_trace))
    warn_of_length(cost, json.loads(resolved)["duration"])
    warn_about(resolved, typed=dict(changes))
    store = None if out is None else Store(Path(out)).open()
    result = simulate(
        resolved,
        DEFAULT_SEED if seed is None else seed,
        trace=trace,
        qlog=qlog,
        trace_flows=trace_flows,
        link_trace=link_trace,
        pcap=pcap,
        progress=progress,
    )
    if store:
        store.save(result)
    warn_of_disturbance(result.summary)
    if plot:
        result.plot(plot)
    return result


def _drawable(resolved: str, plot: str | Path) -> str:
    """Have the run measure what is drawn, if it can be."""
    run_plot.check_ending(plot)
    return run_plot.measured(resolved)


def simulate(
    resolved: str,
    seed: int,
    *,
    trace: str | Path | None = None,
    qlog: str | Path | None = None,
    trace_flows: Sequence[str] | None = None,
    link_trace: str | Path | None = None,
    pcap: str | Path | None = None,
    progress: bool = False,
) -> Result:
    """Run a scenario that `resolve` returned; a run that takes all memory is ended."""
    guard, is_simulated = memory_guard(), backend_of(resolved) == SIMULATOR
    with (
        namespaces(),
        _bar("simulating" if is_simulated else "running") if progress else nullcontext(_show_nothing) as advance,
    ):

        def watch(done: float) -> None:
            guard()
            advance(done)

        outcome = _core.run(
            resolved,
            checked_seed(seed),
            trace=_path(trace),
            qlog=_path(qlog),
            trace_flows=list(trace_flows) if trace_flows else None,
            link_trace=_path(link_trace),
            pcap=_path(pcap),
            watch=watch,
        )
    # In real time the work is done by other threads, and by the kernel.
    spent = {"cpu_s": round(outcome["cpu_s"], 3)} if is_simulated else {}
    summary = {"seed": seed, **outcome["summary"], **spent, "code_version": _core.code_version(backend_of(resolved))}
    sources = {name: partial(_frame, columns) for name, columns in outcome["tables"].items()}
    return Result(json.loads(resolved), seed, summary, sources)


def _bar(what: str) -> AbstractContextManager[Callable[[float], None]]:
    """Return what shows how far a run is; workers show nothing and need not load it."""
    return progress_bars.share_bar(what)


def _show_nothing(done: float) -> None:
    """Take the share that is done."""


def make(resolved: str, seed: int) -> Result:
    """Make a run: simulate its scenario, or do what is described in a scenario's place, a model or a play."""
    document = json.loads(resolved)
    if "testbed" in document:
        return play.make_play(document, checked_seed(seed))
    if "model" in document:
        return cases.compute(document, checked_seed(seed))
    return simulate(resolved, seed)


def checked_seed(seed: int) -> int:
    """Return the seed if it is one; raise InputError otherwise."""
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed = {seed}: a seed is a whole number from 0 to {LARGEST_SEED}.")
    return seed


def _path(path: str | Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _frame(columns: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(columns)
