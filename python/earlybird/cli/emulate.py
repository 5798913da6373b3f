"""`earlybird emulate`: a command in an emulated network."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from earlybird.cli.arguments import Arq, Json, Outages, Policer, Settings, examples, overrides
from earlybird.cli.output import complain, show_json
from earlybird.errors import InputError, ScenarioError
from earlybird.lazy import LateModule
from earlybird.loading import DEFAULT_SEED

if TYPE_CHECKING:
    from earlybird import emulation
    from earlybird.cli import display
else:
    display = LateModule("earlybird.cli.display")
    emulation = LateModule("earlybird.emulation")

NAME = "emulate"
BACK = ("rate", "delay", "queue", "loss")
"""Options that may differ in the reverse direction."""
PARTS = {
    "loss-burst": "loss",
    "jitter-correlation": "jitter",
    "jitter-reorder": "jitter",
    "link-trace-start": "link-trace-in",
}
"""Options that describe another one."""
EXAMPLES = examples(
    "earlybird emulate --rate 15M --delay 45ms --loss 1% --queue codel -- ping -c 5 10.77.0.2",
    "earlybird emulate --rate 15M --delay 45ms --server 'python3 -m http.server' -- curl -O http://10.77.0.2:8000/film.mp4",
    "earlybird emulate --rate 20M --back-rate 2M --delay 9ms --queue 64kB --server 'iperf3 -s' -- iperf3 -Rc 10.77.0.2",
    "earlybird emulate --rate 15M --delay 45ms --loss 1% --internet -- curl -O https://example.org/film.mp4",
    "earlybird emulate --scenario scenarios/dumbbell.toml --flow video0 --pcap packets.pcapng -- bash",
)


def command(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", help="The command.", show_default=False)],
    *,
    rate: Annotated[str | None, typer.Option(help="Bits per second in both directions: 15M, 300kb/s.")] = None,
    delay: Annotated[str, typer.Option(help="Propagation time of one direction.")] = "0ms",
    queue: Annotated[
        str,
        typer.Option(
            help="Queue in front of the link: unlimited, a limit in packets (100) or bytes (64kB),"
            " or a discipline of the scenario reference with its defaults, such as codel."
        ),
    ] = "unlimited",
    loss: Annotated[str | None, typer.Option(help="Share of the packets to lose, such as 1%.")] = None,
    loss_burst: Annotated[
        float | None, typer.Option(metavar="PACKETS", help="Lose them in bursts of this mean length.")
    ] = None,
    outage: Outages = None,
    policer: Policer = None,
    arq: Arq = None,
    jitter: Annotated[
        str | None,
        typer.Option(help="Vary --delay evenly by so much up and down, such as 10ms. Packets keep their order."),
    ] = None,
    jitter_correlation: Annotated[
        str | None, typer.Option(help="Share of the packets that have the delay of the one in front.")
    ] = None,
    jitter_reorder: Annotated[
        bool, typer.Option("--jitter-reorder", help="Let packets of less delay pass others, as netem does.")
    ] = False,
    reorder: Annotated[str | None, typer.Option(help="Share of the packets to deliver 10 ms late.")] = None,
    duplicate: Annotated[str | None, typer.Option(help="Share of the packets to deliver twice.")] = None,
    link_trace_in: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Trace of the rate instead of --rate: mahimahi's, seconds and Mb/s per line, or CSV."
        ),
    ] = None,
    link_trace_start: Annotated[
        str | None,
        typer.Option(help="Time of the trace at which it begins, such as 30s, or random, which --seed draws."),
    ] = None,
    back_rate: Annotated[str | None, typer.Option(help="Rate of the reverse direction (default: --rate).")] = None,
    back_delay: Annotated[str | None, typer.Option(help="Delay of the reverse direction (default: --delay).")] = None,
    back_queue: Annotated[str | None, typer.Option(help="Queue of the reverse direction (default: --queue).")] = None,
    back_loss: Annotated[
        str | None, typer.Option(help="Loss of the reverse direction (default: --loss); 0 for none.")
    ] = None,
    scenario: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Use the network of this scenario instead of one link.")
    ] = None,
    settings: Settings = None,
    flow: Annotated[
        str | None, typer.Option(metavar="NAME", help="The flow whose path the packets take (default: the first).")
    ] = None,
    server: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="A server to run on the far side, 10.77.0.2. May be given several times; has ten seconds to finish"
            " after the command. Without one, the far side is this machine, which takes root.",
        ),
    ] = None,
    internet: Annotated[
        bool,
        typer.Option(
            "--internet",
            help="Let the command reach the Internet over these links, by IPv4: as root through this machine, which"
            " takes iptables or nft, else through slirp4netns.",
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the losses and impairments.")] = DEFAULT_SEED,
    mtu: Annotated[int, typer.Option(metavar="BYTES", help="Largest packet.")] = 1500,
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE.pcapng", help="Write all packets to this file, for Wireshark.")
    ] = None,
    statistics: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Write the state of the links to this file, a line each second."),
    ] = None,
    json: Json = False,
) -> None:
    """
    Run a command behind an emulated network, and report what the network did.

    The command is alone at 10.77.0.1 and fd77::1. Whatever it sends crosses the
    links to the far side, 10.77.0.2 and fd77::2, where the servers of --server are.
    Its exit code is the command's.
    """
    single = _single_link(
        there={
            "rate": rate,
            "link-trace-in": link_trace_in,
            "link-trace-start": link_trace_start,
            "delay": delay,
            "queue": queue,
            "loss": loss,
            "loss-burst": loss_burst,
            "outage": outage or None,
            "policer": policer,
            "arq": arq,
            "jitter": jitter,
            "jitter-correlation": jitter_correlation,
            "jitter-reorder": jitter_reorder or None,
            "reorder": reorder,
            "duplicate": duplicate,
        },
        back={"rate": back_rate, "delay": back_delay, "queue": back_queue, "loss": back_loss},
        scenario=scenario,
    )
    try:
        outcome = emulation.emulate(
            scenario or single,
            command,
            servers=[_words(text) for text in server or []],
            internet=internet,
            overrides=overrides(settings),
            flow=flow,
            seed=seed,
            mtu=mtu,
            pcap=pcap,
            statistics=statistics,
        )
    except ScenarioError as error:
        raise _of_option(error) if scenario is None else error from error
    if json:
        show_json(outcome.summary)
    else:
        display.show_emulation(outcome)
    for file, key in ((pcap, "capture_error"), (statistics, "statistics_error")):
        if outcome.summary[key]:
            complain(f"{file}: {outcome.summary[key]}. The file ends there; the command went on.")
    raise typer.Exit(outcome.exit_code)


def _single_link(there: dict[str, Any], back: dict[str, Any], scenario: Path | None) -> dict[str, Any]:
    """Make a scenario of the options for one link."""
    usual = {"delay": "0ms", "queue": "unlimited"}
    given = {name for name, value in there.items() if value is not None and usual.get(name) != value}
    given |= {f"back-{name}" for name, value in back.items() if value is not None}
    if scenario is None and not {"rate", "link-trace-in"} & given:
        raise InputError(
            "how fast is the link? Give --rate, such as --rate 15M, or --link-trace-in, or a network by --scenario."
        )
    if scenario is not None and given:
        options = ", ".join(f"--{name}" for name in sorted(given))
        raise InputError(
            f"--scenario has a network of its own, beside which {options} would be ignored. Change it by --set."
        )
    for name, whole in PARTS.items():
        if name in given and whole not in given:
            raise InputError(f"--{name} describes --{whole}, which is not given.")
    differing = {name: value for name, value in back.items() if value is not None}
    words = {"link-trace-in": "trace", "link-trace-start": "trace_start", "outage": "outages"}
    named = {words.get(name, name.replace("-", "_")): value for name, value in there.items()}
    forward = {name: value for name, value in named.items() if value is not None}
    if "rate" in differing:
        differing |= {"trace": None, "trace_start": None}
    return emulation.network(emulation.link(**forward), emulation.link(**{**forward, **differing}))


def _words(text: str) -> list[str]:
    """Split the command of a server as a shell does; no shell sees it."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"--server {text}: a quotation mark is not closed, or a backslash is last.") from error


def _of_option(error: ScenarioError) -> InputError:
    """Name the option in place of the scenario's key."""
    parts = error.path.split(".")
    own = {
        "trace": "link-trace-in",
        "trace-start": "link-trace-start",
        "outages": "outage",
        "mean-burst": "loss-burst",
        "correlation": "jitter-correlation",
    }
    known = dict.fromkeys(("rate", "delay", "queue", "loss", "jitter", "reorder", "duplicate", "policer", "arq")) | own
    whole = (part for part in parts if part in ("policer", "arq"))  # their keys are no options
    name = next(whole, None) or next((part for part in reversed(parts) if part in known), None)
    # Of the others there is one option for both directions.
    back = "back-" * ("reverse" in parts and name in BACK)
    option = name and f"--{back}{known[name] or name}"
    text = str(error).replace("`outages`", "`--outage`")
    return InputError(text.replace(error.path, option) if option else text)
