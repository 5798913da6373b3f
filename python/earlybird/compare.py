"""Stream one film through one network under several transports, and report the playback of its viewers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.loading import override_texts, resolve
from earlybird.media import film_of
from earlybird.paths import RESULTS, shipped_file
from earlybird.planning.path import FEWEST_BYTES
from earlybird.quantities import parse_duration, parse_rate
from earlybird.recommendation import recommendation
from earlybird.sweeps import SweepResult, complete, plan, without_duplicates
from earlybird.viewers import judge_run, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from earlybird import compare_plot, notebook, text_view
    from earlybird.clip import Clip
    from earlybird.loading import Overrides, ScenarioLike
else:
    compare_plot = LateModule("earlybird.compare_plot")
    notebook = LateModule("earlybird.notebook")
    text_view = LateModule("earlybird.text_view")

DEFAULT_TRANSPORTS: Final = ("cubic-rack", "cubic-er", "pert-er", "bbr-rack")
"""The default of most servers, the same with early retransmission, and two that keep queues short."""

UNSCALED: Final = "clip"
DEFAULT_RATE: Final = UNSCALED
LOAD: Final = 1.4
"""Share of each long flow of the default network ÷ rate of the film: a load at which transports differ."""
ROUND_TRIP: Final = 0.05
"""Seconds of a round trip over the default network; its queue holds what the line carries in that time."""
SHORTEST: Final = 300.0
LONGEST: Final = 1200.0
"""Seconds of a run unless asked otherwise: a short film is repeated, of a long one the beginning is sent."""
LAST_START: Final = 30.0
"""Seconds that a run is longer than the film, so that its last frames arrive: flows start within the first of them."""
GROUP: Final = "video"
GRID_KEY: Final = f"flows.{GROUP}.transport"


@dataclass(frozen=True, repr=False)
class Comparison:
    """
    One film (`source` as read, `sent` as cut and scaled) under several transports, one run of each per seed.

    `scenario` is complete, with the film as the application of the flows `video`. `flows` and `curve` are what
    `earlybird.viewers.judge_run` gives, led by transport and seed; `transports` what `earlybird.viewers.summarise` says
    of all runs of each, with the mean of their T/µ, and `by_seed` the same per seed.
    """

    source: Clip
    sent: Clip
    scenario: dict[str, Any]
    flows: pl.DataFrame
    curve: pl.DataFrame
    transports: dict[str, dict[str, float]]
    by_seed: dict[str, dict[int, dict[str, float]]]
    seeds: tuple[int, ...]

    @property
    def left_out(self) -> float:
        """Seconds at the end of the film that no run sends."""
        return max(self.source.length - self.sent.length, 0.0)

    def curve_of(self, transport: str) -> pl.DataFrame:
        """Return `startup_delay_s` and the frames `late` and `due`, over all runs of a transport."""
        return _summed(self.curve.filter(transport=transport))

    def plot(self) -> notebook.Picture:
        """Draw how many frames are on time after which startup delay; notebooks show it, `save` writes it."""
        return notebook.Picture(compare_plot.chart(self))

    def __repr__(self) -> str:
        """Show itself in a shell: the film, the network, and what is recommended."""
        return text_view.comparison_text(self)

    def _repr_html_(self) -> str:
        """Show itself in a notebook: a column per transport."""
        return notebook.comparison_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what `earlybird compare --json` prints; a number that does not exist is None."""
        return {
            "clip": {"path": str(self.source.path), "codec": self.source.codec, **_facts(self.source)},
            "sent": {**_facts(self.sent), "left_out_s": round(self.left_out, 6)},
            "scenario": self.scenario.get("title", ""),
            "duration": self.scenario["duration"],
            "seeds": list(self.seeds),
            "recommendation": recommendation(self),
            "transports": {
                transport: {key: value if math.isfinite(value) else None for key, value in values.items()}
                for transport, values in self.transports.items()
            },
        }


