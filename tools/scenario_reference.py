"""Write docs/scenario-reference.md, every key of a scenario, from the JSON schema that the Rust model gives."""

import json
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from earlybird import _core
from earlybird.schema_text import linked, value_text
from generated import REPOSITORY, row, write_or_check

TARGET = REPOSITORY / "docs" / "scenario-reference.md"

HEADER = """\
# Scenario reference

Written by `make docs` from the JSON schema (`earlybird schema`). A scenario is a TOML or JSON file with the keys of the
first table; a name in the column *value* links to the table that describes it. Below each table is an example of
its use in a file. Keys in bold are required. `"$name"` can replace any number, text or list: it has the value of the
parameter `name`.

Quantities are texts with a unit: times `"26.7ms"`, `"50s"`, `"100us"`; rates `"25Mb/s"`, `"300kb/s"`.
"""

Node = dict[str, Any]


def main() -> int:
    """Write the reference, or with ``--check`` compare it; return the exit code."""
    return write_or_check(TARGET, reference(json.loads(_core.schema())), "make docs")


def reference(schema: Node) -> str:
    """Describe every table of the schema, in the order in which they are mentioned."""
    sections = [HEADER]
    names, definitions = ["Scenario"], {**schema["$defs"], "Scenario": schema}
    for name in names:
        names.extend(other for other in dict.fromkeys(mentioned(definitions[name])) if other not in names)
        sections.append(section(name, definitions[name]))
    return "\n".join(sections)


def mentioned(node: object) -> Iterator[str]:
    """Yield the names of the tables that a schema refers to; those of the root's definitions do not count."""
    if isinstance(node, list):
        for item in node:
            yield from mentioned(item)
    elif isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        for key, value in node.items():
            if key != "$defs":
                yield from mentioned(value)


def section(name: str, node: Node) -> str:
    """Describe one table, choice or quantity."""
    parts = [f"## {name}\n", node.get("description", "") + "\n"]
    if rows := [*keys(node)]:
        parts.append("\n".join(["| key | value | meaning |", "|---|---|---|", *rows]) + "\n")
    else:
        parts.append(value_text(node, linked) + "\n")
    parts.append(f"```toml\n{examples()[name].strip()}\n```\n")
    return "\n".join(parts)


def defaults(schema: Node) -> Iterator[tuple[str, str]]:
    """Yield examples of the tables of congestion controls and queue disciplines: each with its defaults."""
    controls = {one["name"] for one in json.loads(_core.transports()) if one["parameters"] == [one["name"]]}
    for key, node in schema["$defs"]["Endpoint"]["properties"].items():
        if key in controls:
            yield node["$ref"].rpartition("/")[2], f'endpoint.transport = "{key}"\nendpoint.{key} = {{}}'
    for choice in schema["$defs"]["Queue"]["oneOf"]:
        for key, node in choice.get("properties", {}).items():
            if "$ref" in node:
                link = f'rate = "10Mb/s", delay = "20ms", queue = {{ {key} = {{}} }}'
                yield node["$ref"].rpartition("/")[2], f"[network.dumbbell]\nbottleneck = {{ {link} }}"


@cache
def examples() -> dict[str, str]:
    """Return an example of each table and choice: the part of a file in which it stands."""
    return dict(defaults(json.loads(_core.schema()))) | written()


def written() -> dict[str, str]:
    """Return the examples that are not made from defaults."""
    return tomllib.loads(Path(__file__).with_name("scenario_examples.toml").read_text(encoding="utf-8"))


def keys(node: Node) -> Iterator[str]:
    """Yield a row per key of a table, or per alternative of a choice."""
    for choice in node.get("oneOf", []):
        meaning = choice.get("description", "")
        if "const" in choice:
            yield row(f"`{choice['const']}`", "", meaning)
        for key, content in choice.get("properties", {}).items():
            yield row(f"`{key}`", value_text(content, linked), meaning)
    required = node.get("required", [])
    for key, content in sorted(node.get("properties", {}).items(), key=lambda item: item[0] not in required):
        name = f"**`{key}`**" if key in required else f"`{key}`"
        yield row(name, value_text(content, linked), content.get("description", ""))


if __name__ == "__main__":
    sys.exit(main())
