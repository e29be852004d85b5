"""Statements: the sentences of an API's documentation, each with its subject.

Layout, code examples, markup and punctuation are left out, so that two versions can be compared by
what they say. Sentences of the parameter section come from the API's record.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.oracles.specifications import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.records import ApiRecord

_MAX_STATEMENTS = 400
_MAX_LENGTH = 600
_WORD = re.compile(r"-?\d+(?:\.\d+)?|[a-z_][a-z0-9_]*(?:[.-][a-z0-9_]+)*|[<>=≤≥]+")
_DIRECTIVE = re.compile(r"\.\. *(?:[a-z]+:)?([a-z-]+)::\s*(.*)")
_UNREAD = r"code|code-block|doctest|figure|image|include|math|plot|testcode|testsetup"
_BLOCK = re.compile(
    rf"\.\. *(?:{_UNREAD})::.*"
    r"|(?:examples?|usage|references|see also)\b[^.]*:+"
    r"|(?:required |optional |other |keyword(?:-only)? |call )*"
    r"(?:args|arguments|parameters|params|kwargs|inputs?|attributes)\s*:+"
    r"|:(?:param|type|arg|keyword)\b[^:]*:.*",
    re.IGNORECASE,
)
"""First line of a block to skip, with all lines that are indented more."""
_UNREAD_TITLE = re.compile(
    r"(?:other )?parameters|attributes|examples?|references|see also", re.IGNORECASE
)
_UNDERLINE = re.compile(r"[-=~]{3,}")
_SIGNATURE = re.compile(r"[\w.]+\s*\(.*\)(?:\s*->.*)?")
_TITLE = re.compile(r"[A-Z][\w ]{0,30}:")
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an API's documentation."""

    text: str
    parameter: str = ""
    """Parameter that the sentence describes; empty if it is about the whole API."""
    directive: str = ""
    """Directive that contains the sentence, such as `deprecated` or `versionchanged`."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words, numbers and comparison signs, in lower case."""
        return tuple(_WORD.findall(self.text.lower()))


def statements_of(record: ApiRecord, docstring: str) -> list[Statement]:
    """Return the statements of an API's documentation, each once.

    Args:
        record: description of the API, with its parameters.
        docstring: the whole docstring; if empty, the record's first paragraph is used.
    """
    found: dict[tuple[str, tuple[str, ...]], Statement] = {}
    for statement in (*_of_parameters(record), *_of_docstring(docstring or record.doc)):
        if statement.words and len(found) < _MAX_STATEMENTS:
            found.setdefault((statement.parameter, statement.words), statement)
    return [*found.values()]


def _of_parameters(record: ApiRecord) -> Iterator[Statement]:
    for parameter in (*record.parameters, *record.inputs):
        if parameter.doc_type:
            yield Statement(f"{parameter.name} ({parameter.doc_type})", parameter.name)
        for text in sentences(parameter.doc):
            yield Statement(text[:_MAX_LENGTH], parameter.name)


def _of_docstring(docstring: str) -> Iterator[Statement]:
    for directive, paragraph in _paragraphs(_read_lines(inspect.cleandoc(docstring).splitlines())):
        for text in sentences(paragraph):
            yield Statement(text[:_MAX_LENGTH], directive=directive)


def _read_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines without signature, parameter sections, formulas and code."""
    index = 1 if lines and _SIGNATURE.fullmatch(lines[0].strip()) else 0
    while index < len(lines):
        text = lines[index].strip()
        after = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if text and _UNDERLINE.fullmatch(after):
            is_unread = _UNREAD_TITLE.fullmatch(text)
            index = _next_title(lines, index + 2) if is_unread else index + 2
            yield ""
        elif text.startswith("```"):
            index = _after_fence(lines, index + 1)
        elif text.startswith(">>>"):
            index = _next_blank(lines, index)
        elif _BLOCK.fullmatch(text):
            index = _after_block(lines, index)
            yield ""
        elif text.endswith("::") and not text.startswith(".."):
            yield lines[index].rstrip()[:-2] + "."
            index = _after_block(lines, index)
        else:
            yield lines[index]
            index += 1


def _next_title(lines: list[str], start: int) -> int:
    """Return the index of the next underlined title."""
    for index in range(start, len(lines) - 1):
        if lines[index].strip() and _UNDERLINE.fullmatch(lines[index + 1].strip()):
            return index
    return len(lines)


def _after_fence(lines: list[str], start: int) -> int:
    """Return the index after the end of a fenced block of code."""
    for index in range(start, len(lines)):
        if lines[index].strip().startswith("```"):
            return index + 1
    return len(lines)


def _next_blank(lines: list[str], start: int) -> int:
    """Return the index of the next empty line."""
    for index in range(start, len(lines)):
        if not lines[index].strip():
            return index
    return len(lines)


def _after_block(lines: list[str], start: int) -> int:
    """Return the index after a line and all lines below it that are indented more."""
    for index in range(start + 1, len(lines)):
        if lines[index].strip() and _indent(lines[index]) <= _indent(lines[start]):
            return index
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _paragraphs(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield the directive and the text of each paragraph, list item and directive."""
    words: list[str] = []
    directive, margin = "", -1
    for line in lines:
        text = line.strip()
        match = _DIRECTIVE.fullmatch(text)
        is_outside = bool(text) and _indent(line) <= margin
        if words and (not text or match or is_outside or _BULLET.match(text)):
            yield directive, " ".join(words)
            words = []
        if is_outside:
            directive, margin = "", -1
        if match:
            directive, margin = match[1], _indent(line)
            text = match[2]
        if text and not _TITLE.fullmatch(text):
            words.extend(_BULLET.sub("", text, count=1).split())
    if words:
        yield directive, " ".join(words)
