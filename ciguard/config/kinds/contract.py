"""The interface of kinds of settings: parsing, validation and formatting of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ciguard.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPE_NAMES = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingKind:
    """One kind of value.

    Invalid values raise a ValueError with the reason; callers add file, key and value.
    """

    metavar: str
    """Placeholder of a value in `--help`; empty for switches, which have no value."""
    remedy: str
    """Valid values, as the end of the sentence `Write …`."""
    parse: Callable[[str], Any]
    """Function that parses the text of a flag or an environment variable."""
    toml_types: tuple[type, ...]
    """Valid types in TOML. Strings are parsed; values of other types are only validated."""
    check: Callable[[Any], Any] = lambda value: value
    """Function that validates and returns a value."""
    show: Callable[[Any], str] = str
    """Function that formats a value for `from_text`."""
    is_list: bool = False
    """True if the value is a list, so that a flag may be repeated."""

    def from_text(self, text: str) -> Any:
        """Parse the text of a flag or an environment variable.

        Raises:
            ValueError: if the value is invalid; the message has the reason.
        """
        return self.check(self.parse(text))

    def from_toml(self, value: object) -> Any:
        """Convert a value from a TOML file.

        Raises:
            ValueError: if the value is invalid; the message has the reason.
        """
        # Not `isinstance`, which would accept `True` as an `int`.
        if type(value) not in self.toml_types:
            msg = f"{_TYPE_NAMES.get(type(value), 'a date or time')} is not valid here"
            raise ValueError(msg)
        return self.from_text(value) if isinstance(value, str) else self.check(value)


def closest(text: str, known: Any) -> str:
    """Return `. Did you mean 'x'?` with the known value most similar to `text`, or an empty string.

    The known values are not listed here, because a kind's remedy lists them.
    """
    hint = suggestion(text, map(str, known)).partition(" Known:")[0]
    return "." + hint if hint else ""
