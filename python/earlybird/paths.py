"""Paths of the files that the program reads: scenarios, studies, the clip, the licences."""

from pathlib import Path

from earlybird.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]  # the checkout this package runs from, if it does

SHIPPED = Path(__file__).with_name("shipped")
"""Files that come with the program: in a checkout links to the repository's folders, in a wheel copies of them."""

RESULTS = Path("results")  # the default folder for results, below the working directory

REPORTS = Path("reports")  # the default folder for reports, below the working directory

CHECKS = Path("checks")
"""The default folder for runs that are made again to check others, below the working directory."""

PUBLISHED = Path("docs", "results")  # the default folder for published results, below the working directory

LONGEST_TEXT = 64 << 20  # bytes of a scenario or a study's file; the largest that come with it have 60 kB


def shipped_file(*parts: str) -> Path:
    """Find a file that is part of the program by its path in the repository: ``"scenarios", "dumbbell.toml"``."""
    path = SHIPPED.joinpath(*parts)
    if not path.exists():
        raise InputError(f"{path} is missing, which comes with earlybird. Install it once more.")
    return path.resolve()


def limited_text(path: Path) -> str:
    """Read a text in UTF-8; raise ValueError if it is none, or has more than `LONGEST_TEXT` bytes, as a device may."""
    with path.open("rb") as file:
        content = file.read(LONGEST_TEXT + 1)
    if len(content) > LONGEST_TEXT:
        raise ValueError(f"it is longer than {LONGEST_TEXT >> 20} MiB")
    return content.decode()


def found(path: Path) -> Path:
    """Return a path as given; if it does not exist, the file of that name that is part of the program, if any."""
    is_shipped = not path.is_absolute() and ".." not in path.parts and (SHIPPED / path).is_file()
    return shipped_file(*path.parts) if is_shipped and not path.exists() else path


def templates() -> dict[str, Path]:
    """Return the files of the scenarios to begin with, by name."""
    return {path.stem: path for path in sorted(Path(__file__).with_name("templates").glob("*.toml"))}
