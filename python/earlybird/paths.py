"""Paths of the files that the program reads: scenarios, studies, the clip, the licences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from earlybird.errors import InputError

if TYPE_CHECKING:
    from _typeshed import SupportsRead

REPOSITORY = Path(__file__).resolve().parents[2]  # the checkout this package runs from, if it does

SHIPPED = Path(__file__).with_name("shipped")
"""Files that come with the program: in a checkout links to the repository's folders, in a wheel copies of them."""

RESULTS = Path("results")  # the default folder for results, below the working directory

REPORTS = Path("reports")  # the default folder for reports, below the working directory

CHECKS = Path("checks")
"""The default folder for runs that are made again to check others, below the working directory."""

PUBLISHED = Path("docs", "results")  # the default folder for published results, below the working directory

LONGEST_TEXT = 64 << 20
"""Bytes of a text that is read whole: of a scenario, a study, a measurement or a manifest. A day of pings has 6 MB."""


def shipped_file(*parts: str) -> Path:
    """Find a file that is part of the program by its path in the repository: ``"scenarios", "dumbbell.toml"``."""
    path = SHIPPED.joinpath(*parts)
    if not path.exists():
        raise InputError(f"{path} is missing, which comes with earlybird. Install it once more.")
    return path.resolve()


def limited_text(path: Path) -> str:
    """Read a text in UTF-8; raise ValueError if it is none, or has more than `LONGEST_TEXT` bytes, as a device may."""
    with path.open("rb") as file:
        return limited_bytes(file).decode()


def limited_bytes(file: SupportsRead[bytes]) -> bytes:
    """Read a file; raise ValueError if it has more than `LONGEST_TEXT` bytes."""
    content = file.read(LONGEST_TEXT + 1)
    if len(content) > LONGEST_TEXT:
        raise ValueError(f"it is longer than {LONGEST_TEXT >> 20} MiB")
    return content


def found(path: Path) -> Path:
    """Return a path as given; if it does not exist, the file of that name that is part of the program, if any."""
    is_shipped = not path.is_absolute() and ".." not in path.parts and (SHIPPED / path).is_file()
    return shipped_file(*path.parts) if is_shipped and not path.exists() else path


def templates() -> dict[str, Path]:
    """Return the files of the scenarios to begin with, by name."""
    return {path.stem: path for path in sorted(Path(__file__).with_name("templates").glob("*.toml"))}
