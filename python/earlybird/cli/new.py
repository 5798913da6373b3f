"""`earlybird new`: a scenario to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import show_outcome
from earlybird.paths import templates
from earlybird.scenario_templates import DEFAULT, write_template

NAME = "new"
EXAMPLES = examples("earlybird new", "earlybird new talk.toml --template call")


def command(
    file: Annotated[
        Path, typer.Argument(metavar="[FILE.toml]", help="The file to write; an existing file is not changed.")
    ] = Path("scenario.toml"),
    *,
    template: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The template:  dsl, lte, call or dumbbell.",
            autocompletion=lambda: list(templates()),
        ),
    ] = DEFAULT,
    json: Json = False,
) -> None:
    """Write a short scenario with comments, to change and to run."""
    write_template(template, file)
    next_step = f"earlybird run {file}, or change it and see with earlybird validate {file}"
    show_outcome({"path": str(file), "template": template}, f"Written: {file}. Next: {next_step}", json=json)
