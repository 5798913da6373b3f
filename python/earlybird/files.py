"""
The form of a result on disk: one folder with ``scenario.json``, ``summary.json`` and a Parquet file per table.

Small results of sweeps and studies have one file in the place of these, ``result.json`` (`small_results`).

The same run gives the same bytes: settings are fixed and what was measured with a clock is left out. A list of
checksums (``sha256sum --check checksums.sha256`` reads it too) tells a damaged file from a whole one.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import shutil
from functools import partial
from typing import TYPE_CHECKING, Any

from earlybird.errors import StoreError, because
from earlybird.lazy import LateModule
from earlybird.limits import memory_limit
from earlybird.paths import limited_text
from earlybird.result import Result
from earlybird.small_results import SmallTable, is_small, table_of, written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import polars as pl
else:
    pl = LateModule("polars")

CHECKSUMS = "checksums.sha256"
SCENARIO = "scenario.json"
SUMMARY = "summary.json"
SMALL = "result.json"
PARTS = ("scenario", "summary", "tables")  # of the file of a small result
MEASURED_WITH_A_CLOCK = ("cpu_s",)
BYTES_OF_VALUE = 8  # of memory, as most columns have numbers of 64 bits


def write_result(result: Result, folder: Path, *, is_brief: bool = False) -> Path:
    """Write a result as `write_files` does; with `is_brief` a small one in one file."""
    return write_files(files_of(result, is_brief=is_brief), folder)


def files_of(result: Result, *, is_brief: bool = False) -> dict[str, bytes]:
    """Return the content of every file of a result by the file's name; with `is_brief` one file of a small result."""
    files = {SMALL: _small(result)} if is_brief and is_small(result) else dict(_contents(result))
    lines = (f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    return {**files, CHECKSUMS: "".join(lines).encode()}


def write_files(files: Mapping[str, bytes], folder: Path) -> Path:
    """Write a result under a temporary name and rename it last, so that a killed process leaves nothing half-done."""
    temporary = temporary_place(folder)
    try:
        _refuse_other_content(folder)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        _put(temporary, folder)
    except OSError as error:
        raise StoreError(
            f"cannot write the result {folder}: {because(error)}. Runs finished before are kept."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def temporary_place(path: Path) -> Path:
    """Return a temporary name, unique over machines, as a folder may be shared."""
    return path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}")


def is_left_over(path: Path) -> bool:
    """Return whether this is a leftover of a process of this machine that has ended."""
    rest, _, process = path.name.rpartition(".")
    return rest.endswith(f".{os.uname().nodename}") and process.isdigit() and not _is_alive(int(process))


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def read_result(folder: Path) -> Result:
    """Read a result; its tables are read when asked for."""
    checksums = _checksums(folder)
    if SMALL in checksums:
        return _small_result(folder, _document(folder, SMALL, checksums))
    scenario, summary = (_document(folder, name, checksums) for name in (SCENARIO, SUMMARY))
    if not isinstance(summary.get("seed"), int):
        raise _damaged(folder / SUMMARY, "it has no seed")
    tables = sorted(name for name in checksums if name.endswith(".parquet"))
    sources = {name.removesuffix(".parquet"): partial(_read_table, folder, name, checksums) for name in tables}
    return Result(scenario, summary["seed"], summary, sources)


def whole_table(folder: Path, name: str) -> Path | SmallTable:
    """
    Return the file of a table of a result, or the table if the result is a small one.

    Raises InputError if there is none, StoreError if it is damaged.
    """
    checksums, file = _checksums(folder), f"{name}.parquet"
    if SMALL in checksums:
        return _small_table(folder, name, checksums)
    if file not in checksums:
        read_result(folder).require(name)
    _content(folder, file, checksums)
    return folder / file


def verify_result(folder: Path) -> None:
    """Compare every file with its checksum."""
    checksums = _checksums(folder)
    for name in checksums:
        _content(folder, name, checksums)


def fingerprint(folder: Path) -> str:
    """Return a hash of all files of a result, after comparing every file with its checksum."""
    verify_result(folder)
    return hashlib.sha256((folder / CHECKSUMS).read_bytes()).hexdigest()


def _refuse_other_content(folder: Path) -> None:
    """Refuse to replace a folder that is not a result, so that a wrong path deletes nothing."""
    if folder.is_dir() and any(folder.iterdir()) and not _holds_only_a_result(folder):
        raise StoreError(f"cannot write the result {folder}: the folder holds something else. Choose another one.")


def _holds_only_a_result(folder: Path) -> bool:
    """Return whether every file of a folder is one that its list of checksums names, and a result's are among them."""
    try:
        names = _checksums(folder).keys() | {CHECKSUMS}
    except StoreError:
        return False
    return all(path.name in names for path in folder.iterdir())


def complete_files(folder: Path) -> dict[str, bytes | Path]:
    """Return the files of a result with a Parquet file per table, whatever its form in the folder is, by name."""
    if SMALL in _checksums(folder):
        return {**files_of(read_result(folder))}
    return {path.name: path for path in folder.iterdir()}


def _contents(result: Result) -> Iterator[tuple[str, bytes]]:
    _, scenario, summary = comparable(result)
    yield SCENARIO, _json(scenario)
    yield SUMMARY, _json(summary)
    yield from _parquet({f"{name}.parquet": result.table(name) for name in sorted(result.tables)}).items()


def _small(result: Result) -> bytes:
    _, scenario, summary = comparable(result)
    return written(finite(scenario), summary, result)


def _small_result(folder: Path, document: dict[str, Any]) -> Result:
    parts = [part for name in PARTS if isinstance(part := document.get(name), dict)]
    if len(parts) != len(PARTS):
        raise _damaged(folder / SMALL, "it has not what a result has")
    scenario, summary, tables = parts
    if not isinstance(summary.get("seed"), int):
        raise _damaged(folder / SMALL, "it has no seed")
    return Result(
        scenario, summary["seed"], summary, {name: partial(_small_frame, folder, document, name) for name in tables}
    )


def _small_frame(folder: Path, document: dict[str, Any], name: str) -> pl.DataFrame:
    try:
        return table_of(document, name).frame()
    except ValueError as error:
        raise _damaged(folder / SMALL, str(error)) from error


def _small_table(folder: Path, name: str, checksums: dict[str, str]) -> SmallTable:
    document = _document(folder, SMALL, checksums)
    _small_result(folder, document).require(name)
    try:
        return table_of(document, name)
    except ValueError as error:
        raise _damaged(folder / SMALL, str(error)) from error


def _json(document: dict[str, Any]) -> bytes:
    return (json.dumps(finite(document), indent=2, ensure_ascii=False) + "\n").encode()


def comparable(result: Result) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Return what equal runs have alike besides their tables: what is written of them."""
    scenario = {key: value for key, value in result.scenario.items() if key != "sweep"}
    summary = {key: value for key, value in result.summary.items() if key not in MEASURED_WITH_A_CLOCK}
    return result.seed, scenario, finite(summary)


def finite(document: dict[str, Any]) -> dict[str, Any]:
    """Replace infinite and undefined numbers, which JSON does not have, by null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value for key, value in document.items()
    }


