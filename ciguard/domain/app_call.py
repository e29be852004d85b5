"""Validation of a stored call of an application, which may come from an untrusted baseline."""

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
"""Function name by which a call runs the top-level code of a file."""


def validated_call(call: Json, function: str) -> Json:
    """Return `call` if it is a valid call of `function`.

    Args:
        call: object with the keys `module`, `function`, `arguments` and `files` (by name),
            `answers` (stub responses by operation) and others.
        function: qualified name of the function, including its module.

    Raises:
        ValueError: if the call is malformed or calls another function; the message names the key.
    """
    _check(isinstance(call, dict), "the call is not a JSON object")
    _check(set(call) <= _KEYS, f"the call has a key other than {', '.join(sorted(_KEYS))}")
    qualified_name = f"{call.get('module')}.{call.get('function')}"
    _check(qualified_name == function, f"the call is to {qualified_name:.80}, not to {function}")
    parts = str(call.get("function")).split(".")
    is_function = parts == [_PROGRAM] or all(map(_is_name, parts))
    _check(is_function and isinstance(call.get("module"), str), "the function's name is invalid")
    arguments, files, answers = (call.get(key) for key in ("arguments", "files", "answers"))
    _check(isinstance(arguments, dict), "'arguments' is not a JSON object")
    owner = str(call.get("function")).rpartition(".")[0]
    for name, argument in arguments.items():
        is_form = _is_object_of(owner, argument) or _is_request(argument) or _is_argument(argument)
        _check(_is_name(name) and is_form, f"the argument {name!r} is malformed")
    _check(isinstance(files, dict), "'files' is not a JSON object")
    for name, data in files.items():
        _check(_is_relative_path(name) and _is_base64(data), f"the file {name!r} is malformed")
    _check(isinstance(answers, dict), "'answers', the stub responses, is not a JSON object")
    _check(all(map(_is_answer, answers.values())), "a stub response is malformed")
    _check(_are_names(call.get("providers", [])), "'providers' is not a list of names")
    positional = call.get("positional", [])
    constructed = [name for name, argument in arguments.items() if "object" in argument]
    _check(
        _are_names(positional) and set(positional) <= set(arguments),
        "'positional' is not a list of names in 'arguments'",
    )
    _check(
        len(constructed) <= 1 and not set(constructed) & set(positional),
        "the call constructs more than one object, or passes an object by position",
    )
    return call


def _is_answer(answer: Json) -> bool:
    """Return whether a stub response has a result or an error."""
    return isinstance(answer, dict) and bool(set(answer) & {"answer", "error"})


def _are_names(names: Json) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _is_argument(argument: Json, depth: int = 0) -> bool:
    """Return whether an argument is a valid object `{FORM: VALUE}`, whose value may hold others."""
    if not isinstance(argument, dict) or len(argument) != 1 or depth > _MAX_DEPTH:
        return False
    ((form, value),) = argument.items()
    match form:
        case "several":
            return isinstance(value, list) and all(_is_argument(item, depth + 1) for item in value)
        case "fields":
            fields = value.values() if isinstance(value, dict) else [None]
            return all(_is_argument(item, depth + 1) for item in fields)
        case _:
            return form in _VALIDATORS and _VALIDATORS[form](value)


def _is_object_of(owner: str, argument: Json) -> bool:
    """Return whether an argument describes the construction of an `owner` object."""
    if not _has_exactly(argument, {"object"}) or not _has_exactly(
        argument["object"], {"of", "named"}
    ):
        return False
    construction = argument["object"]
    if not isinstance(construction["named"], dict):
        return False
    are_valid_keywords = all(
        _is_name(name) and _is_argument(value) for name, value in construction["named"].items()
    )
    return bool(owner) and construction["of"] == owner and are_valid_keywords


def _is_request(argument: Json) -> bool:
    """Return whether an argument describes a web request by its parts."""
    if not _has_exactly(argument, {"request"}) or not _has_exactly(
        argument["request"], {"is_passed", "parts"}
    ):
        return False
    parts = argument["request"]["parts"]
    if not isinstance(argument["request"]["is_passed"], bool) or not isinstance(parts, dict):
        return False
    are_fields = all(isinstance(fields, dict) for fields in parts.values())
    are_fields &= "" in parts.get("data", {"": None})  # the raw body has no field name
    return are_fields and all(
        _is_argument(fields) for part in parts.values() for fields in part.values()
    )


def _has_exactly(table: Json, keys: set[str]) -> bool:
    return isinstance(table, dict) and set(table) == keys


def _is_name(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_client(value: Json) -> bool:
    return _has_exactly(value, {"provider", "name"}) and all(map(_is_text, value.values()))


def _is_stored_file(value: Json) -> bool:
    """Return whether a value describes a file in an object storage: its name and contents."""
    return (
        _has_exactly(value, {"base64", "name"})
        and _is_base64(value["base64"])
        and _is_text(value["name"])
    )


def _is_upload(value: Json) -> bool:
    """Return whether a value describes an uploaded file of a web request."""
    if not _has_exactly(value, {"base64", "name", "is_awaited"}) or not _is_base64(value["base64"]):
        return False
    return isinstance(value["name"], str) and isinstance(value["is_awaited"], bool)


def _is_plain_data(value: Json, depth: int = 0) -> bool:
    """Return whether a value is JSON of limited depth."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return depth <= _MAX_DEPTH and all(_is_plain_data(item, depth + 1) for item in inner)
    return value is None or isinstance(value, str | int | float)


def _is_relative_path(name: str) -> bool:
    """Return whether a path stays in its folder: relative and without `..`."""
    path = PurePosixPath(name)
    is_name = bool(path.parts) and name.isprintable()
    return is_name and not path.is_absolute() and ".." not in path.parts


def _is_base64(data: Json) -> bool:
    try:
        return isinstance(data, str) and b64decode(data, validate=True) is not None
    except binascii.Error:
        return False


_VALIDATORS: Mapping[str, Callable[[Json], bool]] = {
    "argv": _is_text,
    "base64": _is_base64,
    "client": _is_client,
    "guess": _is_plain_data,
    "invocation": _is_text,
    "made_up": _is_text,
    "path": _is_text,
    "stored": _is_stored_file,
    "upload": _is_upload,
    "value": _is_plain_data,
}
"""Validators of arguments that hold no other arguments, by the argument's form."""


def _check(condition: bool, message: str) -> None:  # noqa: FBT001 - the condition to check
    if not condition:
        raise ValueError(message)