def compare_media(
    media: str | Path,
    *,
    network: ScenarioLike | None = None,
    transports: Sequence[str] = DEFAULT_TRANSPORTS,
    scale_to: str = DEFAULT_RATE,
    pairs: int | None = None,
    duration: str | None = None,
    overrides: Overrides = (),
    seeds: int | Sequence[int] | None = None,
    jobs: int | None = None,
    output: str | Path = RESULTS,
    progress: bool = False,
) -> Comparison:
    """
    Stream a film under several transports.

    Parameters
    ----------
    media
        A video file.
    network
        Any scenario with a group of flows named `video`, whose application is replaced by the film, repeated to the end
        of the run. Its other flows stay as they are. Default: ``scenarios/compare.toml``, a line that gives each of its
        long flows 1.4 times what the film needs.
    transports
        What the flows `video` run on, one after the other.
    scale_to
        Mean rate to which the sizes of the frames are scaled, such as ``"300kb/s"``, or ``"clip"`` to leave them
        (default).
    pairs
        Value for the scenario's parameter `pairs`: in the default network the number of video flows, and of file
        transfers beside them.
    duration
        Simulated time, such as ``"300s"`` (default: the network's; on the default network that of the film and a
        little, between 5 and 20 minutes).
    overrides
        Values that replace the network's, as in `earlybird.run`, such as ``{"rate": "50Mb/s"}`` for the line of the
        default network or ``{"endpoint.profile": "ns2"}`` for the rules of the papers.
    seeds
        Number of seeds, counted from 1, or the seeds (default: the scenario's, else 1).
    jobs
        Number of worker processes (default: one per processor).
    output
        Results folder; a run that is there already is not made again.
    progress
        Show a progress bar on the terminal.

    Returns
    -------
    Comparison
        Per transport, what the viewers saw.

    Raises
    ------
    MediaError
        If the film cannot be read.
    InputError
        If the network has no flows `video`, or an argument makes no sense.
    ScenarioError
        If the scenario is not valid, or a transport does not exist.

    Examples
    --------
    >>> from earlybird.compare import compare_media
    >>> comparison = compare_media("media/test-clip.mp4", transports=["sack", "sack-er"], pairs=4, duration="40s")
    >>> comparison.transports["sack-er"]["late_2s"] <= 1
    True
    """
    source = film_of(media)
    if network is None:
        network = shipped_file("scenarios", "compare.toml")
        duration = duration or default_duration(source)
        overrides = [*line_for(fit(source, scale_to, duration), pairs or 1), *override_texts(overrides)]
    document = read_network(network, pairs, duration, overrides)
    sent = fit(source, scale_to, document["duration"])
    planned = plan(with_film(document, sent), grid={GRID_KEY: _distinct(transports)}, seeds=seeds)
    different, _ = without_duplicates(planned, jobs=jobs, output=output, progress=progress)
    return judge(complete(different, jobs=jobs, output=output, progress=progress), source, sent)


def default_duration(clip: Clip) -> str:
    """Set the length of a run to that of the film and a little, within limits."""
    return f"{min(max(math.ceil(clip.length + LAST_START), SHORTEST), LONGEST):.0f}s"


def line_for(clip: Clip, pairs: int) -> list[tuple[str, str]]:
    """Set the rate of the default network's link to fit the film, and its queue to fit the rate."""
    rate = round(LOAD * 2 * pairs * clip.mean_rate)
    return [("rate", f"{rate}b/s"), ("buffer", str(max(round(rate * ROUND_TRIP / 8), FEWEST_BYTES)))]


def read_network(
    network: ScenarioLike, pairs: int | None, duration: str | None, overrides: Overrides = ()
) -> dict[str, Any]:
    """Return the network as a complete scenario, with the values asked for."""
    settings = override_texts(overrides)
    if pairs is not None and "pairs" not in resolve(network, settings).parameters:
        raise InputError(
            f"pairs = {pairs} has no meaning here: the network declares no parameter `pairs`. Leave it out, or add "
            '`[parameters]` with `pairs = 28` to the network and use it, as in `count = "$pairs"`.'
        )
    wanted = {"pairs": pairs, "duration": duration}
    settings += [(key, str(value)) for key, value in wanted.items() if value is not None]
    return resolve(network, settings).to_dict()


