"""Modules of a crate use each other one way: siblings form no circle; a module and its own children are free."""

from __future__ import annotations

import re
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import pytest

from conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CRATES: Final = sorted(path.parent for path in (REPOSITORY / "crates").glob("*/src"))

Module: TypeAlias = tuple[str, ...]
"""The path of a module below the root of its crate, or that of an item in one."""

NOT_CODE: Final = re.compile(r'//[^\n]*|r#".*?"#|"(?:\\.|[^"\\])*"', re.DOTALL)
TESTS: Final = re.compile(r"#\[cfg\((?:all\()?test\b")
USE: Final = re.compile(r"(pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
PATH: Final = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")


class Import(NamedTuple):
    """A name that a module takes, and what it is."""

    name: str
    path: Module
    is_public: bool = False


def without_tests(text: str) -> str:
    """Leave out comments, strings and unit tests, which may use anything."""
    text = NOT_CODE.sub("", text)
    while found := TESTS.search(text):
        text = text[: found.start()] + text[end_of_item(text, found.start()) :]
    return text


def end_of_item(text: str, start: int) -> int:
    """Return where an item ends: at its semicolon, or at the brace that closes its body."""
    depth = 0
    for found in re.finditer(r"[{};]", text[start:]):
        depth += {"{": 1, "}": -1, ";": 0}[found.group()]
        if depth == 0:
            return start + found.end()
    return len(text)


def module_of(path: Path) -> Module:
    """Return the module in a file below `src`."""
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in {"lib", "main", "mod"} else parts


def modules(crate: Path) -> dict[Module, str]:
    """Read a crate. Programs beside its library are crates of their own."""
    sources = ((path.relative_to(crate / "src"), path) for path in (crate / "src").rglob("*.rs"))
    library = ((inside, path) for inside, path in sources if inside.parts[0] != "bin" and path.stem != "tests")
    return {module_of(inside): without_tests(path.read_text(encoding="utf-8")) for inside, path in library}


def leaves(tree: str, prefix: Module = ()) -> Iterator[Import]:
    """List what a `use` names: ``a::{b, c as d}`` is ``a::b`` and ``a::c``."""
    if nested := re.fullmatch(r"((?:\w+::)*)\{(.*)\}", tree.strip(), re.DOTALL):
        inner = prefix + tuple(nested[1].split("::")[:-1])
        for part in parts_of(nested[2]):
            yield from leaves(part, inner)
    elif single := re.fullmatch(r"([\w:*]+)(?:\s+as\s+(\w+))?", tree.strip()):
        path = prefix + tuple(single[1].split("::"))
        path = path[:-1] if path[-1] == "self" else path
        yield Import(single[2] or path[-1], path)


def parts_of(tree: str) -> list[str]:
    """Split a list at the commas that lie in no further braces."""
    depth, parts = 0, [""]
    for letter in tree:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        parts = [*parts, ""] if letter == "," and depth == 0 else [*parts[:-1], parts[-1] + letter]
    return parts


def below_root(path: Module, module: Module, known: Mapping[Module, str]) -> Module | None:
    """Return a path as the root of the crate sees it; nothing for a path into another crate."""
    if path[0] == "crate":
        return path[1:]
    while path and path[0] in {"super", "self"}:
        module, path = (module[:-1] if path[0] == "super" else module), path[1:]
        if not path or path[0] not in {"super", "self"}:
            return module + path
    return module + path if module + path[:1] in known else None


def imports(module: Module, text: str, known: Mapping[Module, str]) -> Iterator[Import]:
    """List what a module takes from its crate, by `use` or by a path in place."""
    named = (Import(one.name, one.path, bool(use[1])) for use in USE.finditer(text) for one in leaves(use[2]))
    in_place = (Import("", tuple(path.split("::"))) for path in PATH.findall(USE.sub("", text)))
    for one in (*named, *in_place):
        path = below_root(one.path, module, known)
        if path is not None:
            yield one._replace(path=path)


def circles(known: Mapping[Module, str]) -> list[str]:
    """Name a circle at each level that has one: of the modules there, each with all below it."""
    taken = {module: list(imports(module, text, known)) for module, text in known.items()}
    handed_on = {(module, one.name): one.path for module, all_ in taken.items() for one in all_ if one.is_public}
    levels: defaultdict[Module, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module, all_ in taken.items():
        for one in all_:
            home = home_of(one.path, known, handed_on)
            shared = next((at for at, pair in enumerate(zip(module, home, strict=False)) if pair[0] != pair[1]), None)
            if shared is not None:
                levels[module[:shared]][module[shared]].add(home[shared])
    return [f"{'::'.join(level) or 'crate'}: {circle}" for level, uses in levels.items() for circle in circle_in(uses)]


def home_of(path: Module, known: Mapping[Module, str], handed_on: Mapping[tuple[Module, str], Module]) -> Module:
    """Return the module that defines an item, behind the `pub use` of those that hand it on."""
    seen: set[Module] = set()
    while path not in seen:
        seen.add(path)
        module = next(path[:end] for end in range(len(path), -1, -1) if path[:end] in known)
        rest = path[len(module) :]
        if not rest or (module, rest[0]) not in handed_on:
            return module
        path = handed_on[module, rest[0]] + rest[1:]
    return path


def circle_in(uses: Mapping[str, set[str]]) -> Iterator[str]:
    """Name a circle, if there is one."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        yield " -> ".join(reversed(error.args[1]))


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_no_modules_of_a_crate_use_each_other_in_a_circle(crate: Path) -> None:
    assert circles(modules(crate)) == []


def test_a_circle_through_a_reexport_and_a_folder_is_found() -> None:
    sources = {
        (): "mod a; mod b; pub use b::Item;",
        ("a",): "mod inner;",
        ("a", "inner"): "use crate::Item;",
        ("b",): "use crate::a::{self, Other as Another};",
    }
    assert circles(sources) == ["crate: a -> b -> a"]


def test_a_parent_and_its_children_may_use_each_other_and_tests_may_use_anything() -> None:
    test = without_tests("#[cfg(test)]\nmod tests { use crate::b::Item; fn f() {} }\nuse super::B; // crate::b::X")
    assert test.strip() == "use super::B;"
    assert circles({(): "", ("a",): "use inner::A;", ("a", "inner"): "use super::B;", ("b",): "use crate::a::B;"}) == []
