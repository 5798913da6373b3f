"""Where the repository keeps what the program reads: scenarios, studies, benchmark scripts."""

from pathlib import Path

from earlybird.errors import InputError

REPOSITORY = Path(__file__).resolve().parents[2]
"""The checkout this package runs from."""

RESULTS = Path("results")
"""The default folder for results, below the working directory."""

REPORTS = Path("reports")
"""The default folder for reports, below the working directory."""

PUBLISHED = Path("docs", "results")
"""The default folder for published results, below the working directory."""


def repository_file(*parts: str) -> Path:
    """
    Find a file or folder of the repository.

    Parameters
    ----------
    *parts
        Its path below the repository's root, such as ``"scenarios", "dumbbell.toml"``.

    Returns
    -------
    Path
        Where it is.

    Raises
    ------
    InputError
        If it is not there, as when the package was installed without its repository.
    """
    path = REPOSITORY.joinpath(*parts)
    if not path.exists():
        raise InputError(
            f"{path} is missing. Run earlybird from a clone of its repository, where `make build` puts it."
        )
    return path
