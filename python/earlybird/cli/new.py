"""`earlybird new`: a scenario, or a congestion control, to begin with."""

from pathlib import Path
from typing import Annotated

import typer

from earlybird.cli.arguments import Json, examples
from earlybird.cli.output import show_outcome
from earlybird.control_templates import write_control
from earlybird.paths import templates
from earlybird.scenario_templates import DEFAULT, write_template

NAME = "new"
EXAMPLES = examples(
    "earlybird new",
    "earlybird new talk.toml --template call",
    "earlybird new --control mine.py",
    "earlybird new --control mine",
)


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
    control: Annotated[
        str | None,
        typer.Option(
            metavar="NAME[.py]",
            help="Write a congestion control instead: a file of Python, or without .py a folder with a crate in Rust.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a short scenario with comments, to change and to run, or a congestion control."""
    if control is not None:
        path, plugin = write_control(control)
        build = "" if path == plugin else f"cargo build --release --manifest-path {path / 'Cargo.toml'}, then "
        use = f"earlybird transports --plugin {plugin}"
        show_outcome({"path": str(path), "plugin": str(plugin)}, f"Written: {path}. Next: {build}{use}", json=json)
        return
    write_template(template, file)
    next_step = f"earlybird run {file}, or change it and see with earlybird validate {file}"
    show_outcome({"path": str(file), "template": template}, f"Written: {file}. Next: {next_step}", json=json)
