"""Parses C++ declarations in Jittor's docstrings into parameters.

Declaration:
VarHolder* arg_reduce(VarHolder* x,  NanoString op,  int dim=-1,  bool keepdims=false)
"""

from __future__ import annotations

import re
from typing import Any

from ciguard.libraries.in_target import introspection

_HEADING = "Declaration:"
_DECLARATION = re.compile(r"^(?P<result>[\w:<>*&,\s]+?)\s+(?P<name>\w+)\((?P<parameters>.*)\)\s*$")
_PARAMETER = re.compile(r"^(?P<type>.*?[\s*&>])(?P<name>\w+)$")
_TYPES = {
    "VarHolder*": "Tensor",
    "Var*": "Tensor",
    "NanoVector": "int[]",
    "NanoString": "str",
    "string": "str",
    "int": "int",
    "int32": "int",
    "int64": "int",
    "uint": "int",
    "uint64": "int",
    "size_t": "int",
    "float": "float",
    "float32": "float",
    "float64": "float",
    "bool": "bool",
    "vector<VarHolder*>": "Tensor[]",
    "vector<string>": "str[]",
    "vector<int>": "int[]",
    "vector<int64>": "int[]",
}
"""Types of PyTorch's schemas by Jittor's C++ types."""
_VALUES = {"true": "True", "false": "False", "nullptr": "None", "NanoVector()": "()", "{}": "()"}
_NUMBER = re.compile(r"^([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)[fFlLuU]*$")
_OPENING, _CLOSING = "(<{[", ")>}]"


def declared_parameters(doc: str, name: str) -> list[dict[str, Any]] | None:
    """Return the declared parameters of `name`; None if the docstring has no declaration.

    The docstring of an alias declares the original: that of `arccos` declares `acos`. So if `name`
    is not declared, the first declaration counts.
    """
    lines = doc.partition(_HEADING)[2].splitlines()
    declarations = [match for match in map(_DECLARATION.match, map(str.strip, lines)) if match]
    if not declarations:
        return None
    declaration = next((match for match in declarations if match["name"] == name), declarations[0])
    parameters = [_parameter(part) for part in split(declaration["parameters"])]
    return [item for item in parameters if item is not None]


def without_declarations(doc: str) -> str:
    """Return the docstring without its declarations."""
    return doc.partition(_HEADING)[0].replace("Document:", "").strip().lstrip("*")


def split(text: str) -> list[str]:
    """Return the parts of a text that are separated by commas outside brackets and quotes."""
    parts, depth, is_quoted, start = [], 0, False, 0
    for index, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif is_quoted:
            continue
        elif letter in _OPENING:
            depth += 1
        elif letter in _CLOSING:
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _parameter(text: str) -> dict[str, Any] | None:
    """Return the record of a declared parameter; None if the declaration has no name."""
    declaration, _, default = text.partition("=")
    match = _PARAMETER.match(declaration.strip())
    if match is None:
        return None
    annotation = match["type"].strip()
    bare_type = annotation.replace("const ", "").replace("&", "").replace(" ", "")
    return introspection.parameter(
        match["name"],
        default=_python_value(default.strip()) if default else None,
        annotation=annotation,
        schema_type=_TYPES.get(bare_type, ""),
    )


def _python_value(text: str) -> str:
    number = _NUMBER.match(text)
    if number:
        return number.group(1)
    if text.startswith('"') and text.endswith('"'):
        return repr(text[1:-1])
    if text.startswith("ns_"):
        return repr(text[3:])
    return _VALUES.get(text, "...")
