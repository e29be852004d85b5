"""Fuzzed text made safe to show: bounded, control characters visible, markdown inert.

Messages and logs of a library under test hold whatever a case put there: terminal escapes, workflow
commands, mentions, HTML. Every reporter and tracker shows such text through these functions.
"""

from __future__ import annotations

import html
import re

LINE_LIMIT = 300
"""Characters of one line of text for a person."""
BLOCK_LIMIT = 8_000
"""Characters of a log or a stack."""

_MARKUP = re.compile(
    r"""
    [\\`*\[\]<>|~]                        # code, emphasis, links, elements, cells
    | (?<![^\W_])_ | _(?![^\W_])           # emphasis: not inside of a name
    | &(?=\#|\w+;)                         # entities
    | /(?=/) | (?<=www)\.                  # addresses
    | :(?=(?!\d\d:)[\w+-]+:)              # emoji, but no times of day
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What can be markup in the middle of a line; everything else stays readable."""
_ELEMENT_MARKUP = re.compile(r"[^\w\s.,;?=+\"'%-]|_|(?<=www)\.", re.IGNORECASE)
"""What can be markup inside of an element, where a cell ends at a pipe that no backslash hides."""
_USERINFO = re.compile(r"(?<=://)[^/\s@]+@")
_REFERENCE = re.compile(r"[@#]|\bGH(?=-\d)", re.IGNORECASE)
"""What a mention or a reference to an issue begins with."""


def visible(text: str, *, limit: int = LINE_LIMIT) -> str:
    r"""Return `text` on one line, every character that is not printable as its Python escape.

    That covers line ends, NUL, terminal escapes, zero-width and direction marks, surrogates and
    what XML forbids. A backslash stays as it is: the result is for reading, not for decoding.
    """
    return shortened(_escaped(shortened(text, 2 * limit)), limit)


def visible_lines(text: str, *, limit: int = BLOCK_LIMIT) -> str:
    """Return `text` with its line ends, everything else that is not printable as its escape."""
    lines = shortened(text, limit).expandtabs(4).replace("\r\n", "\n").split("\n")
    return shortened("\n".join(map(_escaped, lines)), limit)


def without_userinfo(text: str) -> str:
    """Return `text` with name and password of every address replaced."""
    return _USERINFO.sub("***@", text)


def shortened(text: str, limit: int) -> str:
    """Return at most `limit` characters: beginning, a note of how much is left out, end.

    Raises:
        ValueError: if `limit` leaves no room for the note.
    """
    if len(text) <= limit:
        return text
    note = f" …[{len(text) - limit} more]… "
    kept = limit - len(note)
    if kept < 0:
        msg = f"{limit} characters leave no room for the note of what was left out"
        raise ValueError(msg)
    tail = kept // 3
    return text[: kept - tail] + note + text[len(text) - tail :]


def markdown_code(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as inline code, safe in a paragraph, a list and a table.

    Nothing in it mentions a person, links an issue, opens a tag or ends the cell.
    """
    shown = visible(text, limit=limit).strip()
    if not shown:
        return "`(empty)`"
    if "|" in shown:
        # A code span has no escapes, so what would end its cell goes into an element instead.
        return f"<code>{_ELEMENT_MARKUP.sub(_entity, shown)}</code>"
    fence = "`" * (_longest_run(shown) + 1)
    gap = " " if "`" in shown else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


def html_code(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as a code element, for where markdown is not read, such as a `<summary>`."""
    return f"<code>{html.escape(visible(text, limit=limit))}</code>"


def markdown_text(text: str, *, limit: int = LINE_LIMIT) -> str:
    """Return `text` as a plain part of a paragraph: no markup, no mention, no link.

    For sentences of our own that may hold a name; fuzzed text belongs into `markdown_code`.
    """
    # Trackers look for mentions and references in what was rendered, so those are parted.
    parted = _REFERENCE.sub("\\g<0>\u2060", visible(text, limit=limit))
    # A backslash does not keep a dollar from beginning a formula.
    return _MARKUP.sub(r"\\\g<0>", parted).replace("$", "&#36;")


def markdown_block(text: str, *, language: str = "text", limit: int = BLOCK_LIMIT) -> str:
    """Return `text` as a fenced block that nothing inside can end."""
    shown = visible_lines(text, limit=limit)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}"


def command_text(text: str) -> str:
    """Return `text` as the message of a workflow command, as the toolkit of Actions writes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped(text: str) -> str:
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
