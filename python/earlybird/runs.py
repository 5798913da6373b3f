"""One run of one scenario."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earlybird import _core
from earlybird.description import Overrides, ScenarioLike, resolve, warn_about
from earlybird.errors import InputError
from earlybird.result import Result
from earlybird.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

DEFAULT_SEED = 1
LARGEST_SEED = 2**64 - 1


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    overrides: Overrides = (),
    out: str | Path | None = None,
    trace: str | Path | None = None,
    trace_flows: Sequence[str] | None = None,
    link_trace: str | Path | None = None,
    pcap: str | Path | None = None,
) -> Result:
    """
    Simulate a scenario once.

    Parameters
    ----------
    scenario
        A path, TOML or JSON text, a dictionary with the keys of the TOML form, or an `earlybird.scenario.Scenario`.
    seed
        Of the random numbers (default 1). The same seed gives the same result to the last bit.
    overrides
        Values that replace the scenario's, by parameter name or dotted key: ``{"pairs": 28}``.
    out
        Results folder to keep the result in (default: none).
    trace
        File to write every event of chosen flows to, as CSV.
    trace_flows
        Names of the flows to trace (default: the scenario's first).
    link_trace
        File to write every packet that the bottleneck accepts or drops to, as CSV.
    pcap
        File to write the packets of the bottleneck to, for Wireshark.

    Returns
    -------
    Result
        The summary and the tables.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    StoreError
        If the result cannot be kept.

    Warns
    -----
    ScenarioWarning
        If the scenario can be run but is probably not meant.

    Examples
    --------
    >>> import earlybird
    >>> result = earlybird.run("scenarios/dumbbell.toml", overrides={"pairs": 4, "duration": "20s"})
    >>> result.summary["drop_rate"] < 0.1
    True
    """
    resolved = resolve(scenario, overrides)
    warn_about(resolved)
    store = None if out is None else Store(Path(out)).open()
    result = simulate(
        resolved,
        DEFAULT_SEED if seed is None else seed,
        trace=trace,
        trace_flows=trace_flows,
        link_trace=link_trace,
        pcap=pcap,
    )
    if store:
        store.save(result)
    return result


def simulate(
    resolved: str,
    seed: int,
    *,
    trace: str | Path | None = None,
    trace_flows: Sequence[str] | None = None,
    link_trace: str | Path | None = None,
    pcap: str | Path | None = None,
) -> Result:
    """Run a scenario that `resolve` returned."""
    outcome = _core.run(
        resolved,
        checked_seed(seed),
        trace=_path(trace),
        trace_flows=list(trace_flows) if trace_flows else None,
        link_trace=_path(link_trace),
        pcap=_path(pcap),
    )
    spent = {"cpu_s": round(outcome["cpu_s"], 3), "code_version": _core.code_version()}
    summary = {"seed": seed, **outcome["summary"], **spent}
    sources = {name: partial(_frame, columns) for name, columns in outcome["tables"].items()}
    return Result(json.loads(resolved), seed, summary, sources)


def make(resolved: str, seed: int) -> Result:
    """Make a run: simulate its scenario, or compute the model that is described in a scenario's place."""
    document = json.loads(resolved)
    if "model" in document:
        from earlybird.models.case import compute

        return compute(document, checked_seed(seed))
    return simulate(resolved, seed)


def checked_seed(seed: int) -> int:
    """Return the seed if it is one; raise InputError otherwise."""
    if not 0 <= seed <= LARGEST_SEED:
        raise InputError(f"seed = {seed}: a seed is a whole number from 0 to {LARGEST_SEED}.")
    return seed


def _path(path: str | Path | None) -> str | None:
    return None if path is None else os.fspath(path)


def _frame(columns: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(columns)
