"""Templates of scenarios: short, commented and valid."""

from pathlib import Path

from earlybird.errors import InputError
from earlybird.paths import templates

DEFAULT = "dsl"


def template_text(name: str) -> str:
    """Return a template: a scenario in TOML."""
    there = templates()
    if name not in there:
        raise InputError(f"template = {name}: there is no such template; there are {', '.join(there)}.")
    return there[name].read_text(encoding="utf-8")


def write_template(name: str, path: Path) -> None:
    """Write a template to a new file; an existing file is not changed."""
    text = template_text(name)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("FILE", str(path)))
    except FileExistsError as error:
        raise InputError(f"{path} is there already and is not overwritten. hint: name another file.") from error
