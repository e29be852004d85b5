"""What a kind of setting is: how a value is read from text and from TOML, checked, and shown."""

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
    """One type of value. Its functions raise ValueError with the reason; callers add the place."""

    metavar: str
    """The placeholder in `--help`."""
    remedy: str
    """What to write instead, as the end of `Write …`."""
    parse: Callable[[str], Any]
    """Read the text of a flag or of an environment variable."""
    toml_types: tuple[type, ...]
    """What TOML may hold; a string among them is parsed, everything else is the value."""
    check: Callable[[Any], Any] = lambda value: value
    """Return a value that is within bounds."""
    show: Callable[[Any], str] = str
    """Return the value as `from_text` reads it."""
    is_list: bool = False

    def from_text(self, text: str) -> Any:
        """Read the text of a flag or of an environment variable.

        Raises:
            ValueError: with the reason, if it is not such a value.
        """
        return self.check(self.parse(text))

    def from_toml(self, value: object) -> Any:
        """Read what a TOML file holds.

        Raises:
            ValueError: with the reason, if it is not such a value.
        """
        # A boolean is an int in Python, never in TOML.
        if type(value) not in self.toml_types:
            msg = f"{_TYPE_NAMES.get(type(value), 'a date or time')} is not allowed here"
            raise ValueError(msg)
        return self.from_text(value) if isinstance(value, str) else self.check(value)


def closest(text: str, known: Any) -> str:
    """Return `. Did you mean 'x'?` or nothing; the remedy lists what is known."""
    hint = suggestion(text, map(str, known)).partition(" Known:")[0]
    return "." + hint if hint else ""
