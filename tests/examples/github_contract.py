"""GitHub's published OpenAPI description, held against what is asked and answered."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DESCRIPTION = json.loads(
    Path(__file__).with_name("github_openapi.json").read_text(encoding="utf-8")
)
_UNDOCUMENTED = {"403", "404", "429", "500", "502", "503"}
"""What GitHub and its proxies answer anywhere, though it is described for some operations only."""


def operation_of(method: str, path: str) -> str:
    """Return the described operation, such as `GET /repos/{owner}/{repo}/issues`."""
    for name in _DESCRIPTION["operations"]:
        stated, _, template = name.partition(" ")
        # The name of a reference may have slashes.
        escaped = re.sub(r"(git/refs?)/\\\{ref\\\}", r"\1/.+", re.escape(template))
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", escaped)
        if stated == method and re.fullmatch(pattern, path):
            return str(name)
    return ""


def request_errors(name: str, query: Mapping[str, str], body: Any) -> Iterator[str]:
    """Yield what the description does not allow in a request."""
    stated = _DESCRIPTION["operations"][name]
    for key, text in query.items():
        if key not in stated["query"]:
            yield f"{name}: query parameter {key} is not described"
        else:
            value = int(text) if text.isdecimal() else text
            yield from _errors(f"{name} ?{key}", stated["query"][key], value)
    if stated["request"] is None:
        if body is not None:
            yield f"{name}: a body is not described"
        return
    reference = stated["request"].get("$ref", "").rpartition("/")[2]
    request = _DESCRIPTION["schemas"][reference] if reference else stated["request"]
    for key in body or {}:
        if key not in request["properties"]:
            yield f"{name}: {key} in the body is not described"
    yield from _errors(name, stated["request"], body)


def response_errors(name: str, status: int, body: Any) -> Iterator[str]:
    """Yield what the description does not allow in an answer."""
    responses = _DESCRIPTION["operations"][name]["responses"]
    if str(status) not in responses:
        if str(status) not in _UNDOCUMENTED:
            yield f"{name}: status {status} is not described"
        return
    schema = responses[str(status)]
    if schema is not None and status != 503:
        yield from _errors(f"{name} → {status}", schema, body)


def _errors(where: str, schema: Any, value: Any) -> Iterator[str]:
    for error in _validator(json.dumps(schema)).iter_errors(value):
        yield f"{where}: {error.json_path}: {error.message:.200}"


@cache
def _validator(schema: str) -> Draft202012Validator:
    whole = {**json.loads(schema), "schemas": _DESCRIPTION["schemas"]}
    return Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER)
