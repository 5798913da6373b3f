"""Names, doc comments and comments use the words of docs/glossary.md."""

from __future__ import annotations

import ast
import re
import tokenize
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
import tree_sitter
import tree_sitter_rust

from conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

GLOSSARY: Final = REPOSITORY / "docs" / "glossary.md"
PARSER: Final = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))

DEFINITIONS: Final = {
    *("associated_type", "const_item", "const_parameter", "enum_item", "enum_variant", "field_declaration"),
    *("function_item", "function_signature_item", "macro_definition", "mod_item", "static_item", "struct_item"),
    *("trait_item", "type_item", "type_parameter", "union_item"),
}
"""Nodes of tree-sitter-rust whose field `name` is defined by them."""
PATTERNS: Final = {"for_expression", "let_condition", "let_declaration", "parameter"}
"""Nodes whose field `pattern` defines variables."""

HEADS: Final = re.compile(r"(Gives?|Says?|Tells?|Learns?|Hears?|What|Who|How|Where|When|Why)\b")
"""Words with which no comment begins. A doc comment names the item or the effect of a function ("Returns …")."""

WORST: Final = (
    *(
        "Theatre",
        "Crew",
        "crew",
        "Workshop",
        "Broadcast",
        "Prospect",
        "Standing",
        "Cast",
        "Entrance",
        "Scenery",
        "Stage",
    ),
    *("Performance", "perform", "Staging", "engage", "Seat", "SeatIo", "Chronicle", "Teller", "during", "Door"),
    *("disguised", "Lodger", "Chances", "use_chance", "place_for_two", "appoint", "keep_appointment", "Wish", "LOOK"),
    *("GLANCE", "LAST", "Left", "say", "hear", "Signs", "Outlet", "ring", "frugal", "on_silence", "MadeWay", "Heard"),
    *("Carried", "Taken", "Falling", "call_off", "look_at_choices", "examine", "Circumstances", "tell_circumstances"),
    *("counts_segments", "paces", "finds_black_holes", "refuses_foreign_echoes", "holds_new_data", "seconds", "modes"),
    *("equation_s", "n_pairs", "sft_s", "required_sud_s", "success_sud_5s", "ipat_stddev_ms", "cbr_drop_rate"),
)
"""Names that the code had once, and that hid a term of the field."""
LEGITIMATE: Final = {
    "Broadcast": "the broadcast address, not a film on its way to a viewer",
    "LAST": "the last of several values, not the time that a relay waits at its end",
    "during": "a span of a playback, not a function that sets a context",
    "modes": "modes of real-time delivery or of recovery, not a column",
    "ring": "a ring buffer, not a wake-up call",
    "seconds": "a number of seconds, not a formatter or parser of them",
}
"""Names of that list that are terms now: the meaning they have, and the one they had."""


class Name(NamedTuple):
    """An identifier where it is defined."""

    text: str
    path: Path
    line: int

    def __str__(self) -> str:
        """Return the name and its place."""
        return f"{self.path.relative_to(REPOSITORY)}:{self.line}: {self.text}"


@cache
def words(name: str) -> tuple[str, ...]:
    """Split an identifier at underscores and capital letters."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", name))


@cache
def tables() -> dict[str, list[list[str]]]:
    """Return the rows of the glossary's tables, without their heads, by section."""
    found: dict[str, list[list[str]]] = {}
    section = ""
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line.startswith("|") and not line.startswith("|---"):
            found.setdefault(section, []).append([cell.strip() for cell in line.strip("|").split("|")])
    return {section: rows[1:] for section, rows in found.items()}


@cache
def forbidden() -> frozenset[tuple[str, ...]]:
    """Return the words, or groups of words, that the glossary does not allow in names."""
    cells = [row[0] for row in tables()["Words that names avoid"]]
    for rows in tables().values():
        cells.extend(row[4] for row in rows if len(row) == 5)
    return frozenset(tuple(term.split()) for cell in cells for term in cell.split(",") if term.strip())


@cache
def forms(word: str) -> frozenset[str]:
    """Return a word with the endings that count as the same word."""
    return frozenset(word + ending for ending in ("", "s", "ed", "ing"))


