"""Templates of congestion controls: a file of Python, or a folder with a crate."""

import re
from pathlib import Path
from typing import Final

from earlybird.errors import InputError
from earlybird.transports import transports

NAME: Final = re.compile(r"(?!.*-(er|rack|fg)$)[a-z][a-z0-9-]{0,30}")
"""Names of congestion controls, as `Transports::with_plugin` takes them."""

TEMPLATE: Final = Path(__file__).with_name("templates") / "control"

FILES: Final = ("Cargo.toml", "rustfmt.toml", "src/lib.rs", "src/abi.rs", "src/glue.rs")


def write_control(name: str) -> tuple[Path, Path]:
    """Write a control to begin with; return its file or folder, and what ``--plugin`` takes."""
    path = Path(name)
    control = path.stem.replace("_", "-") if path.suffix == ".py" else path.name
    if not NAME.fullmatch(control):
        raise InputError(
            f"--control {name}: `{control}` is no name for a control; allowed: up to 31 small letters, digits and "
            "hyphens, beginning with a letter, without -er, -rack or -fg at the end, and .py behind it for Python."
        )
    if control in {each for transport in transports() for each in transport.names}:
        raise InputError(f"--control {name}: `{control}` is the name of a transport. hint: choose another one.")
    if path.exists():
        raise InputError(f"{path} is there already and is not overwritten. hint: choose another name.")
    if path.suffix == ".py":
        path.write_text((TEMPLATE / "control.py.template").read_text(encoding="utf-8"), encoding="utf-8")
        return path, path
    for file in FILES:
        target = path / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((TEMPLATE / file).read_text(encoding="utf-8").replace("NAME", control), encoding="utf-8")
    return path, path / "target" / "release" / f"lib{control.replace('-', '_')}.so"
