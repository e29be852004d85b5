"""What a written call of an application may hold: it may come from anybody's baseline."""

from __future__ import annotations

import binascii
import keyword
from base64 import b64decode
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.values import Json

_KEYS = frozenset(
    {
        "module", "function", "arguments", "positional", "files", "answers", "providers", "refused",
    }
)  # fmt: skip
_MAX_DEPTH = 8
_PROGRAM = "<module>"
"""Names what a file does itself."""


def checked_call(call: Json, function: str) -> Json:
    """Return a call if it is one of this function.

    Args:
        call: module, function, arguments and files by name, and answers by operation.
        function: qualified name, its module included.

    Raises:
        ValueError: if it is something else; says what.
    """
    _check(isinstance(call, dict) and set(call) <= _KEYS, "its call is no table of known keys")
    own = f"{call.get('module')}.{call.get('function')}"
    _check(own == function, "its call is another function's")
    parts = str(call.get("function")).split(".")
    is_function = parts == [_PROGRAM] or all(map(_is_name, parts))
    _check(is_function and isinstance(call.get("module"), str), "its function is none")
    arguments, files, answers = (call.get(key) for key in ("arguments", "files", "answers"))
    _check(isinstance(arguments, dict), "its arguments are no table")
    owner = str(call.get("function")).rpartition(".")[0]
    for name, given in arguments.items():
        is_form = _is_object_of(owner, given) or _is_request(given) or _is_argument(given)
        _check(_is_name(name) and is_form, f"{name!r} is no argument")
    _check(isinstance(files, dict), "its files are no table")
    for name, data in files.items():
        _check(_is_inside(name) and _is_encoded(data), f"{name!r} is no file of the call")
    _check(isinstance(answers, dict), "its answers are no table")
    _check(all(map(_is_answer, answers.values())), "its answers are none")
    _check(_are_names(call.get("providers", [])), "its providers are no names")
    positional = call.get("positional", [])
    made = [name for name, given in arguments.items() if "object" in given]
    _check(_are_names(positional) and set(positional) <= set(arguments), "arguments are missing")
    _check(len(made) <= 1 and not set(made) & set(positional), "it has several objects")
    return call


def _is_answer(said: Json) -> bool:
    return isinstance(said, dict) and bool(set(said) & {"answer", "error"})


def _are_names(names: Json) -> bool:
    return isinstance(names, list) and all(isinstance(one, str) for one in names)


def _is_argument(given: Json, depth: int = 0) -> bool:
    if not isinstance(given, dict) or len(given) != 1 or depth > _MAX_DEPTH:
        return False
    ((form, value),) = given.items()
    match form:
        case "several":
            return isinstance(value, list) and all(_is_argument(one, depth + 1) for one in value)
        case "fields":
            fields = value.values() if isinstance(value, dict) else [None]
            return all(_is_argument(one, depth + 1) for one in fields)
        case _:
            return form in _SIMPLE and _SIMPLE[form](value)


def _is_object_of(owner: str, given: Json) -> bool:
    """Return whether that is what an object of a class is made with, and nothing else is called."""
    if not _has(given, {"object"}) or not _has(given["object"], {"of", "named"}):
        return False
    made = given["object"]
    if not isinstance(made["named"], dict):
        return False
    are_named = all(_is_name(name) and _is_argument(one) for name, one in made["named"].items())
    return bool(owner) and made["of"] == owner and are_named


def _is_request(given: Json) -> bool:
    """Return whether that is what a web request has in its parts."""
    if not _has(given, {"request"}) or not _has(given["request"], {"is_passed", "parts"}):
        return False
    parts = given["request"]["parts"]
    if not isinstance(given["request"]["is_passed"], bool) or not isinstance(parts, dict):
        return False
    are_fields = all(isinstance(one, dict) for one in parts.values())
    are_fields &= "" in parts.get("data", {"": None})
    return are_fields and all(_is_argument(one) for part in parts.values() for one in part.values())


def _has(table: Json, keys: set[str]) -> bool:
    return isinstance(table, dict) and set(table) == keys


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_client(value: Json) -> bool:
    return _has(value, {"provider", "name"}) and all(map(_is_text, value.values()))


def _is_stored(value: Json) -> bool:
    return (
        _has(value, {"base64", "name"}) and _is_encoded(value["base64"]) and _is_text(value["name"])
    )


def _is_upload(value: Json) -> bool:
    if not _has(value, {"base64", "name", "is_awaited"}) or not _is_encoded(value["base64"]):
        return False
    return isinstance(value["name"], str) and isinstance(value["is_awaited"], bool)


def _is_plain(value: Json, depth: int = 0) -> bool:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth <= _MAX_DEPTH and all(_is_plain(one, depth + 1) for one in inner)
    return value is None or isinstance(value, str | int | float)


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    is_name = bool(path.parts) and name.isprintable()
    return is_name and not path.is_absolute() and ".." not in path.parts


def _is_encoded(data: Json) -> bool:
    try:
        return isinstance(data, str) and b64decode(data, validate=True) is not None
    except binascii.Error:
        return False


_SIMPLE: Mapping[str, Callable[[Json], bool]] = {
    "argv": _is_text,
    "base64": _is_encoded,
    "client": _is_client,
    "guess": _is_plain,
    "invocation": _is_text,
    "made_up": _is_text,
    "path": _is_text,
    "stored": _is_stored,
    "upload": _is_upload,
    "value": _is_plain,
}
"""Forms of arguments that hold no others, and what holds of each."""


def _check(holds: bool, reason: str) -> None:  # noqa: FBT001 - what is checked
    if not holds:
        raise ValueError(reason)
