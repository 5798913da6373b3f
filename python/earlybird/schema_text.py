"""Describe the JSON schema of scenarios in words."""

from collections.abc import Callable
from typing import Any, TypeAlias

Node: TypeAlias = dict[str, Any]  # a part of the schema

Naming: TypeAlias = Callable[[str], str]  # writes the name of a table that a value refers to


def linked(name: str) -> str:
    """Write the name of a table as a link to its section."""
    return f"[{name}](#{name.lower()})"


def value_text(node: Node, naming: Naming) -> str:
    """Return the values that a node of the schema allows; `naming` writes the names of other tables."""
    if "$ref" in node:
        return naming(node["$ref"].rpartition("/")[2])
    for choices in (node.get("anyOf", []), node.get("oneOf", [])):
        if choices:
            return ", or ".join(filter(None, (value_text(choice, naming) for choice in choices)))
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join(f"`{text}`" for text in node["enum"])
    return _kind(node, naming)


def _kind(node: Node, naming: Naming) -> str:
    """Name the type of a value, with its range."""
    kinds = node.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "array" in kinds:
        return f"list of {value_text(node.get('items', {}), naming) or 'values'}"
    if "integer" in kinds or "number" in kinds:
        return f"{'whole number' if 'integer' in kinds else 'number'}{_limits(node)}"
    if "boolean" in kinds:
        return "`true` or `false`"
    if "object" in kinds:
        return "table"
    return f"text{_examples(node)}" if "string" in kinds else ""


def _examples(node: Node) -> str:
    """Show texts of the right form."""
    texts = ", ".join(f"`{text}`" for text in node.get("examples", []))
    return f" such as {texts}" if texts else ""


def _limits(node: Node) -> str:
    """Write the range of a number."""
    low, high = node.get("minimum"), node.get("maximum")
    if low is None:
        return ""
    return f", {low} … {high}" if high is not None else f" ≥ {low}"
