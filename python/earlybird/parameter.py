"""Parameters in typed scenarios."""

from typing import Self


class Parameter(str):
    """Stands for the value of a scenario's parameter, as ``"$pairs"`` does in the TOML form."""

    __slots__ = ()

    def __new__(cls, name: str) -> Self:
        """Write the parameter as scenarios do."""
        return super().__new__(cls, f"${name}")
