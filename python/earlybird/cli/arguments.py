"""Arguments that several sub-commands share."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from earlybird.errors import InputError

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

AtOnce: TypeAlias = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Runs in real time that are made side by side; each tells whether it was disturbed."
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

Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]


def overrides(settings: list[str] | None) -> list[tuple[str, str]]:
    """
    Split the values of ``--set`` at their first equals sign.

    Raises
    ------
    InputError
        If there is none.
    """
    return [_pair(setting) for setting in settings or []]


def _pair(setting: str) -> tuple[str, str]:
    key, equals, value = setting.partition("=")
    if not (equals and key.strip()):
        raise InputError(
            f"--set {setting}: a setting has the form key=value, such as pairs=28 or measure.series=100ms."
        )
    return key.strip(), value.strip()


def examples(*commands: str) -> str:
    """Write the examples below a command's help, one per line."""
    return "\n\n".join(["Examples:", *(f"  {command}" for command in commands)])
