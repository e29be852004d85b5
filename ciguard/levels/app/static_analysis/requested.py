"""What a function reads of the request or event that it answers, as a view or a cloud function."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.sources import Imports

PASSED = "request"
"""The parameter of a cloud function that gets the request."""
EVENT = "event"
"""The parameter of a cloud function that gets an event; the part of that which is the event."""
RAW = "data"
"""The part that is the body of the request, whatever it is."""
JSON = "json"
ARGUMENTS = "args"
BODY = "body"
"""The field of an event with the body of a web request, or with what a queue hands over."""
_OF_FLASK = "flask.request"
_OF_REQUEST = frozenset({
    "args", "base_url", "content_type", "cookies", "data", "files", "form", "get_data", "get_json",
    "headers", "host", "is_json", "json", "method", "mimetype", "path", "remote_addr", "stream",
    "url", "user_agent", "values", "view_args",
})  # fmt: skip
"""Attributes of Flask's requests."""
_OTHER_FRAMEWORKS = ("django", "fastapi", "starlette", "grpc", "aiohttp", "sanic", "tornado")
_OF_DICTIONARY = frozenset(
    {"copy", "get", "items", "keys", "pop", "setdefault", "update", "values"}
)
_IS_DICTIONARY = re.compile(r"$|(\w+\.)*([Dd]ict|Any|(Mutable)?Mapping|object)\b")
"""What an annotation of a dictionary begins with, if there is one."""
_PARTS = {
    "files": "files",
    "form": "form",
    "args": "args",
    "values": "form",
    "json": "json",
    RAW: RAW,
}
"""Attributes of a request → its parts."""
_OF_GATEWAY = {BODY: RAW, "queryStringParameters": ARGUMENTS}
"""Fields of an event → parts of a request."""
_CALLED = {"get_json": "json", "get_data": RAW}


def requested(
    body: Sequence[ast.stmt], arguments: ast.arguments, names: Imports
) -> dict[str, tuple[str, ...]]:
    """Return the parts of a request that a function reads, and which fields of each.

    Args:
        body: of the function.
        arguments: of the function.
        names: that its module imports.

    Returns:
        Nothing if it reads no request, or that of another framework.
    """
    passed = next((one for one in _all(arguments) if one.arg == PASSED), None)
    if passed is None:
        return _parts_read(body, _Reading(names))
    is_of_flask = _is_of_flask(passed.annotation, names)
    if not is_of_flask or not _attributes(body, PASSED) <= _OF_REQUEST:
        return {}
    return _parts_read(body, _Reading(names, is_passed=True))


def read_of_event(
    body: Sequence[ast.stmt], arguments: ast.arguments, names: Imports
) -> dict[str, tuple[str, ...]]:
    """Return likewise what a function reads of an event: fields, and those of a web request in it.

    Returns:
        Nothing if it has no event, or one that is no dictionary.
    """
    is_first = [one.arg for one in _all(arguments)][:1] == [EVENT]
    is_dictionary = is_first and _attributes(body, EVENT) <= _OF_DICTIONARY
    if not is_dictionary or not _IS_DICTIONARY.match(_written(_all(arguments)[0].annotation)):
        return {}
    return _parts_read(body, _OfEvent(names))


def _all(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _written(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation).strip("'\"")


def _is_of_flask(annotation: ast.expr | None, names: Imports) -> bool:
    """Return whether a request may be Flask's by its annotation, and by what the file imports."""
    if annotation is not None:
        return names.qualified(annotation) in {"flask.Request", "flask.wrappers.Request"}
    return not any(names.imports(one) for one in _OTHER_FRAMEWORKS)


def _attributes(body: Sequence[ast.stmt], name: str) -> set[str]:
    """Return the attributes of a variable that are read."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    }


def _parts_read(body: Sequence[ast.stmt], reading: _Reading) -> dict[str, tuple[str, ...]]:
    nodes = [node for statement in body for node in ast.walk(statement)]
    for node in nodes:
        if isinstance(node, ast.Assign):
            reading.note(node)
    found: dict[str, dict[str, None]] = {}
    for node in nodes:
        if isinstance(node, ast.expr) and (part := reading.part(node)):
            found.setdefault(part, {})
        for part, field in reading.fields(node):
            found.setdefault(part, {})[field] = None
    return {part: tuple(fields) for part, fields in found.items()}


class _Reading:
    """Of one function."""

    def __init__(self, names: Imports, *, is_passed: bool = False) -> None:
        self._names = names
        self._is_passed = is_passed
        self._held: dict[str, str] = {}
        """Variable → the part that it holds."""

    def note(self, node: ast.Assign) -> None:
        """Note a variable that holds a part."""
        part = self.part(node.value)
        for target in node.targets:
            if part and isinstance(target, ast.Name):
                self._held[target.id] = part

    def part(self, node: ast.expr) -> str:
        """Return the part of the request that an expression is; empty if it is none."""
        match node:
            case ast.Attribute(value=held, attr=attr) if self._is_request(held):
                return _PARTS.get(attr, "")
            case ast.Call(func=ast.Attribute(value=held, attr=attr)) if self._is_request(held):
                return _CALLED.get(attr, "")
            case ast.Call(func=called, args=[held, *_]) if self._is_loading(called):
                return "json" if self.part(held) == RAW else ""
            case ast.BoolOp(values=[held, *_]) | ast.IfExp(body=held):
                return self.part(held)
            case ast.Name(id=name):
                return self._held.get(name, "")
            case _:
                return ""

    def fields(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        """Yield the field that an expression takes out of a part, and the part."""
        match node:
            case (
                ast.Subscript(value=held, slice=ast.Constant(value=str(field)))
                | ast.Call(
                    func=ast.Attribute(value=held, attr=("get" | "getlist" | "pop")),
                    args=[ast.Constant(value=str(field)), *_],
                )
                | ast.Compare(
                    left=ast.Constant(value=str(field)),
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[held],
                )
            ):
                if part := self.part(held):
                    yield part, field
            case _:
                return

    def _is_request(self, node: ast.expr) -> bool:
        if self._is_passed and isinstance(node, ast.Name) and node.id == PASSED:
            return True
        return self._names.qualified(node) == _OF_FLASK

    def _is_loading(self, node: ast.expr) -> bool:
        return self._names.qualified(node) == "json.loads"


class _OfEvent(_Reading):
    """Of a function that gets an event."""

    def part(self, node: ast.expr) -> str:
        """Return the part of the event that an expression is; empty if it is none."""
        match node:
            case ast.Name(id="event"):
                return EVENT
            case (
                ast.Subscript(value=ast.Name(id="event"), slice=ast.Constant(value=field))
                | ast.Call(
                    func=ast.Attribute(value=ast.Name(id="event"), attr="get"),
                    args=[ast.Constant(value=field), *_],
                )
            ):
                return _OF_GATEWAY.get(str(field), "")
            case _:
                return super().part(node)
