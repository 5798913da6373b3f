"""Scenarios in the forms in which users write them: file, text, dictionary, typed object."""

from __future__ import annotations

import dataclasses
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from earlybird import _core
from earlybird.errors import InputError, ScenarioWarning, because
from earlybird.paths import found, limited_text

if TYPE_CHECKING:
    from earlybird._core import ResolvedNetwork, ResolvedScenario
    from earlybird.scenario import Scenario

ScenarioLike: TypeAlias = "str | Path | Scenario | ResolvedScenario | Mapping[str, object]"
"""A path, TOML or JSON text, a dictionary with the keys of the TOML form, typed objects, or what `resolve` returned."""

Overrides: TypeAlias = "Mapping[str, object] | Iterable[tuple[str, str]]"
"""Values for parameters or dotted keys: a dictionary, or pairs of texts as ``--set`` gives them."""

parsed = _core.ResolvedScenario  # the one place where scenarios are parsed

DEFAULT_SEED = 1  # of the random numbers, where none is given


def resolve(scenario: ScenarioLike, overrides: Overrides = ()) -> ResolvedScenario:
    """Parse and check a scenario, with all defaults and the content of the files that it names filled in."""
    changes = override_texts(overrides)
    if isinstance(scenario, _core.ResolvedScenario):
        return parsed(scenario.to_json(), changes) if changes else scenario
    path = path_of(scenario)
    folder, source = ("", None) if path is None else (str(path.parent), str(scenario))
    return parsed(_read(scenario, path), changes, folder, source)


def resolve_network(network: ScenarioLike, overrides: Overrides = ()) -> ResolvedNetwork | ResolvedScenario:
    """Parse and check a network: by itself, or that of a scenario."""
    if isinstance(network, _core.ResolvedScenario):
        return resolve(network, overrides)
    path = path_of(network)
    text = _read(network, path)
    folder, source = ("", None) if path is None else (str(path.parent), str(network))
    kind = _core.ResolvedNetwork if _core.is_network(text) else _core.ResolvedScenario
    return kind(text, override_texts(overrides), folder, source)


def warn_about(*scenarios: ResolvedScenario, typed: Iterable[str] | None = None) -> None:
    """
    Warn of parts of scenarios that are valid but probably not meant, once each.

    `typed` are the keys that were given for this run (default: warn of all). A scenario with parameters is written for
    several transports or queues: of its unused keys, only those in `typed` are reported.
    """
    texts = [text for scenario in scenarios for text in scenario.warnings()]
    unused = _unused_in_all(scenarios)
    if typed is not None and any(scenario.parameters for scenario in scenarios[:1]):
        places = tuple(typed)
        unused = {
            path: text for path, text in unused.items() if any(f"{path}.".startswith(f"{key}.") for key in places)
        }
    for text in dict.fromkeys([*texts, *unused.values()]):
        warnings.warn(text, ScenarioWarning, stacklevel=3)


def _unused_in_all(scenarios: Sequence[ResolvedScenario]) -> dict[str, str]:
    """Return by path what none of the scenarios uses; some values of a grid may need a setting that others do not."""
    unused: dict[str, str] = {}
    for place, scenario in enumerate(scenarios):
        found = {text.partition(": ")[0]: text for text in scenario.unused()}
        unused = {path: text for path, text in found.items() if place == 0 or path in unused}
        if not unused:
            break
    return unused


def override_texts(overrides: Overrides) -> list[tuple[str, str]]:
    """Write overrides as pairs of key and TOML value."""
    if isinstance(overrides, Mapping):
        return [(key, toml_value(value)) for key, value in overrides.items()]
    return list(overrides)


def toml_value(value: object) -> str:
    """Write a Python value as TOML: numbers, strings, booleans, lists and dictionaries of these."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{toml_value(str(key))} = {toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def to_document(value: object) -> object:
    """Turn typed objects into the dictionaries of the TOML form: kebab-case keys, nothing for what was left out."""
    if dataclasses.is_dataclass(value):
        fields = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name.rstrip("_").replace("_", "-"): to_document(item) for name, item in fields if item is not None}
    if isinstance(value, Mapping):
        return {key: to_document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_document(item) for item in value]
    return value


def _read(scenario: ScenarioLike, path: Path | None) -> str:
    """Return the scenario's text."""
    if path:
        return _read_file(path)
    return scenario if isinstance(scenario, str) else json.dumps(to_document(scenario), ensure_ascii=False)


def path_of(scenario: ScenarioLike) -> Path | None:
    """Return the file of a scenario, if it is one: the user's own, else the one that is part of the program."""
    if isinstance(scenario, str) and _is_text(scenario):
        return None
    return found(Path(scenario)) if isinstance(scenario, str | os.PathLike) else None


def _is_text(scenario: str) -> bool:
    """Return whether this is text and no path: no path has a line break or begins with a brace."""
    return "\n" in scenario or scenario.startswith("{")


def _read_file(path: Path) -> str:
    try:
        return limited_text(path)
    except OSError as error:
        raise InputError(f"cannot read the scenario {path}: {because(error)}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read the scenario {path}: it is not text in UTF-8 ({error.reason}).") from error
    except ValueError as error:
        raise InputError(f"cannot read the scenario {path}: {error}.") from error
