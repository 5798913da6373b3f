"""Tables as pandas has them, for programs that take nothing else."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from earlybird.extras import MissingPackageError

if TYPE_CHECKING:
    import polars as pl


def to_pandas(table: pl.DataFrame) -> Any:  # noqa: ANN401, as pandas need not be installed
    """
    Return a table as a `pandas.DataFrame`; missing whole numbers make a column of floats with NaN.

    Columns are copied as NumPy arrays: polars' own `to_pandas` takes pyarrow too. Raises `MissingPackageError` without
    pandas.
    """
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "This needs the package pandas, which is not installed; `pip install pandas` installs it.", name=error.name
        ) from error
    return pandas.DataFrame({name: table[name].to_numpy() for name in table.columns})