def fit(clip: Clip, scale_to: str, duration: str) -> Clip:
    """Leave out what no run gets to see, and scale the rest."""
    length = parse_duration(duration)
    seen = clip.first(length) if length else clip
    return seen if scale_to == UNSCALED else seen.scaled_to(parse_rate(scale_to, "scale-to"))


def with_film(document: dict[str, Any], clip: Clip) -> dict[str, Any]:
    """Let the flows `video` send the film, and keep the time of every delivery."""
    names = [flow["name"] for flow in document["flows"]]
    if GROUP not in names:
        raise InputError(
            f"flows: the network has no group of flows named `{GROUP}`; it has {', '.join(names)}. Name the group that "
            f"shall send the film `{GROUP}`; whatever its application, the film takes its place."
        )
    flows = [
        {**flow, "application": clip.application()} if flow["name"] == GROUP else flow for flow in document["flows"]
    ]
    return {**document, "flows": flows, "measure": {**document.get("measure", {}), "deliveries": True}}


def judge(runs: SweepResult, source: Clip, sent: Clip) -> Comparison:
    """Turn finished runs into what the viewers saw."""
    flows, curves, loads = [], [], []
    for run in runs.planned:
        result = runs.store.load(run.key)
        labels = {"transport": run.parameters[GRID_KEY], "seed": run.seed}
        seen, curve = judge_run(result, GROUP)
        flows.append(_labelled(seen, labels))
        curves.append(_labelled(curve, labels))
        loads.append({**labels, "t_over_mu": _number(result.summary.get("t_over_mu"))})
    tables = pl.concat(flows), pl.concat(curves), pl.DataFrame(loads)
    seeds = tuple(dict.fromkeys(run.seed for run in runs.planned))
    transports = list(dict.fromkeys(run.parameters[GRID_KEY] for run in runs.planned))
    return Comparison(
        source=source,
        sent=sent,
        scenario=runs.planned[0].spec.document(),
        flows=tables[0],
        curve=tables[1],
        transports={name: _summary(tables, transport=name) for name in transports},
        by_seed={name: {seed: _summary(tables, transport=name, seed=seed) for seed in seeds} for name in transports},
        seeds=seeds,
    )


def _labelled(table: pl.DataFrame, labels: dict[str, str | int]) -> pl.DataFrame:
    kinds = {str: pl.String, int: pl.Int64}
    columns = [pl.lit(value, dtype=kinds[type(value)]).alias(key) for key, value in labels.items()]
    return table.select(*columns, pl.all())


def _summary(tables: tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame], **labels: str | int) -> dict[str, float]:
    """Put together what belongs to a transport, or to one run of it."""
    flows, curve, loads = (table.filter(**labels) for table in tables)
    return {"t_over_mu": float(loads["t_over_mu"].to_numpy().mean()), **summarise(flows, _summed(curve))}


def _summed(curve: pl.DataFrame) -> pl.DataFrame:
    """Add up the counts of several runs."""
    return curve.group_by("startup_delay_s", maintain_order=True).agg(pl.col("late", "due").sum())


def _facts(clip: Clip) -> dict[str, float]:
    return {
        "frames": clip.frames,
        "length_s": round(clip.length, 6),
        "mean_bps": round(clip.mean_rate),
        "peak_bps": round(clip.peak_rate),
        "largest_frame_bytes": clip.largest_frame,
    }


def _distinct(transports: Sequence[str]) -> list[str]:
    if not transports:
        raise InputError(f"transports: name at least one, such as {', '.join(DEFAULT_TRANSPORTS)}.")
    return list(dict.fromkeys(transports))


def _number(value: float | None) -> float:
    return math.nan if value is None else value
