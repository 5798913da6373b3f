"""Arguments that the sub-commands of `earlybird study` share."""

from pathlib import Path
from typing import Annotated

import typer


def complete_name(incomplete: str) -> list[str]:
    """Offer the names that begin so to the shell."""
    from earlybird.study.language.library import ALL, study_names

    return [name for name in (*study_names(), ALL) if name.startswith(incomplete)]


def _complete_scale(incomplete: str) -> list[str]:
    from earlybird.study.language.definition import SCALES

    return [scale for scale in SCALES if scale.startswith(incomplete)]


Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME…",
        help="The studies, as `earlybird study list` names them, or all.",
        autocompletion=complete_name,
        show_default=False,
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        metavar="SCALE", help="Length and number of the runs: smoke, medium or full.", autocompletion=_complete_scale
    ),
]
Item = Annotated[
    str | None,
    typer.Option(
        metavar="ITEM",
        help="One figure or table of the study, as `earlybird study list` names them, such as T-F7: only its runs.",
        show_default=False,
    ),
]
Results = Annotated[Path, typer.Option(metavar="DIR", help="Results folder that is read.")]

DEFAULT_SCALE = "smoke"
