"""Sentences that results fill: numbers are measured and words follow verdicts, so that nothing in them can go stale."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from string import Formatter

from earlybird.errors import InputError
from earlybird.study.language.checking import Known
from earlybird.study.language.definition import Study
from earlybird.study.language.points import Point
from earlybird.tables import Table, build, section


@dataclass(frozen=True, slots=True)
class Choice:
    """Words that depend on the verdict of a statement."""

    check: str  # the statement's name in the study
    yes: str
    no: str
    open: str  # the words if it is undecided, could not be tested, or was not run


@dataclass(frozen=True, slots=True)
class TextTemplate:
    """A sentence with ``{names}`` for quantities and for words, which may hold quantities in their turn."""

    text: str
    at: Point = field(default_factory=dict)  # keys that all quantities share: ``metric`` and coordinates
    values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """By name, what each quantity has besides."""
    words: Mapping[str, Choice] = field(default_factory=dict)

    def quantity(self, name: str) -> tuple[str, Point]:
        """Return the metric of one of the values, and where it is measured."""
        point = {**self.at, **self.values[name]}
        return str(point.pop("metric", "")), point


def text_template(table: Table, where: str) -> TextTemplate:
    """Make a sentence of a table; whether a study has its names is for `check_text_template`."""
    words = {
        name: build(Choice, choice, f"{where}.words.{name}") for name, choice in section(table, "words", where).items()
    }
    found = build(TextTemplate, {**table, "words": words}, where)
    _check_names(found, where)
    return found


def _check_names(found: TextTemplate, where: str) -> None:
    inner = [name for key, choice in found.words.items() for name in _names_of_choice(choice, f"{where}.words.{key}")]
    outer = _names(found.text, f"{where}.text")
    _check_given(inner, found.values, f"{where}.words")
    _check_given(outer, {**found.values, **found.words}, f"{where}.text")
    for name in (*found.values, *found.words):
        if name not in (*inner, *outer):
            raise InputError(f"{where}: {name!r} is given, but the text does not say {{{name}}}.")


def _names_of_choice(choice: Choice, where: str) -> Iterator[str]:
    for key in ("yes", "no", "open"):
        yield from _names(getattr(choice, key), f"{where}.{key}")


def _names(text: str, where: str) -> list[str]:
    try:
        return [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise InputError(f"{where} = {text!r}: {error}.") from error


def _check_given(names: list[str], given: Mapping[str, object], where: str) -> None:
    for name in names:
        if name not in given:
            raise InputError(f"{where}: there is nothing for {{{name}}}; there are: {', '.join(given) or 'none'}.")


def check_text_template(found: TextTemplate, study: Study, where: str) -> None:
    """Raise `InputError` if a study lacks a quantity or a statement that a sentence names."""
    known = Known(study)
    for name in found.values:
        known.check_quantity(*found.quantity(name), f"{where}.values.{name}")
    for name, choice in found.words.items():
        known.check_statement(choice.check, f"{where}.words.{name}.check")
