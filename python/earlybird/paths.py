"""Where what the program reads is: scenarios, studies, the clip, the licences."""

from pathlib import Path

from earlybird.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]
"""The checkout this package runs from, if it does."""

SHIPPED = Path(__file__).with_name("shipped")
"""What comes with the program: in a checkout links to the repository's folders, in a wheel copies of them."""

RESULTS = Path("results")
"""The default folder for results, below the working directory."""

REPORTS = Path("reports")
"""The default folder for reports, below the working directory."""

CHECKS = Path("checks")
"""The default folder for runs that are made again to check others, below the working directory."""

PUBLISHED = Path("docs", "results")
"""The default folder for published results, below the working directory."""


def shipped_file(*parts: str) -> Path:
    """
    Find a file or folder that comes with the program.

    `*parts`: its path in the repository, such as ``"scenarios", "dumbbell.toml"``. Raises `InputError` if it is not
    there.
    """
    path = SHIPPED.joinpath(*parts)
    if not path.exists():
        raise InputError(f"{path} is missing, which comes with earlybird. Install it once more.")
    return path.resolve()


def found(path: Path) -> Path:
    """
    Choose the file that a path means.

    `path`: as a person gave it. Returns the path itself; where nothing is there, the file that comes with the program
    under this name, if there is one, such as ``scenarios/dumbbell.toml`` or ``media/test-clip.mp4``.
    """
    is_shipped = not path.is_absolute() and ".." not in path.parts and (SHIPPED / path).is_file()
    return shipped_file(*path.parts) if is_shipped and not path.exists() else path


def templates() -> dict[str, Path]:
    """Return the files of the scenarios to begin with, by name."""
    return {path.stem: path for path in sorted(Path(__file__).with_name("templates").glob("*.toml"))}
