"""A scenario as people give it (file, text, dictionary, typed object) and the canonical JSON that is run."""

import dataclasses
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from earlybird import _core
from earlybird.errors import InputError, ScenarioWarning, because
from earlybird.paths import found

if TYPE_CHECKING:
    from earlybird.scenario import Scenario

ScenarioLike: TypeAlias = "str | Path | Scenario | Mapping[str, object]"
"""A path, TOML or JSON text, a dictionary with the keys of the TOML form, or typed objects."""

Overrides: TypeAlias = "Mapping[str, object] | Iterable[tuple[str, str]]"
"""Values for parameters or dotted keys: a dictionary, or pairs of texts as ``--set`` gives them."""

DEFAULT_SEED = 1
"""Of the random numbers, where none is given."""


def resolve(scenario: ScenarioLike, overrides: Overrides = ()) -> str:
    """
    Turn a scenario into the canonical JSON that is run, with the content of the trace files that it names.

    Parameters
    ----------
    scenario
        A path, TOML or JSON text, a dictionary or a typed object.
    overrides
        Values that replace the scenario's: parameter names or dotted keys.

    Returns
    -------
    str
        JSON with sorted keys, all defaults filled in.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    InputError
        If the file cannot be read.
    """
    return _core.resolve(_read(scenario), override_texts(overrides), _folder(scenario))


def warn_about(*scenarios: str, typed: Iterable[str] | None = None) -> None:
    """
    Warn of what in scenarios can be run but is probably not meant, each thing once.

    Parameters
    ----------
    scenarios
        What `resolve` returned: one, or all of a sweep.
    typed
        The keys that were given for this run. A scenario with parameters is written for several transports or queues,
        so what it declares for the others is not told; what was typed always is (default: all is told).

    Warns
    -----
    ScenarioWarning
        For each such thing: a playback delay that leaves no time for a repair, a queue that holds no packet, a
        transport that waits for marks which never come, an end before any flow starts; and for each setting, flow and
        link that none of the scenarios depends on.
    """
    told = [text for resolved in scenarios for text in _core.warnings(resolved)]
    unused = _unused_in_all(scenarios)
    if typed is not None and any(json.loads(resolved).get("parameters") for resolved in scenarios[:1]):
        places = tuple(typed)
        unused = {
            path: text for path, text in unused.items() if any(f"{path}.".startswith(f"{key}.") for key in places)
        }
    for text in dict.fromkeys([*told, *unused.values()]):
        warnings.warn(text, ScenarioWarning, stacklevel=3)


def _unused_in_all(scenarios: Sequence[str]) -> dict[str, str]:
    """Tell by path what none of the scenarios uses; of a grid's values some may need a setting and others not."""
    unused: dict[str, str] = {}
    for place, resolved in enumerate(scenarios):
        found = {text.partition(": ")[0]: text for text in _core.unused(resolved)}
        unused = {path: text for path, text in found.items() if place == 0 or path in unused}
        if not unused:
            break
    return unused


def warn_about_outputs(
    resolved: str, *, trace: str | None, qlog: str | None, trace_flows: Sequence[str] | None, pcap: str | None
) -> None:
    """Warn of what of the files that a run is to write is not what one may expect."""
    names = list(trace_flows) if trace_flows else None
    for text in _core.output_warnings(resolved, trace=trace, qlog=qlog, trace_flows=names, pcap=pcap):
        warnings.warn(text, ScenarioWarning, stacklevel=3)


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
        return {_key(name): to_document(item) for name, item in fields if item is not None}
    if isinstance(value, Mapping):
        return {key: to_document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_document(item) for item in value]
    return value


def _key(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _read(scenario: ScenarioLike) -> str:
    """Return the scenario's text."""
    if isinstance(scenario, str) and _is_text(scenario):
        return scenario
    if path := path_of(scenario):
        return _read_file(path)
    return json.dumps(to_document(scenario), ensure_ascii=False)


def path_of(scenario: ScenarioLike) -> Path | None:
    """Return the file that a scenario is read from, if it is one: the person's own, else one that comes with us."""
    if isinstance(scenario, str) and _is_text(scenario):
        return None
    return found(Path(scenario)) if isinstance(scenario, str | os.PathLike) else None


def _folder(scenario: ScenarioLike) -> str:
    """Return the folder from which the paths in a scenario count: that of its file, else the working folder."""
    path = path_of(scenario)
    return str(path.parent) if path else ""


def _is_text(scenario: str) -> bool:
    """Tell text from a path: no path has a line break or begins with a brace."""
    return "\n" in scenario or scenario.startswith("{")


def _read_file(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot read the scenario {path}: {because(error)}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read the scenario {path}: it is not text in UTF-8 ({error.reason}).") from error
