"""`earlybird run`: one run of one scenario."""

import json as json_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from earlybird.backends import Backend
from earlybird.cli.arguments import Json, ScenarioFile, Seed, Settings, examples, overrides
from earlybird.cli.plain import say, say_aside, show_json
from earlybird.description import DEFAULT_SEED, warn_about_outputs
from earlybird.lazy import LateModule

if TYPE_CHECKING:
    from earlybird import quality, runs, store, window
    from earlybird.cli import display
    from earlybird.result import Result
else:
    display = LateModule("earlybird.cli.display")
    quality = LateModule("earlybird.quality")
    runs = LateModule("earlybird.runs")
    store = LateModule("earlybird.store")
    window = LateModule("earlybird.window")

NAME = "run"
EXAMPLES = examples(
    "earlybird run scenarios/dumbbell.toml",
    "earlybird run scenarios/dumbbell.toml --set pairs=16 --set transport=pert-er --seed 3 --json",
    "earlybird run scenarios/linux-download.toml --backend live --set duration=20s",
    "earlybird run scenarios/linux-download.toml --backend kernel --set duration=20s",
    "earlybird run scenarios/vbr-video.toml --plot run.png",
    "earlybird run scenarios/fall-floyd-1996.toml --set drops=[14,28] --trace trace.csv --pcap packets.pcapng",
)


def command(
    scenario: ScenarioFile,
    *,
    settings: Settings = None,
    seed: Seed = DEFAULT_SEED,
    backend: Annotated[
        Backend | None,
        typer.Option(
            help="Where it takes place: simulated, or in real time over the same endpoints or the TCP of Linux.",
            show_default="the scenario's, else sim",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the result in this folder, as a sub-folder of its own.")
    ] = None,
    json: Json = False,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Write every event of the traced flows to this file.")
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(metavar="FILE.qlog", help="Write what the traced flows sent, heard and decided, for qvis."),
    ] = None,
    trace_flow: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A flow to trace (default: all but web flows). May be given several times."),
    ] = None,
    link_trace: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Write every packet that the bottleneck accepts or drops to this file."),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pcapng", help="Write the packets to this file, as pcapng, for Wireshark."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png|svg|html",
            help="Draw windows, round-trip times, the bottleneck's queue and delays over time to this file.",
        ),
    ] = None,
) -> None:
    """Run a scenario once and print what came of it."""
    result = runs.run(
        scenario,
        seed=seed,
        overrides=overrides(settings),
        backend=backend,
        out=out,
        trace=trace,
        qlog=qlog,
        trace_flows=trace_flow,
        link_trace=link_trace,
        pcap=pcap,
        plot=plot,
        progress=True,
    )
    trace_name, qlog_name, pcap_name = (None if file is None else str(file) for file in (trace, qlog, pcap))
    resolved = json_module.dumps(result.scenario)
    warn_about_outputs(resolved, trace=trace_name, qlog=qlog_name, trace_flows=trace_flow, pcap=pcap_name)
    if json:
        show_json(result.summary | films_of(result))
        return
    display.show_result(result)
    for note in window.window_notes(result):
        say_aside(note)
    if out:
        say(f"Result kept in {out / store.run_key(result.scenario, result.seed)}")
    written = {"Trace": trace, "qlog": qlog, "Trace of the bottleneck": link_trace, "Packets": pcap, "Picture": plot}
    for what, file in written.items():
        if file:
            say(f"{what} written to {file}")


def films_of(result: "Result") -> dict[str, object]:
    """Return what viewers got of the films of a run that kept their deliveries, by flow; else nothing."""
    if "deliveries" not in result.tables:
        return {}
    return {"quality": [viewing.quality().to_dict() for viewing in quality.viewings(result)]}
