"""Reads requests that anybody may have sent: what a part says, or where it is wrong."""

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
    """Return the error of a request that cannot be answered, whenever it comes."""
    return ServiceError(Code.INVALID_ARGUMENT, message)


def read_json(body: bytes) -> RequestPart:
    """Return a request as the message that it is.

    Raises:
        ServiceError: if it is none.
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        msg = "Invalid JSON payload received. It cannot be parsed."
        raise invalid(msg) from error
    return RequestPart(content, "")


@dataclass(frozen=True, slots=True)
class RequestPart:
    """A part of a request. Every method raises ServiceError, and names the place."""

    content: Json
    place: str

    def __post_init__(self) -> None:
        if not isinstance(self.content, dict):
            raise self._invalid(self.place or "the request", "is no object")

    def part(self, name: str) -> RequestPart:
        """Return a message; an empty one where there is none."""
        value = self._of(name)
        return RequestPart({} if value is None else value, self._at(name))

    def parts(self, name: str) -> list[RequestPart]:
        """Return several messages; none where there are none."""
        several = self._of(name)
        if several is None:
            return []
        if not isinstance(several, list):
            raise self._invalid(self._at(name), "is no list")
        return [RequestPart(one, f"{self._at(name)}[{at}]") for at, one in enumerate(several)]

    def text(self, name: str) -> str:
        """Return a text, of whole letters; an empty one where there is none."""
        value = self._of(name)
        if value is None:
            return ""
        if not isinstance(value, str) or not _is_whole(value):
            raise self._invalid(self._at(name), "is no text")
        return value

    def texts(self, name: str) -> list[str]:
        """Return several texts; none where there are none."""
        several = self._of(name)
        if several is None:
            return []
        if not isinstance(several, list):
            raise self._invalid(self._at(name), "is no list")
        named = {f"{at}": one for at, one in enumerate(several)}
        inside = RequestPart(named, self._at(name))
        return [inside.text(at) for at in named]

    def number(self, name: str) -> float | None:
        """Return a number; None where there is none."""
        value = self._of(name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and math.isfinite(value)):
            raise self._invalid(self._at(name), "is no number")
        return None if value is None else float(value)

    def has(self, name: str) -> bool:
        """Return whether anything is said."""
        return self._of(name) is not None

    def base64(self, name: str) -> str:
        """Return bytes as the standard alphabet writes them; either one may come."""
        text = self.text(name).translate(_STANDARD).rstrip("=")
        text += "=" * (-len(text) % 4)
        try:
            base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            raise self._invalid(self._at(name), "Base64 decoding failed") from error
        return text

    def member(self, name: str, members: tuple[str, ...]) -> str:
        """Return a member of an enumeration, by its name or number."""
        value = self._of(name)
        if isinstance(value, int) and 0 <= value < len(members):
            value = members[value]
        if value is None:
            return members[0]
        if not isinstance(value, str) or not value or value not in members:
            known = ", ".join(filter(None, members[1:]))
            raise self._invalid(self._at(name), f"is none of {known}")
        return value

    def count(self, name: str) -> int:
        """Return a number of things; 0 where there is none."""
        value = self._of(name)
        if isinstance(value, str) and value.isascii() and value.isdecimal():
            value = int(value[:9])
        if value is not None and (not isinstance(value, int) or not 0 <= value < 1 << 31):
            raise self._invalid(self._at(name), "is no count")
        return int(value or 0)

    def _of(self, name: str) -> Json:
        """Return a value by its key, in either spelling; None where there is none."""
        return self.content.get(camel_case(name), self.content.get(name))

    def _at(self, name: str) -> str:
        return f"{self.place}.{camel_case(name)}" if self.place else camel_case(name)

    def _invalid(self, place: str, what: str) -> ServiceError:
        return invalid(f"Invalid value at '{place}': {what}.")


def camel_case(name: str) -> str:
    """Return the key that REST has for a field of a message."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def _is_whole(text: str) -> bool:
    """Return whether a text has no halves of letters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
