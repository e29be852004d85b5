"""Parts of the web request or cloud event that a view or cloud function reads."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, TypeAlias

from ciguard.levels.app.static_analysis.django import is_django

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.sources import Imports

Field: TypeAlias = tuple[str | int, ...]
"""Path to a field of a request or event: its name, and in JSON the keys and indices inside it."""
REQUEST = "request"
"""Name of the parameter by which a cloud function gets the request."""
EVENT = "event"
"""Name of the parameter by which a cloud function gets an event; also names the event as a part."""
RAW = "data"
"""Name of the request's raw body as a part."""
JSON = "json"
ARGUMENTS = "args"
BODY = "body"
"""Field of an event that holds the body of a web request or a queue's message."""
_FLASK_REQUEST = "flask.request"
_REQUEST_ATTRIBUTES = frozenset({
    "args", "base_url", "content_type", "cookies", "data", "files", "form", "get_data", "get_json",
    "headers", "host", "is_json", "json", "method", "mimetype", "path", "remote_addr", "stream",
    "url", "user_agent", "values", "view_args",
})  # fmt: skip
"""Attributes of Flask's request objects."""
_DJANGO_PARTS = {
    "FILES": "files",
    "POST": "form",
    "GET": ARGUMENTS,
    "query_params": ARGUMENTS,
    BODY: RAW,
    "data": JSON,
}
"""Attributes of requests of Django and its REST framework → parts."""
_OTHER_FRAMEWORKS = (
    "django",
    "rest_framework",
    "fastapi",
    "starlette",
    "grpc",
    "aiohttp",
    "sanic",
    "tornado",
)
_DICTIONARY_METHODS = frozenset(
    {"copy", "get", "items", "keys", "pop", "setdefault", "update", "values"}
)
_DICTIONARY_ANNOTATION = re.compile(r"$|(\w+\.)*([Dd]ict|Any|(Mutable)?Mapping|object)\b")
"""Annotation that a dictionary may have; an empty text stands for no annotation."""
_PARTS = {
    "files": "files",
    "form": "form",
    "args": "args",
    "values": "form",
    "json": "json",
    RAW: RAW,
}
"""Attributes of a request → its parts."""
_GATEWAY_FIELDS = {BODY: RAW, "queryStringParameters": ARGUMENTS}
"""Fields of an event → parts of a request."""
_METHODS = {"get_json": "json", "get_data": RAW}


def request_reads(
    body: Sequence[ast.stmt], arguments: ast.arguments, names: Imports
) -> dict[str, tuple[Field, ...]]:
    """Return the parts of a web request that a function reads, each with its fields that are read.

    Only fields of JSON are nested, such as `("items", 0, "text")`.

    Args:
        body: the statements of the function.
        arguments: the parameters of the function.
        names: the imports of its module.

    Returns:
        An empty mapping if it reads no request, or one of a framework other than Flask and Django.
    """
    passed = next(
        (parameter for parameter in _all_parameters(arguments) if parameter.arg == REQUEST), None
    )
    if passed is None:
        return _parts_read(body, _RequestReader(names))
    if is_django(names):
        reader = _RequestReader(names, is_passed=True, parts=_DJANGO_PARTS)
        return _parts_read(body, reader) or {ARGUMENTS: ()}
    is_of_flask = _is_of_flask(passed.annotation, names)
    if not is_of_flask or not _attributes(body, REQUEST) <= _REQUEST_ATTRIBUTES:
        return {}
    return _parts_read(body, _RequestReader(names, is_passed=True))


def event_reads(
    body: Sequence[ast.stmt], arguments: ast.arguments, names: Imports
) -> dict[str, tuple[Field, ...]]:
    """Return the parts of a cloud event that a function reads, each with its fields that are read.

    Returns:
        An empty mapping if the function gets no event, or an event that is not a dictionary.
    """
    is_first = [parameter.arg for parameter in _all_parameters(arguments)][:1] == [EVENT]
    is_dictionary = is_first and _attributes(body, EVENT) <= _DICTIONARY_METHODS
    if not is_dictionary or not _DICTIONARY_ANNOTATION.match(
        _annotation_text(_all_parameters(arguments)[0].annotation)
    ):
        return {}
    return _parts_read(body, _EventReader(names))


def _all_parameters(arguments: ast.arguments) -> list[ast.arg]:
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def _annotation_text(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation).strip("'\"")


def _is_of_flask(annotation: ast.expr | None, names: Imports) -> bool:
    """Return whether a request may be Flask's, judging by its annotation and the imports."""
    if annotation is not None:
        return names.qualified(annotation) in {"flask.Request", "flask.wrappers.Request"}
    return not any(names.imports(framework) for framework in _OTHER_FRAMEWORKS)


def _attributes(body: Sequence[ast.stmt], name: str) -> set[str]:
    """Return the names of a variable's attributes that statements read."""
    nodes = (node for statement in body for node in ast.walk(statement))
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    }