def positions(term: tuple[str, ...], parts: Sequence[str]) -> Iterator[int]:
    """Yield where a term begins in a name; each of its words may have the ending -s, -ed or -ing."""
    for start in range(len(parts) - len(term) + 1):
        if all(part in forms(word) for word, part in zip(term, parts[start:], strict=False)):
            yield start


@cache
def first_words() -> frozenset[str]:
    """Return all forms of words with which a forbidden term begins."""
    return frozenset().union(*(forms(term[0]) for term in forbidden()))


def is_forbidden(name: Name) -> bool:
    """Return whether a name has a forbidden term that no exception allows."""
    # Nearly all names have no word of the lists: one comparison of sets decides for them.
    if first_words().isdisjoint(words(name.text)):
        return False
    parts = excepted(name)
    return any([*positions(term, parts)] for term in forbidden())


def is_in(place: str, path: Path) -> bool:
    """Return whether a path is the place of an exception, or lies in it."""
    return place == "*" or path.is_relative_to(REPOSITORY / place)


def excepted(name: Name) -> list[str]:
    """Return the words of a name without those that an exception allows."""
    parts = [*words(name.text)]
    for identifier, place, _ in tables()["Exceptions"]:
        term = words(identifier.strip("`"))
        if is_in(place, name.path):
            for start in [*positions(term, parts)]:
                parts[start : start + len(term)] = [""] * len(term)
    return parts


