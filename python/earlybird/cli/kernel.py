"""`earlybird kernel`: PERT in this machine's kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from earlybird import kernel
from earlybird.cli.arguments import Json, examples
from earlybird.cli.error_boundary import FAILED, guarded
from earlybird.cli.output import echo, show_json, show_outcome
from earlybird.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

Algorithm = Annotated[str, typer.Argument(metavar="ALGORITHM", help="pert.", show_default=False)]
Name = Annotated[str, typer.Option(metavar="NAME", help="Name by which sockets select it: up to 15 characters.")]
Preset = Annotated[
    str | None,
    typer.Option(help="default, text, guarded, port, flat or h, as in scenarios.", show_default="default"),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        metavar="KEY=VALUE",
        help="A flag of the table `pert` of scenarios, or first-threshold, second-threshold, maximum-probability,"
        " largest-alpha. May be given several times.",
    ),
]


def check_command(*, name: Name = kernel.USUAL_NAME, json: Json = False) -> None:
    """Check whether this machine can load PERT, with instructions where it cannot."""
    conditions = kernel.check(name)
    if json:
        show_json(conditions)
    else:
        for condition in conditions:
            mark = {True: "yes", False: "no"}.get(condition["met"], "?")
            advice = f". {condition['advice']}" if condition["advice"] else ""
            echo(f"{mark:3}  {condition['name']}: {condition['found']}{advice}")
    needed = [condition for condition in conditions if "only)" not in condition["name"]]
    if any(condition["met"] is False for condition in needed):
        raise typer.Exit(FAILED)


def load_command(
    algorithm: Algorithm,
    *,
    preset: Preset = None,
    parameter: Parameters = None,
    name: Name = kernel.USUAL_NAME,
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N",
            help="Make it the default of this network namespace: a name of `ip netns`, a path, or self. May be given"
            " several times.",
        ),
    ] = None,
    route: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DESTINATION",
            help="Give it to this route only, such as default or 10.0.0.0/8. May be given several times.",
        ),
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="Keep it without a process, until `unload`.")] = False,
    json: Json = False,
) -> None:
    """
    Load PERT into the kernel, until `unload` or the end of the process that holds it.

    Sockets choose it by TCP_CONGESTION; namespaces and routes by the options
    below, which are restored when it is unloaded.
    """
    loaded = kernel.load(
        algorithm,
        parameters=_settings(preset, parameter),
        name=name,
        namespaces=namespace or [],
        routes=route or [],
        pin=pin,
    )
    holder = f"process {loaded['holder']}" if "holder" in loaded else loaded["pinned"]
    show_outcome(loaded, f"{name} is loaded, held by {holder}. `earlybird kernel unload` removes it.", json=json)


def status_command(*, json: Json = False) -> None:
    """Show what is loaded, which process holds it and what uses it."""
    status = kernel.status()
    lines = [line for loaded in status["loaded"] for line in _lines(loaded)]
    show_outcome(status, f"The kernel has {', '.join(status['registered'])}.", *lines, json=json)


def unload_command(*, name: Name = kernel.USUAL_NAME, json: Json = False) -> None:
    """Unload PERT from the kernel; connections that use it keep it."""
    kernel.unload(name)
    show_outcome({"name": name}, f"{name} is unloaded.", json=json)


def run_command(
    algorithm: Algorithm,
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND ...", help="The command.", show_default=False)],
    *,
    preset: Preset = None,
    parameter: Parameters = None,
    name: Name = kernel.USUAL_NAME,
) -> None:
    """
    Run a command whose TCP connections all have PERT.

    It uses the host's network, and connections of other programs do not change. Nothing is
    left when it has ended. Its exit code is the command's.
    """
    kernel.run(command, algorithm=algorithm, parameters=_settings(preset, parameter), name=name)


EveryAck = Annotated[bool, typer.Option("--every-ack", help="Print every ACK too, with PERT's inputs.")]


def watch_command(*, name: Name = kernel.USUAL_NAME, every_ack: EveryAck = False) -> None:
    """Print PERT's decisions as they are made, a line of JSON each, until it is unloaded."""
    kernel.watch(name, every_ack=every_ack)


def _settings(preset: str | None, parameters: list[str] | None) -> dict[str, str]:
    given = {} if preset is None else {"preset": preset}
    for text in parameters or []:
        key, equals, value = text.partition("=")
        if not (equals and key.strip() and value.strip()):
            raise InputError(f"--parameter {text}: a parameter has the form key=value, such as alpha=ramped.")
        given[key.strip()] = value.strip()
    return given


def _lines(loaded: dict[str, object]) -> list[str]:
    """Describe one PERT."""
    counters, parameters = loaded["counters"], loaded["parameters"]
    holder = f"pinned as {loaded['pinned']}" if loaded["pinned"] else f"held by process {loaded['holder']}"
    lines = [f"{loaded['name']}: {holder if loaded['registered'] else 'unloaded, old connections keep it'}"]
    if isinstance(parameters, dict):
        lines.append("  " + ", ".join(f"{key} {_word(value)}" for key, value in parameters.items()))
    if isinstance(counters, dict):
        lines.append("  " + ", ".join(f"{count} {key}" for key, count in counters.items()))
    users = [f"default of the namespace {user['name']}; reset: {user['reset']}" for user in _rows(loaded["namespaces"])]
    users += [f"route in {user['namespace']}: {user['route']}" for user in _rows(loaded["routes"])]
    lines.extend(f"  {user}" for user in users)
    return lines


def _rows(value: object) -> list[dict[str, str]]:
    return value if isinstance(value, list) else []


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value}"


application = typer.Typer(
    name="kernel",
    help="Load PERT into this machine's kernel, use it and take it out again (Linux, root).",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "check": (check_command, ("earlybird kernel check",)),
    "load": (
        load_command,
        (
            "earlybird kernel load pert",
            "earlybird kernel load pert --preset port --parameter first-threshold=8ms --namespace blue",
            "earlybird kernel load pert --route default",
        ),
    ),
    "status": (status_command, ("earlybird kernel status",)),
    "unload": (unload_command, ("earlybird kernel unload",)),
    "run": (run_command, ("earlybird kernel run pert -- python3 -m http.server",)),
    "watch": (watch_command, ("earlybird kernel watch", "earlybird kernel watch --every-ack > connection.jsonl")),
}

for _name, (_command, _examples) in COMMANDS.items():
    application.command(_name, epilog=examples(*_examples))(guarded(_command))