def _parts_read(body: Sequence[ast.stmt], reader: _RequestReader) -> dict[str, tuple[Field, ...]]:
    nodes = [node for statement in body for node in ast.walk(statement)]
    for node in nodes:
        reader.record_variables(node)
    parts: dict[str, dict[Field, None]] = {}
    for node in nodes:
        if isinstance(node, ast.expr) and (part := reader.part(node)):
            parts.setdefault(part, {})
        for part, field in reader.fields(node):
            parts.setdefault(part, {})[field] = None
    return {part: tuple(_without_parents(fields)) for part, fields in parts.items()}


def _without_parents(fields: Iterable[Field]) -> list[Field]:
    """Return the fields without those of which a nested field is read."""
    paths = [*fields]
    parents = {path[:length] for path in paths for length in range(1, len(path))}
    return [path for path in paths if path not in parents]


class _RequestReader:
    """Recognise the expressions of one function that read parts of a web request."""

    def __init__(
        self, names: Imports, *, is_passed: bool = False, parts: Mapping[str, str] = _PARTS
    ) -> None:
        self._names = names
        self._parts = parts
        self._is_passed = is_passed
        self._held_by_variable: dict[str, tuple[str, Field]] = {}
        """Variable → part of the request and the field that it holds; an empty field for all."""

    def record_variables(self, node: ast.AST) -> None:
        """Record the variables that hold a part or a field after an assignment or in a loop."""
        match node:
            case ast.Assign(targets=targets, value=value):
                held = self._held(value)
            case ast.For(target=target, iter=items) | ast.comprehension(target=target, iter=items):
                targets, held = [target], self._nested(items, 0)
            case _:
                return
        for variable in targets:
            if held and isinstance(variable, ast.Name):
                self._held_by_variable[variable.id] = held

    def _held(self, node: ast.expr) -> tuple[str, Field] | None:
        """Return the part and the field that an expression reads; None if it reads neither."""
        match node:
            case ast.Name(id=name) if name in self._held_by_variable:
                return self._held_by_variable[name]
            case _ if part := self.part(node):
                return part, ()
            case ast.BoolOp(values=[first, *_]) | ast.IfExp(body=first):
                return self._held(first)
            case _:
                return self._item(node)

    def _item(self, node: ast.AST) -> tuple[str, Field] | None:
        """Return the part and the field that an expression reads by its key; None for others."""
        match node:
            case (
                ast.Subscript(value=container, slice=ast.Constant(value=(str() | int()) as key))
                | ast.Call(
                    func=ast.Attribute(value=container, attr=("get" | "getlist" | "pop")),
                    args=[ast.Constant(value=str(key)), *_],
                )
                | ast.Compare(
                    left=ast.Constant(value=str(key)),
                    ops=[ast.In() | ast.NotIn()],
                    comparators=[container],
                )
            ):
                return self._nested(container, key)
            case ast.Subscript(
                value=container,
                slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(index))),
            ):
                return self._nested(container, -index)
            case _:
                return None

    def _nested(self, container: ast.expr, key: str | int) -> tuple[str, Field] | None:
        """Return the part and field of an item of what an expression reads."""
        held = self._held(container)
        if held is None:
            return None
        part, field = held
        if part != JSON:
            return None if field or not isinstance(key, str) else (part, (key,))
        return (part, (*field, key)) if field or isinstance(key, str) else None

    def part(self, node: ast.expr) -> str:
        """Return the part of the request that an expression reads; empty if it reads none."""
        match node:
            case ast.Attribute(value=container, attr=attr) if self._is_request(container):
                return self._parts.get(attr, "")
            case ast.Call(func=ast.Attribute(value=container, attr=attr)) if self._is_request(
                container
            ):
                return _METHODS.get(attr, "")
            case ast.Call(func=called, args=[container, *_]) if self._is_loading(called):
                return "json" if self.part(container) == RAW else ""
            case ast.BoolOp(values=[container, *_]) | ast.IfExp(body=container):
                return self.part(container)
            case ast.Name(id=name) if name in self._held_by_variable:
                part, field = self._held_by_variable[name]
                return "" if field else part
            case _:
                return ""

    def fields(self, node: ast.AST) -> Iterator[tuple[str, Field]]:
        """Yield the part and its field that an expression reads; nothing if it reads no field."""
        if item := self._item(node):
            yield item

    def _is_request(self, node: ast.expr) -> bool:
        if self._is_passed and isinstance(node, ast.Name) and node.id == REQUEST:
            return True
        return self._names.qualified(node) == _FLASK_REQUEST

    def _is_loading(self, node: ast.expr) -> bool:
        return self._names.qualified(node) == "json.loads"


class _EventReader(_RequestReader):
    """Recognise the expressions of one function that read parts of a cloud event."""

    def part(self, node: ast.expr) -> str:
        """Return the part of the event that an expression reads; empty if it reads none."""
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
                return _GATEWAY_FIELDS.get(str(field), "")
            case _:
                return super().part(node)