def bound(pattern: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the variables of a pattern of Rust; paths and constants begin with a capital letter."""
    if pattern.type in {"identifier", "shorthand_field_identifier"} and pattern.text and pattern.text[:1].islower():
        yield pattern
    for place, child in enumerate(pattern.children):
        if pattern.field_name_for_child(place) not in {"condition", "type"} and not child.type.endswith("expression"):
            yield from bound(child)


def defined(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Yield the identifiers that a node of Rust defines itself."""
    name = node.child_by_field_name("name") if node.type in DEFINITIONS else None
    pattern = node.child_by_field_name("pattern") if node.type in PATTERNS else None
    if node.type in {"closure_parameters", "match_pattern"}:
        pattern = node
    if name:
        yield name
    elif pattern:
        yield from bound(pattern)


def rust_names(path: Path) -> Iterator[Name]:
    """Yield what a file of Rust defines: items, fields, variants, parameters and variables."""
    nodes = [PARSER.parse(path.read_bytes()).root_node]
    while nodes:
        node = nodes.pop()
        nodes.extend(node.children)
        for each in defined(node):
            yield Name((each.text or b"").decode(), path, each.start_point[0] + 1)


def python_names(path: Path) -> Iterator[Name]:
    """Yield what a file of Python defines: functions, classes, parameters, attributes and variables."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield Name(node.name, path, node.lineno)
        elif isinstance(node, ast.arg):
            yield Name(node.arg, path, node.lineno)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield Name(node.id, path, node.lineno)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield Name(node.attr, path, node.lineno)


@cache
def sources(suffix: str) -> tuple[Path, ...]:
    """Return the files of a language."""
    folders = ("crates", "fuzz") if suffix == ".rs" else ("python", "tools", "tests")
    found = [path for folder in folders for path in (REPOSITORY / folder).rglob(f"*{suffix}")]
    return tuple(sorted(path for path in found if "target" not in path.parts))


@cache
def names() -> tuple[Name, ...]:
    """Return every identifier that is defined in the repository."""
    rust = [name for path in sources(".rs") for name in rust_names(path)]
    return (*rust, *(name for path in sources(".py") for name in python_names(path)))


def rust_docs(path: Path) -> Iterator[Name]:
    """Yield the first line of each doc comment of Rust."""
    before = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = re.match(r"\s*(///|//!) ?(.*)", line)
        if found and found[1] != before:
            yield Name(found[2], path, number)
        before = found[1] if found else ""


def python_docs(path: Path) -> Iterator[Name]:
    """Yield the first line of each docstring, those of constants and fields included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else []:
            value = each.value if isinstance(each, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield Name(value.value.strip().partition("\n")[0], path, each.lineno)


def rust_comments(path: Path) -> Iterator[Name]:
    """Yield the first line of each comment of Rust that is no doc comment."""
    source = path.read_bytes()
    lines, nodes, last = source.splitlines(), [PARSER.parse(source).root_node], -2
    while nodes:
        node = nodes.pop()
        nodes.extend(reversed(node.children))
        text = (node.text or b"").decode() if node.type == "line_comment" else ""
        if text.startswith("//") and not text.startswith(("///", "//!")):
            line, starts_line = node.start_point[0], lines[node.start_point[0]].lstrip().startswith(b"//")
            if not starts_line or line != last + 1:
                yield Name(text.removeprefix("//").strip(), path, line + 1)
            last = line if starts_line else -2


def python_comments(path: Path) -> Iterator[Name]:
    """Yield the first line of each comment of Python, with a capital letter."""
    last = -2
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                line, starts_line = token.start[0], token.line.lstrip().startswith("#")
                if not starts_line or line != last + 1:
                    yield Name(token.string.lstrip("# ").capitalize(), path, line)
                last = line if starts_line else -2


def test_names_have_no_word_that_the_glossary_replaces() -> None:
    found = [str(name) for name in names() if is_forbidden(name)]
    assert found == []


def test_exceptions_have_a_reason_and_are_used() -> None:
    for identifier, place, reason in tables()["Exceptions"]:
        term = words(identifier.strip("`"))
        assert re.fullmatch(r"[A-Z].{20,}\.", reason), identifier
        assert any([*positions(other, term)] for other in forbidden()), identifier
        assert any(is_in(place, name.path) and [*positions(term, words(name.text))] for name in names()), identifier


def test_names_that_hid_a_term_have_not_come_back() -> None:
    defined_names = {name.text for name in names()}
    assert {name for name in WORST if name in defined_names} == LEGITIMATE.keys()


@pytest.mark.parametrize(("suffix", "docs"), [(".rs", rust_docs), (".py", python_docs)])
def test_doc_comments_begin_with_what_an_item_is_or_does(suffix: str, docs: Callable[[Path], Iterator[Name]]) -> None:
    found = [str(doc) for path in sources(suffix) for doc in docs(path) if HEADS.match(doc.text)]
    assert found == []


@pytest.mark.parametrize(("suffix", "comments"), [(".rs", rust_comments), (".py", python_comments)])
def test_comments_state_a_reason_or_a_fact_and_no_question(
    suffix: str, comments: Callable[[Path], Iterator[Name]]
) -> None:
    found = [str(comment) for path in sources(suffix) for comment in comments(path) if HEADS.match(comment.text)]
    assert found == []


def test_the_glossary_has_a_meaning_for_each_of_60_to_90_terms() -> None:
    terms = [row for rows in tables().values() for row in rows if len(row) == 5]
    assert 60 <= len(terms) <= 90
    assert len({row[0] for row in terms}) == len(terms)
    assert all(re.fullmatch(r"[A-Z*µ].*\.", row[1]) for row in terms), [
        row for row in terms if not row[1].endswith(".")
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("SeatIo", True),
        ("told_apart", True),
        ("looks", True),
        ("lookup", False),
        ("forecast", False),
        ("waiting_times", True),
        ("waiting", False),
        ("one_way_delay", False),
        ("way_back", True),
    ],
)
def test_words_of_names_are_compared_whole(name: str, *, expected: bool) -> None:
    assert is_forbidden(Name(name, REPOSITORY / "crates", 1)) is expected


def test_rust_names_are_found_where_they_are_defined(tmp_path: Path) -> None:
    path = tmp_path / "lib.rs"
    path.write_text(
        "struct A { b: u8 } enum C { D } fn e(f: u8, (g, h): (u8, u8)) { let A { b: i } = j; for k in l {} "
        "match m { Some(n) if o => p, _ => q } |r| s; if let Some(t) = u {} } const V: u8 = 0; mod w {}",
        encoding="utf-8",
    )
    assert sorted(name.text for name in rust_names(path)) == [*"ACDV", *"befghiknrtw"]


def test_a_comment_is_found_by_its_first_line(tmp_path: Path) -> None:
    rust, python = tmp_path / "lib.rs", tmp_path / "module.py"
    rust.write_text('// What is\n// What follows\nlet a = "// no comment"; // Who knows\n/// What a doc\nfn b() {}\n')
    python.write_text('# What is\n# What follows\nA = "# no comment"  # what it is\n# Why\n')
    assert [comment.text for comment in rust_comments(rust)] == ["What is", "Who knows"]
    assert [comment.text for comment in python_comments(python)] == ["What is", "What it is", "Why"]
