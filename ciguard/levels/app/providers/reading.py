"""Reads JSON requests that are not trusted; each error names the invalid field."""

from __future__ import annotations

import base64
import binascii
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, ServiceError

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_STANDARD = str.maketrans("-_", "+/")


def invalid(message: str) -> ServiceError:
    """Return the error of a service for an invalid request."""
    return ServiceError(Code.INVALID_ARGUMENT, message)


def read_json(body: bytes) -> RequestPart:
    """Return the parsed body of a request.

    Raises:
        ServiceError: if the body is not a JSON object.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = "Invalid JSON payload received. It cannot be parsed."
        raise invalid(msg) from error
    return RequestPart(content, "")


@dataclass(frozen=True, slots=True)
class RequestPart:
    """An object in the JSON of a request. Every method raises `ServiceError` for an invalid field.

    Fields are named as in the provider's messages: `max_results` also finds the key `maxResults`.
    """

    content: Json
    place: str
    """Path of the object in the request, for error messages; empty for the whole request."""

    def __post_init__(self) -> None:
        if not isinstance(self.content, dict):
            raise self._invalid(self.place or "the request", "is not an object")

    def part(self, name: str) -> RequestPart:
        """Return a nested object; an empty object if the field is missing."""
        value = self._value(name)
        return RequestPart({} if value is None else value, self._path(name))

    def parts(self, name: str) -> list[RequestPart]:
        """Return a list of objects; empty if the field is missing."""
        items = self._value(name)
        if items is None:
            return []
        if not isinstance(items, list):
            raise self._invalid(self._path(name), "is not a list")
        return [
            RequestPart(item, f"{self._path(name)}[{index}]") for index, item in enumerate(items)
        ]

    def text(self, name: str) -> str:
        """Return a string without lone surrogates; empty if the field is missing."""
        value = self._value(name)
        if value is None:
            return ""
        if not isinstance(value, str) or not _is_valid_text(value):
            raise self._invalid(self._path(name), "is not a string")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a list of strings; empty if the field is missing."""
        items = self._value(name)
        if items is None:
            return []
        if not isinstance(items, list):
            raise self._invalid(self._path(name), "is not a list")
        named = {f"{index}": item for index, item in enumerate(items)}
        part = RequestPart(named, self._path(name))
        return [part.text(index) for index in named]

    def number(self, name: str) -> float | None:
        """Return a finite number; None if the field is missing."""
        value = self._value(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and math.isfinite(value)):
            raise self._invalid(self._path(name), "is not a number")
        return None if value is None else float(value)

    def has(self, name: str) -> bool:
        """Return whether a field is present."""
        return self._value(name) is not None

    def base64(self, name: str) -> str:
        """Return base64 in the standard alphabet; the field may use the URL-safe alphabet."""
        text = self.text(name).translate(_STANDARD).rstrip("=")
        text += "=" * (-len(text) % 4)
        try:
            base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self._invalid(self._path(name), "Base64 decoding failed") from error
        return text

    def member(self, name: str, members: tuple[str, ...]) -> str:
        """Return the name of an enumeration's member; the first one if the field is missing.

        Args:
            name: field with the name or the number of the member.
            members: names of the members by number; empty for a number without a member.
        """
        value = self._value(name)
        if isinstance(value, int) and 0 <= value < len(members):
            value = members[value]
        if value is None:
            return members[0]
        if not isinstance(value, str) or not value or value not in members:
            known = ", ".join(filter(None, members[1:]))
            raise self._invalid(self._path(name), f"is not one of {known}")
        return value

    def count(self, name: str) -> int:
        """Return an integer from 0 on, which may be written as a string; 0 if it is missing."""
        value = self._value(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            value = int(value[:9])
        if value is not None and (not isinstance(value, int) or not 0 <= value < 1 << 31):
            raise self._invalid(self._path(name), "is not a count")
        return int(value or 0)

    def _value(self, name: str) -> Json:
        """Return a field, whose key is in camel or snake case; None if it is missing."""
        return self.content.get(camel_case(name), self.content.get(name))

    def _path(self, name: str) -> str:
        return f"{self.place}.{camel_case(name)}" if self.place else camel_case(name)

    def _invalid(self, place: str, problem: str) -> ServiceError:
        return invalid(f"Invalid value at '{place}': {problem}.")


def camel_case(name: str) -> str:
    """Return the key in REST of a message's field: `max_results` → `maxResults`."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _is_valid_text(text: str) -> bool:
    """Return whether UTF-8 can encode a text: it has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
