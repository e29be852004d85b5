"""PyTorch's descriptions of its operators: schemas and type stubs."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ciguard.libraries.in_target import introspection

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_ALIAS = re.compile(r"\([a-z!*| ->]+\)")
_LENGTH = re.compile(r"\[([2-9])\]")
"""Length of a list in a schema. `[1]` is excluded, since it also accepts lists of any length."""
_ARGUMENT = re.compile(r"^(?P<type>\S.*?)\s+(?P<name>\w+)(?:=(?P<default>.*))?$")
_MAX_HINTS = 4


class Schema(NamedTuple):
    """Schema of one overload of an operator."""

    operator: str
    """Name of the operator without the overload's name."""
    parameters: list[dict[str, Any]]
    """Parameters in order, as JSON."""


def parse_schema(text: str) -> Schema | None:
    """Return the schema in a text such as `aten::add.Tensor(Tensor self, Tensor other) -> Tensor`.

    Returns:
        The schema; None if `text` is not a schema.
    """
    name, opening, rest = text.partition("(")
    end = rest.rfind(") ->")
    if not opening or end < 0 or "::" not in name:
        return None
    parameters = []
    kind = "positional_or_keyword"
    for part in _split(_ALIAS.sub("", rest[:end])):
        if part == "*":
            kind = "keyword_only"
            continue
        match = _ARGUMENT.match(part)
        if match is None:
            return None
        parameters.append(_parameter(match, kind))
    return Schema(name.partition(".")[0], parameters)


def _parameter(match: re.Match[str], kind: str) -> dict[str, Any]:
    """Return the record of a parameter of a schema."""
    schema_type = match["type"].replace("SymInt", "int")
    length = _LENGTH.search(schema_type)
    return introspection.parameter(
        match["name"],
        kind=kind,
        default=match["default"],
        schema_type=schema_type,
        length=int(length.group(1)) if length else None,
    )


def _split(text: str) -> list[str]:
    """Return the parts of a text that are separated by commas outside brackets and quotes."""
    parts, depth, is_quoted, start = [], 0, False, 0
    for index, letter in enumerate(text):
        if letter == '"':
            is_quoted = not is_quoted
        elif is_quoted:
            continue
        elif letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def best_match(
    candidates: Iterable[list[dict[str, Any]]], names: list[str]
) -> list[dict[str, Any]] | None:
    """Return the shortest overload with the most parameters in `names`; None if there is none."""
    name_set = set(names)

    def rank(parameters: list[dict[str, Any]]) -> tuple[int, int]:
        shared_count = sum(item["name"] in name_set for item in parameters)
        return shared_count, -len(parameters)

    return max(candidates, key=rank, default=None)


class Stubs:
    """Parameters of functions and methods, from the library's `.pyi` files."""

    def __init__(self) -> None:
        self._overloads: dict[str, list[list[dict[str, Any]]]] = {}

    def read(self, file: Path, *, prefix: str, class_name: str = "") -> None:
        """Add the definitions of a stub file.

        Args:
            file: the stub file; ignored if this version lacks it.
            prefix: the prefix of each name, e.g. `torch.`.
            class_name: the class whose methods are added; empty to add functions.
        """
        if not file.is_file():
            return
        body: list[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
        if class_name:
            classes = [item for item in body if isinstance(item, ast.ClassDef)]
            body = [part for item in classes if item.name == class_name for part in item.body]
        for item in body:
            if isinstance(item, ast.FunctionDef):
                overloads = self._overloads.setdefault(prefix + item.name, [])
                overloads.append(introspection.from_arguments(item.args))

    def overloads(self, api: str) -> list[list[dict[str, Any]]]:
        """Return the parameter lists of all overloads of an API."""
        return self._overloads.get(api, [])

    def hint(self, api: str, name: str) -> str:
        """Return the type hints of a parameter in all overloads, joined by `|`."""
        hints: list[str] = []
        for overload in self.overloads(api):
            for item in overload:
                hint = item.get("annotation", "")
                if item["name"] == name and hint and hint not in hints:
                    hints.append(hint)
        return " | ".join(hints[:_MAX_HINTS])
