"""The transports that exist: what each is, where it is described, and its parameters."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from earlybird import _core
from earlybird.errors import InputError
from earlybird.schema_text import Node, value_text


@dataclass(frozen=True, slots=True)
class Parameter:
    """A setting of a transport or of a loss recovery."""

    key: str  # key in a scenario, such as ``endpoint.cubic.version``
    allowed: str  # allowed values
    meaning: str  # effect, with default, unit and source


@dataclass(frozen=True, slots=True)
class TransportInfo:
    """A congestion control by name."""

    name: str  # the name without ends
    names: tuple[str, ...]  # the name with each end that it may have, apart from the timer's ``-fg``
    has_timer: bool  # whether each of them may also end in ``-fg``: whether there is a retransmission timer
    title: str  # description in one line
    source: str  # RFC, paper or program that defines it
    parameters: tuple[Parameter, ...]  # its own settings


@dataclass(frozen=True, slots=True)
class RecoveryInfo:
    """A way to find and repair losses: a value of ``endpoint.recovery``."""

    name: str
    meaning: str


def transports() -> list[TransportInfo]:
    """Return all transports, in the order in which they are listed."""
    definitions = json.loads(_core.schema())["$defs"]
    return [_transport(row, definitions) for row in json.loads(_core.transports())]


@lru_cache(maxsize=64)
def transport(name: str) -> TransportInfo:
    """Look up a transport by its name, with or without ends."""
    every = transports()
    found = next((one for one in every if name.removesuffix("-fg") in one.names), None)
    if found is None:
        raise InputError(f"there is no transport `{name}`; there are: {', '.join(one.name for one in every)}.")
    return found


def recoveries() -> list[RecoveryInfo]:
    """Return the loss recoveries that can be chosen independently of the transport."""
    choices = json.loads(_core.schema())["$defs"]["Recovery"]["oneOf"]
    return [RecoveryInfo(choice["const"], choice["description"]) for choice in choices if "const" in choice]


def _transport(row: dict[str, Any], definitions: Node) -> TransportInfo:
    parameters = [each for table in row["parameters"] for each in _parameters(table, definitions)]
    return TransportInfo(
        row["name"], tuple(row["names"]), row["has_timer"], row["title"], row["source"], tuple(parameters)
    )


def _parameters(table: str, definitions: Node) -> Iterator[Parameter]:
    """List the keys of a table of ``endpoint``."""
    reference = definitions["Endpoint"]["properties"][table]["$ref"]
    for key, node in definitions[reference.rpartition("/")[2]]["properties"].items():
        allowed = value_text(node, lambda name: _choices(definitions[name]) or name.lower())
        yield Parameter(f"endpoint.{table}.{key}", allowed.replace("`", ""), node.get("description", ""))


def _choices(definition: Node) -> str:
    """List the values of a choice; nothing for tables and quantities."""
    constants = [choice["const"] for choice in definition.get("oneOf", []) if "const" in choice]
    return ", ".join([*constants, *definition.get("enum", [])])
