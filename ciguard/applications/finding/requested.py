"""What a function reads of the request or event that it answers, as a view or a cloud function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.applications.finding.naming import Names

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
    body: Sequence[ast.stmt], parameters: Sequence[str], names: Names
) -> dict[str, tuple[str, ...]]:
    """Return the parts of a request that a function reads, and which fields of each.

    Args:
        body: of the function.
        parameters: of the function, by name.
        names: that its module imports.

    Returns:
        Nothing if it reads no request.
    """
    return _parts_read(body, _Reading(names, is_passed=PASSED in parameters))


def read_of_event(
    body: Sequence[ast.stmt], parameters: tuple[str, ...], names: Names
) -> dict[str, tuple[str, ...]]:
    """Return likewise what a function reads of an event: fields, and those of a web request in it.

    Returns:
        Nothing if it has no event.
    """
    return _parts_read(body, _OfEvent(names)) if parameters[:1] == (EVENT,) else {}


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

    def __init__(self, names: Names, *, is_passed: bool) -> None:
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
            case ast.BoolOp(values=[held, *_]):
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

    def __init__(self, names: Names) -> None:
        super().__init__(names, is_passed=False)

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