def _parquet(tables: Mapping[str, pl.DataFrame]) -> dict[str, bytes]:
    """Write tables in one go, as each query of polars has its price, small as a table may be."""
    buffers = {name: io.BytesIO() for name in tables}
    sinks = [
        table.lazy().sink_parquet(
            buffers[name], compression="zstd", compression_level=3, statistics=True, row_group_size=1 << 20, lazy=True
        )
        for name, table in tables.items()
    ]
    pl.collect_all(sinks, engine="streaming")
    return {name: buffer.getvalue() for name, buffer in buffers.items()}


def _put(temporary: Path, folder: Path) -> None:
    """Rename a folder; an existing one is replaced, unless it is equal, as when two processes made one run."""
    try:
        temporary.rename(folder)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        if not _is_the_same(temporary, folder):
            shutil.rmtree(folder)
            temporary.rename(folder)


def _is_the_same(new: Path, old: Path) -> bool:
    try:
        verify_result(old)
    except StoreError:
        return False
    return _checksums(new) == _checksums(old)


def _checksums(folder: Path) -> dict[str, str]:
    """Return the expected checksum of each file."""
    path = folder / CHECKSUMS
    if not path.is_file():
        raise _no_result(folder)
    try:
        lines = limited_text(path).splitlines()
        checksums = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    except (OSError, ValueError) as error:
        raise _damaged(path, "its list of files cannot be read") from error
    if SMALL not in checksums and {SCENARIO, SUMMARY} - checksums.keys():
        raise _no_result(folder)
    if foreign := [name for name in checksums if "/" in name or not (folder / name).is_file()]:
        raise _damaged(path, f"{foreign[0]!r} in its list is not one of the folder's files")
    return checksums


def _document(folder: Path, name: str, checksums: dict[str, str]) -> dict[str, Any]:
    try:
        document = json.loads(_content(folder, name, checksums))
    except (ValueError, RecursionError) as error:
        raise _damaged(folder / name, "it is not JSON") from error
    if not isinstance(document, dict):
        raise _damaged(folder / name, "it is not an object of JSON")
    return document


def _content(folder: Path, name: str, checksums: dict[str, str]) -> bytes:
    """Read a file, making sure that it is as it was written."""
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _damaged(path, because(error)) from error
    if hashlib.sha256(content).hexdigest() != checksums[name]:
        raise _damaged(path, "its content has changed since it was written")
    return content


def _no_result(folder: Path) -> StoreError:
    """Return the error of a folder that is no result. It does not advise to delete it: it may contain anything."""
    if not folder.is_dir():
        return StoreError(f"there is no result in {folder}: no such folder.")
    if below := min((path.parent.name for path in folder.glob(f"*/{CHECKSUMS}")), default=None):
        return StoreError(f"{folder} is a folder of results, not one of them. Name one, such as {folder / below}.")
    return StoreError(
        f"there is no result in {folder}: it has no {CHECKSUMS} of a result. Name a folder that `Result.save` or "
        "--output made."
    )


def _damaged(path: Path, reason: str) -> StoreError:
    return StoreError(
        f"the result file {path} is damaged: {reason}. The command or script that made the result makes it again."
    )


def _read_table(folder: Path, name: str, checksums: dict[str, str]) -> pl.DataFrame:
    content = _content(folder, name, checksums)
    try:
        return parsed_table(content)
    except ValueError as error:
        raise _damaged(folder / name, str(error)) from error


def parsed_table(content: bytes) -> pl.DataFrame:
    """Read a Parquet file; raise ValueError if it is none, or its rows take more memory than there is."""
    try:
        table = pl.scan_parquet(io.BytesIO(content))
        values = table.select(pl.len()).collect().item() * len(table.collect_schema())
        if values * BYTES_OF_VALUE > memory_limit():  # a file of a few bytes may have 10¹² equal rows
            raise ValueError(f"its {values:.0e} values do not fit into memory")
        return table.collect()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"it is not a table ({str(error).partition(chr(10))[0]})") from error
