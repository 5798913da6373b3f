"""`earlybird plan`: how long viewers must wait, and which sender to switch on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earlybird.cli.arguments import Arq, Jobs, Json, Outages, Policer, examples
from earlybird.cli.output import echo, echo_status, show_json
from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.outputs import check_outputs
from earlybird.planning.measured import KINDS

if TYPE_CHECKING:
    from earlybird.cli import display
    from earlybird.planning import candidates as compared
    from earlybird.planning import planner, profiles, scenario_file, view, watch
    from earlybird.planning import plot as plan_plot
    from earlybird.planning.measured import kinds
    from earlybird.planning.planner import Plan
    from earlybird.planning.watch import Watched
    from earlybird.plots import run as run_plot
else:
    display = LateModule("earlybird.cli.display")
    compared = LateModule("earlybird.planning.candidates")
    plan_plot = LateModule("earlybird.planning.plot")
    run_plot = LateModule("earlybird.plots.run")
    planner = LateModule("earlybird.planning.planner")
    profiles = LateModule("earlybird.planning.profiles")
    kinds = LateModule("earlybird.planning.measured.kinds")
    view = LateModule("earlybird.planning.view")
    scenario_file = LateModule("earlybird.planning.scenario_file")
    watch = LateModule("earlybird.planning.watch")

NAME = "plan"
EXAMPLES = examples(
    "earlybird plan media/test-clip.mp4 --rate 20Mb/s --rtt 60ms --loss 1%",
    "earlybird plan --bitrate 4Mb/s --profile lte --goal vod --plot plan.png",
    "ping -c 100 -i 0.2 viewer.example > ping.txt; iperf3 -c viewer.example -J > speed.json",
    "earlybird plan --bitrate 4Mb/s --from-iperf3 speed.json --from-ping ping.txt --write-scenario line.toml",
    "earlybird plan media/test-clip.mp4 --rate 2Mb/s --rtt 150ms --loss 4% --watch seen.mp4",
    "earlybird plan --bitrate 2Mb/s --rate 10Mb/s --rtt 60ms --outage 2s@30s/60s --arq 10%,8ms",
    "earlybird plan --bitrate 64kb/s --rate 5Mb/s --rtt 120ms --loss 3% --goal call",
)


def _file(tool: str) -> typer.models.OptionInfo:
    """Describe the option for a tool's file."""
    option: typer.models.OptionInfo = typer.Option(f"--from-{tool}", metavar="FILE", help=KINDS[tool])
    return option


