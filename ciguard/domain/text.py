"""Functions that make fuzzed text safe to show: bounded, without control characters and markup.

Messages and logs of a library under test may hold terminal escapes, workflow commands, mentions or
HTML that a case injected. All reporters and trackers show such text through these functions.
"""

from __future__ import annotations

import html
import re

LINE_LIMIT = 300
"""Maximum length of one line in reports, in characters."""
BLOCK_LIMIT = 8_000
"""Maximum length of a log or a stack trace in reports, in characters."""

_MARKUP = re.compile(
    r"""
    [\\`*\[\]<>|~]                        # code, emphasis, links, elements, cells
    | (?<![^\W_])_ | _(?![^\W_])           # emphasis: not inside of a name
    | &(?=\#|\w+;)                         # entities
    | /(?=/) | (?<=www)\.                  # addresses
    | :(?=(?!\d\d:)[\w+-]+:)              # emoji, but not times of day
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Characters that may start markup within a line. Other characters need no escape."""
_ELEMENT_MARKUP = re.compile(r"[^\w\s.,;?=+\"'%-]|_|(?<=www)\.", re.IGNORECASE)
"""Characters that may start markup in an HTML element or end a table cell."""
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_REFERENCE = re.compile(r"[@#]|\bGH(?=-\d)", re.IGNORECASE)
"""The beginning of a mention or of a reference to an issue."""


def visible(text: str, *, limit: int = LINE_LIMIT) -> str:
    r"""Return `text` on one line, with Python escapes for all characters that are not printable.

    The escaped characters include line ends, NUL, terminal escapes, zero-width and direction marks,
    surrogates, and characters that XML forbids. A backslash is not escaped, so the result cannot be
    decoded.
    """
    return shortened(_escaped(shortened(text, 2 * limit)), limit)


def visible_lines(text: str, *, limit: int = BLOCK_LIMIT) -> str:
    """Return `text` in lines, with Python escapes for all unprintable characters but line ends."""
    lines = shortened(text, limit).expandtabs(4).replace("\r\n", "\n").split("\n")
    return shortened("\n".join(map(_escaped, lines)), limit)


def without_userinfo(text: str) -> str:
    """Return `text` with user name and password of each URL replaced by `***`."""
    return _USERINFO.sub("***@", text)


def shortened(text: str, limit: int) -> str:
    """Return `text`, or its beginning, the number of omitted characters, and its end.

    The result has at most `limit` characters.

    Raises:
        ValueError: if `limit` is too small for the number of omitted characters.
    """
    if len(text) <= limit:
        return text
    note = f" …[{len(text) - limit} more]… "
    kept_length = limit - len(note)
    if kept_length < 0:
        msg = (
            f"a limit of {limit} characters is too small: the note on omitted characters does "
            "not fit"
        )
        raise ValueError(msg)
    tail = kept_length // 3
    return text[: kept_length - tail] + note + text[len(text) - tail :]


def markdown_code(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as inline code for markdown paragraphs, lists and tables.

    The text cannot mention a user, link an issue, open a tag or end the table cell.
    """
    escaped = visible(text, limit=limit).strip()
    if not escaped:
        return "`(empty)`"
    if "|" in escaped:
        # A pipe would end the table cell and cannot be escaped in a code span.
        return f"<code>{_ELEMENT_MARKUP.sub(_entity, escaped)}</code>"
    fence = "`" * (_longest_run(escaped) + 1)
    padding = " " if "`" in escaped else ""
    return f"{fence}{padding}{escaped}{padding}{fence}"


def html_code(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as an HTML code element, for places without markdown such as `<summary>`."""
    return f"<code>{html.escape(visible(text, limit=limit))}</code>"


def markdown_text(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as plain markdown text, without markup, mentions or links.

    Use it for ciguard's own sentences that may hold a name; fuzzed text needs `markdown_code`.
    """
    # GitHub finds mentions in the rendered text, so an invisible word joiner must split them.
    without_references = _REFERENCE.sub("\\g<0>\u2060", visible(text, limit=limit))
    # GitHub treats even an escaped dollar sign as the start of a formula.
    return _MARKUP.sub(r"\\\g<0>", without_references).replace("$", "&#36;")


def markdown_block(text: str, *, language: str = "text", limit: int = BLOCK_LIMIT) -> str:
    """Return `text` as a fenced code block that the text cannot close."""
    escaped = visible_lines(text, limit=limit)
    fence = "`" * max(3, _longest_run(escaped) + 1)
    return f"{fence}{language}\n{escaped}\n{fence}"


def command_text(text: str) -> str:
    """Return `text` escaped as the message of a workflow command of GitHub Actions."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped(text: str) -> str:
    """Return `text` with Python escapes for all unprintable characters."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text
    )


def _entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"


def _longest_run(text: str) -> int:
    """Return the length of the longest run of backticks."""
    return max(map(len, re.findall(r"`+", text)), default=0)
