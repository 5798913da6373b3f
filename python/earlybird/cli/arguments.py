"""Arguments that several sub-commands share."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from earlybird.errors import InputError
from earlybird.lazy import LateModule
from earlybird.outputs import Outputs

if TYPE_CHECKING:
    from earlybird import plugin
else:
    plugin = LateModule("earlybird.plugin")

ScenarioFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="The scenario, as TOML or JSON.", show_default=False)
]

Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Replace a value of the scenario: a parameter's name or a dotted key. May be given several times.",
    ),
]

Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of the random numbers; the same seed gives the same result.")]

Jobs: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Worker processes.", show_default="one per processor")
]

Parallel: TypeAlias = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Runs in real time at the same time; the summary of each has whether it was disturbed."
    ),
]

ShardOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Make only the I-th of N parts of the runs, from 1: for N machines, or a SLURM array.",
        show_default="all",
    ),
]

Dask: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Simulate on the workers of the Dask cluster whose scheduler is there, such as tcp://10.0.0.1:8786.",
        show_default="processes of this machine",
    ),
]

Output: TypeAlias = Annotated[
    Path, typer.Option(metavar="DIR", help="Results folder; runs that are there are not repeated.")
]

Outages: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--outage",
        metavar="LENGTH@START[/PERIOD]",
        help="Lose all packets for a time, such as 2s@30s, or repeatedly: 2s@30s/60s. May be given several times.",
    ),
]

Policer: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="RATE,BYTES", help="Drop packets above a rate, beyond a bucket of so many bytes: 10Mb/s,125kB."
    ),
]

Arq: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE,TIME[,N]",
        help="Retransmit on the link what fails there, after a time and up to N (3) times, as LTE and Wi-Fi do: "
        "10%,8ms.",
    ),
]

Plugins: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Load a congestion control of your own: a file of Python, or a library (docs/own-control.md). May be "
        "given several times.",
    ),
]

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def overrides(settings: list[str] | None) -> list[tuple[str, str]]:
    """Split the values of ``--set`` at their first equals sign."""
    return [_pair(setting) for setting in settings or []]


def _pair(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not (equals and key.strip()):
        raise InputError(
            f"--set {setting}: a setting has the form key=value, such as pairs=28 or measure.series=100ms."
        )
    return key.strip(), value.strip()


def take_outputs(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each file of `Outputs` to a sub-command, which gets them as its argument ``outputs``."""
    kinds = Outputs.kinds()
    options: dict[str, Any] = {
        name: Annotated[Path | None, typer.Option(kind.option, metavar=kind.metavar, help=kind.help)]
        for name, kind in kinds.items()
    }
    options["trace_flow"] = Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A flow to trace (default: all but web flows). May be given several times."),
    ]

    def with_outputs(**arguments: Any) -> None:  # noqa: ANN401, as of any command
        files = {name: arguments.pop(name) for name in kinds}
        flows = arguments.pop("trace_flow") or ()
        command(**arguments, outputs=Outputs(**files, trace_flows=flows))

    return _with_options(command, with_outputs, options)


def take_plugins(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--plugin`` to a sub-command: what it names is loaded before."""

    def with_plugins(**arguments: Any) -> None:  # noqa: ANN401, as of any command
        if paths := arguments.pop("plugin"):
            plugin.load_all(paths)
        command(**arguments)

    return _with_options(command, with_plugins, {"plugin": Plugins})


def _with_options(
    command: Callable[..., None], changed: Callable[..., None], options: dict[str, Any]
) -> Callable[..., None]:
    """Return a changed sub-command with the help and the options of the first, except ``outputs``, and further ones."""
    signature = inspect.signature(command)
    shown = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in options.items()
    ]
    own = [parameter for name, parameter in signature.parameters.items() if name != "outputs"]
    # Without `__wrapped__`, by which typer would find the signature of `command` instead.
    functools.update_wrapper(changed, command, updated=())
    del changed.__wrapped__  # type: ignore[attr-defined]
    changed.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]
    changed.__annotations__ = {one.name: one.annotation for one in (*own, *shown)}
    return changed


def examples(*commands: str) -> str:
    """Write the examples below a command's help, one per line."""
    return "\n\n".join(["Examples:", *(f"  {command}" for command in commands)])