def command(
    clip: Annotated[
        Path | None, typer.Argument(metavar="[CLIP]", help="The film: any video file.", show_default=False)
    ] = None,
    *,
    bitrate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Bit rate of a generated film, in place of a file.")
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help="Rate of the link, such as 20Mb/s.")] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help="RTT without queueing delay, such as 60ms.")] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Random loss rate, such as 1%.", show_default="none")
    ] = None,
    burst: Annotated[
        float | None,
        typer.Option(metavar="N", min=1, help="Mean length of a burst of losses, in packets.", show_default="1"),
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(help="Queue of the link: 64kB, 500ms, 100 (packets), codel, …", show_default="rate × round trip"),
    ] = None,
    outage: Outages = None,
    policer: Policer = None,
    arq: Arq = None,
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="TRAFFIC",
            help="Other traffic: none, upload or household; the answer has both cases.",
            show_default="upload, if the queue is large",
        ),
    ] = None,
    viewers: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Viewers of the film over this line; the answer is for the slowest."),
    ] = 1,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A line by name: dsl, cable, lte, starlink, wifi, transatlantic; from a camera "
            "lte-uplink, 5g-uplink, starlink-uplink, dsl-uplink, wifi-uplink.",
            autocompletion=lambda: list(profiles.PROFILES),
        ),
    ] = None,
    from_ping: Annotated[Path | None, _file("ping")] = None,
    from_iperf3: Annotated[Path | None, _file("iperf3")] = None,
    from_pcap: Annotated[Path | None, _file("pcap")] = None,
    from_mahimahi: Annotated[Path | None, _file("mahimahi")] = None,
    from_irtt: Annotated[Path | None, _file("irtt")] = None,
    goal: Annotated[
        Literal["live", "call", "vod", "hls"],
        typer.Option(help="A broadcast, a conversation, or a film in segments (HLS, DASH): a stored or a live one."),
    ] = "live",
    segment: Annotated[
        str | None, typer.Option(metavar="TIME", help="Playing time of a segment.", show_default="6s")
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="RATE,RATE,…",
            help="Renditions of a film in segments, in place of --bitrate, such as 400kb/s,800kb/s,1.6Mb/s,3Mb/s.",
            show_default="of the manifest of HLS or DASH, else one",
        ),
    ] = None,
    player: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The player that chooses among them: hls.js, dash.js or shaka.",
            show_default="hls.js",
        ),
    ] = None,
    max_late: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Frames that may be late.", show_default="0.01%, of a call 1%"),
    ] = None,
    baseline: Annotated[str, typer.Option(metavar="NAME", help="The sender in use.")] = "cubic",
    transport: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A sender to compare with it. May be given several times, the preferred one first.",
            show_default="by the goal",
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Duration of a session.", show_default="300s")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Sessions of each sender.", show_default="40 to 160, until it is clear"),
    ] = None,
    jobs: Jobs = None,
    write_scenario: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Write the line as a scenario, to change and run.")
    ] = None,
    write_settings: Annotated[
        Path | None,
        typer.Option(metavar="FILE.sh", help="Write the server's settings as a script: apply, check, undo."),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The server's network interface to the viewers, for the settings of its route.",
            show_default="found on the server",
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png|svg", help="Draw the plan to this file.")] = None,
    film: Annotated[
        Path | None,
        typer.Option(
            "--watch",
            metavar="FILE.mp4|gif|webp|png",
            help="Film what viewers of today's and the recommended sender see, side by side.",
        ),
    ] = None,
    watch_seconds: Annotated[
        float,
        typer.Option(min=1, max=600, metavar="N", help="Seconds to film: those with the most frozen pictures."),
    ] = 30,
    watch_sender: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A further sender to film, of those compared; up to four.", show_default="none"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """
    Find the delay that your viewers need, and the sender to use.

    Formulas give a first estimate; then sessions are simulated until it is
    clear which sender is best, which takes seconds. Options take precedence
    over files, and files over --profile.
    """
    if watch_sender:
        _check_senders(film, watch_sender, [one.name for one in compared.candidates(transport, baseline, goal)])
    files = {"pcap": from_pcap, "iperf3": from_iperf3, "mahimahi": from_mahimahi, "irtt": from_irtt, "ping": from_ping}
    outputs = {"plot": plot, "scenario": write_scenario, "settings": write_settings, "watch": film}
    _check(outputs, {"film": clip, **{f"{tool} file": file for tool, file in files.items()}})
    measured = kinds.read((tool, file) for tool, file in files.items() if file is not None)
    request = planner.PlanRequest(
        clip=clip,
        bitrate=bitrate,
        rate=rate,
        rtt=rtt,
        loss=loss,
        burst=burst,
        queue=queue,
        outages=outage or (),
        policer=policer,
        arq=arq,
        beside=beside,
        viewers=viewers,
        profile=profile,
        measured=measured,
        goal=goal,
        segment=segment,
        ladder=ladder,
        player=player,
        max_late=max_late,
        baseline=baseline,
        transports=transport,
        duration=duration,
        seeds=None if seeds is None else range(1, seeds + 1),
        interface=interface,
    )
    found = planner.plan(request, jobs=jobs, progress=not json)
    _write(found, outputs)
    seen = film and found.watch(film, seconds=watch_seconds, senders=watch_sender or (), progress=not json)
    if json:
        show_json(found.to_dict() | ({"watch": seen.to_dict()} if seen else {}))
    else:
        _show(found, [file for file in {**outputs, "watch": seen}.values() if file])


def _check(outputs: dict[str, Path | None], inputs: dict[str, Path | None]) -> None:
    """Check that no output replaces an input, or a file that earlybird did not write."""
    if outputs["plot"] is not None:
        run_plot.check_ending(outputs["plot"], plan_plot.ENDINGS)
    check_outputs(outputs, inputs)
    if outputs["watch"] is not None:
        watch.check(outputs["watch"])


def _check_senders(film: Path | None, names: list[str], known: list[str]) -> None:
    if film is None:
        raise InputError("--watch-sender is for --watch, which names the file of the film.")
    watch.check_senders(names, known)


def _write(found: "Plan", outputs: dict[str, Path | None]) -> None:
    writers = {
        "scenario": lambda file: scenario_file.write(found, file),
        "plot": lambda file: plan_plot.save(found, file),
        "settings": found.write_settings,
    }
    for name, write in writers.items():
        if (file := outputs[name]) is not None:
            write(file)


def _show(found: "Plan", files: "list[Path | Watched]") -> None:
    for fact in found.path.facts:
        echo_status(f"Taken as found: {fact}.")
    display.show(view.render(found))
    echo("\n".join(["", *view.instructions(found)]))
    for file in files:
        echo(f"Written: {file}")
