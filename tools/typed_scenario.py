"""
Write python/earlybird/scenario.py, the typed objects for scenarios, from the JSON schema that the Rust model gives.

``python tools/typed_scenario.py`` writes the file; ``--check`` only says whether it is up to date.
"""

import json
import subprocess
import sys
import warnings
from typing import Any

from datamodel_code_generator import InputFileType, LiteralType, PythonVersion, generate
from datamodel_code_generator.enums import DataModelType

from earlybird import _core
from generated import REPOSITORY, write_or_check

TARGET = REPOSITORY / "python" / "earlybird" / "scenario.py"

HEADER = '''"""
A scenario as typed objects: the names of the TOML form with underscores for hyphens (and ``from_`` for ``from``).

Written by ``make schema`` from the JSON schema; change crates/scenario/src/model.rs instead. What is left out
(``None``) takes the default of the core. Where the TOML form has a table with one of several keys, such as
``application = { cbr = … }``, exactly one field is to be given: ``Application(cbr=Cbr(…))``.
"""
'''

NAME_OF_A_PARAMETER = r"^\$[A-Za-z][A-Za-z0-9_-]*$"
PARAMETER = {"customTypePath": "earlybird.parameter.Parameter"}
ONLY_IN_TEXTS = ("resolved", "variants")  # keys of the text form for which objects have no use


def main() -> int:
    """Write the file, or with ``--check`` compare it; return the exit code."""
    return write_or_check(TARGET, typed_scenario(json.loads(_core.schema())), "make schema")


def typed_scenario(schema: dict[str, Any]) -> str:
    """Generate the module's text from the schema."""
    for key in ONLY_IN_TEXTS:
        schema["properties"].pop(key, None)
    texts = {f"#/$defs/{name}": found for name, node in schema["$defs"].items() if (found := texts_of(node))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # integer formats that JSON schema does not name
        module = generate(
            json.dumps(simplified(or_texts(schema, texts))),
            input_file_type=InputFileType.JsonSchema,
            output_model_type=DataModelType.DataclassesDataclass,
            target_python_version=PythonVersion.PY_311,
            enum_field_as_literal=LiteralType.All,
            use_schema_description=True,
            use_field_description=True,
            use_standard_collections=True,
            use_union_operator=True,
            snake_case_field=True,
            keyword_only=True,
            custom_file_header=HEADER,
            formatters=[],
        )
    return formatted(str(module))


def simplified(node: object) -> object:
    """Leave defaults to the core, and write choices as the generator makes good types of them."""
    if isinstance(node, list):
        return [simplified(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: simplified(value) for key, value in node.items() if key != "default" or not is_schema(node)}
    if node.get("pattern") == NAME_OF_A_PARAMETER:
        return or_parameter(node)
    return one_of(node) if "oneOf" in node else node


def texts_of(node: dict[str, Any]) -> list[str]:
    """Return the texts of a choice of texts and tables."""
    choices = node.get("oneOf", [])
    has_tables = any("properties" in choice for choice in choices)
    return [choice["const"] for choice in choices if "const" in choice] if has_tables else []


def or_texts(node: object, texts: dict[str, list[str]]) -> object:
    """Let what refers to a choice of texts and tables be one of the texts too."""
    if isinstance(node, list):
        return [or_texts(item, texts) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: or_texts(value, texts) for key, value in node.items()}
    found = texts.get(str(node.get("$ref")))
    if not found:
        return node
    rest = {key: value for key, value in node.items() if key != "$ref"}
    return {**rest, "anyOf": [{"$ref": node["$ref"]}, {"type": "string", "enum": found}]}


def is_schema(node: dict[str, Any]) -> bool:
    """Return whether this is a schema, not a table of schemas that has a property named `default`."""
    return bool({"type", "$ref", "anyOf", "oneOf", "description"} & node.keys())


def or_parameter(node: dict[str, Any]) -> dict[str, Any]:
    """Let a value that may be a text of the form ``$name`` be a `Parameter` instead."""
    kinds = node.get("type", "string")
    others = [kind for kind in kinds if kind != "string"] if isinstance(kinds, list) else []
    rest = {key: value for key, value in node.items() if key not in ("pattern", "description", "type")}
    values = [{**rest, "type": others}] if others else []
    return {"description": node.get("description", ""), "anyOf": [*values, PARAMETER]} if values else PARAMETER


def one_of(node: dict[str, Any]) -> dict[str, Any]:
    """Make choices of texts an enumeration, and choices of tables with one key a table of optional keys."""
    choices = node.pop("oneOf")
    tables = [choice for choice in choices if "properties" in choice]
    if not tables:
        texts = {"type": "string", "enum": [choice["const"] for choice in choices if "const" in choice]}
        return {**node, "anyOf": [texts, PARAMETER]}
    properties = {
        key: {**value, "description": choice.get("description", "")}
        for choice in tables
        for key, value in choice["properties"].items()
    }
    return {**node, "type": "object", "properties": properties, "additionalProperties": False}


def formatted(text: str) -> str:
    """Format with ruff, as the rest of the project is."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
