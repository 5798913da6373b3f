"""Read TOML tables into dataclasses, with one-sentence errors."""

import dataclasses
import difflib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from earlybird.errors import InputError, because
from earlybird.paths import limited_text

T = TypeVar("T")
Table = Mapping[str, Any]

KINDS: Mapping[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
"""Kinds of single values of a file, in words."""


def read_toml(path: Path) -> Table:
    """Read a file; an error is one sentence."""
    try:
        return tomllib.loads(limited_text(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {because(error)}.") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not valid TOML: {error}.") from error


@contextmanager
def files_of(folder: str) -> Iterator[None]:
    """Put a folder's name before the files that errors name."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{folder}/{error}") from error
    except RecursionError as error:
        raise InputError(f"{folder}: its tables are nested too deeply.") from error


def section(document: Table, name: str, where: str) -> Mapping[str, Table]:
    """Return the tables of a section by name."""
    found = document.get(name, {})
    if not isinstance(found, Mapping) or not all(isinstance(table, Mapping) for table in found.values()):
        raise InputError(f"{where}: {name} = {found!r}: there must be tables below it, [{name}.NAME].")
    return found


def listed(document: Table, name: str, where: str) -> Sequence[Table]:
    """Return the tables that stand below ``[[name]]``, in their order."""
    found = document.get(name, [])
    if not isinstance(found, list) or not all(isinstance(table, Mapping) for table in found):
        raise InputError(f"{where}: {name} = {found!r}: there must be tables, [[{name}]].")
    return found


def named(
    kind: Callable[..., T], document: Table, name: str, where: str, prepare: Callable[[Table], Table] = dict
) -> dict[str, T]:
    """Make a dataclass of each table of a section, which gets the table's name."""
    tables = section(document, name, where)
    return {
        key: build(kind, {"name": key, **prepare(table)}, f"{where}: {name}.{key}") for key, table in tables.items()
    }


def build(kind: Callable[..., T], table: Table, where: str) -> T:
    """Build a dataclass from a table; unknown and missing keys are errors."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} = {table!r}: it must be a table.")
    values = {key.replace("-", "_"): _frozen(value) for key, value in table.items()}
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in sorted(values.keys() - fields.keys()):
        near = difflib.get_close_matches(name, fields, 1) or sorted(fields)
        raise InputError(f"{where}: there is no key {name!r} here; is it {', '.join(near)}?")
    missing = [name for name, field in fields.items() if _is_required(field) and name not in values]
    if missing:
        raise InputError(f"{where}: {', '.join(missing)} must be given.")
    kinds = get_type_hints(kind)
    for name, value in values.items():
        try:
            # Only checked: a whole number stays one where any number may stand, and is written as one again.
            msgspec.convert(value, kinds[name])
        except msgspec.ValidationError as error:
            key = f"{where}.{name.replace('_', '-')}"
            raise InputError(f"{key} = {value!r}: it must be {_words(kinds[name])}.") from error
    return kind(**values)


def one_of(value: object, allowed: Iterable[object], where: str, what: str, *, given: object = None) -> None:
    """Check that a value of a file is allowed; the error has place, value (or its text `said`) and the nearest one."""
    known = list(dict.fromkeys(allowed))
    if value in known:
        return
    texts = {str(each): each for each in known}
    near = difflib.get_close_matches(str(value), texts, 1)
    hint = f"did you mean {texts[near[0]]!r}? There are: " if near else "there are: "
    shown = value if given is None else given
    raise InputError(f"{where} = {shown!r}: there is no such {what}; {hint}{', '.join(sorted(texts)) or 'none'}.")


def _words(annotation: object) -> str:
    """Return the kinds that an annotation allows, in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Mapping:
        return "a table" + ("" if inner[1] in (object, Any) else f" with {_words(inner[1])} at each key")
    if origin is tuple and inner[-1] is not Ellipsis:
        return f"a list of {len(inner)}, each {_words(inner[0])}"
    if origin is tuple:
        return "a list" + ("" if inner[0] in (object, Any) else f", each {_words(inner[0])}")
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if isinstance(annotation, UnionType):
        return " or ".join(_words(kind) for kind in inner if kind is not NoneType)
    return KINDS.get(annotation, "a table")


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _frozen(value: object) -> object:
    """Turn lists into tuples, down through tables."""
    if isinstance(value, Mapping):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
