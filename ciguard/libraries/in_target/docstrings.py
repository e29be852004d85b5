"""Parses docstrings: signature line, first paragraph, types and descriptions of parameters.

The module supports the four formats of the libraries: Google (`Args:`), reST (`:param x:`), numpy
(underlined `Parameters`) and Jittor's (`[in] x(type): …`).
"""

from __future__ import annotations

import ast
import inspect
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(
    r"^(?:required |optional |other )?(?:args|arguments|parameters|params|inputs?|keyword args|"
    r"keyword arguments|keyword-only arguments|call arguments|kwargs)\s*:+\s*$",
    re.IGNORECASE,
)
_UNDERLINE = re.compile(r"^(?:-{3,}|={3,})$")
_NUMPY_HEADER = re.compile(r"^(?:other )?parameters$", re.IGNORECASE)
_NUMPY_ITEM = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::\s*(.*))?$")
_ITEM = re.compile(
    r"^(?:[-*]\s+)?[`*]*(\*{0,2}[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)*)[`*]*\s*(?=[:(\u2013\u2014]|-\s)"
)
_SEPARATOR = re.compile(r":+|[\u2013\u2014]|-(?=\s)|$")
"""Separator between an item's name and its text: a colon, or a dash as in manuals."""
_FURTHER_TYPE = re.compile(r"^(?:or|and)\s+(?=\()")
_REST_PARAMETER = re.compile(r"^:param\s+(?:([^:]+?)\s+)?(\*{0,2}\w+)\s*:\s*(.*)$")
_REST_TYPE = re.compile(r"^:type\s+(\w+)\s*:\s*(.*)$")
_BRACKET = re.compile(r"^(?:[-*]\s+)?\[(?:in|out|inout|in,\s*out)\]\s*(\w+)\s*(.*)$")
_ARGUMENTS = re.compile(
    r"^(?:required |optional |other )?(?:args|arguments|parameters|params|keyword args|"
    r"keyword arguments|keyword-only arguments)\s*:+\s*$",
    re.IGNORECASE,
)
"""Headers of sections on the signature; other sections describe the inputs of a layer."""
_LEADING_NAME = re.compile(r"^(?:[-*]\s+)?[`*]*([A-Za-z_]\w*)")
_FURTHER_SIGNATURE = re.compile(r"^\.\. (?:py:)?(?:function|method|class)::|^[\w.]+\s*\(.*\)\s*->")
_MAX_SIGNATURE_LINES = 8
_MAX_DOC_LENGTH = 2000
_MAX_LINE_LENGTH = 200


class ParameterDescription(NamedTuple):
    """Type and description of one parameter in a docstring."""

    doc_type: str
    """Type as written in the docstring; may be empty."""
    doc: str
    """Description on one line; may be empty."""


def first_paragraph(doc: str) -> str:
    """Return the first paragraph after the signature, on one line."""
    lines = inspect.cleandoc(doc).splitlines()
    start = _signature_line_count(lines)
    words: list[str] = []
    for line in lines[start:]:
        if line.strip():
            words.extend(line.split())
        elif words:
            break
    return " ".join(words)[:_MAX_DOC_LENGTH]


def signature_arguments(doc: str, name: str) -> ast.arguments | None:
    """Return the arguments in a signature line such as `add(input, *, out=None) -> Tensor`."""
    lines = inspect.cleandoc(doc).splitlines()
    text = " ".join(lines[: _signature_line_count(lines)]).strip()
    match = re.match(r"^(?:[\w.]+\.)?" + re.escape(name) + r"\s*\(", text)
    if not match:
        return None
    parameter_list = text[match.end() : _closing(text, match.end() - 1)]
    return parse_arguments(parameter_list)


def parse_arguments(text: str) -> ast.arguments | None:
    """Return the arguments in the text of a parameter list; None if it cannot be parsed."""
    try:
        tree = ast.parse(f"def f({text}): pass")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None  # the parser raises MemoryError if brackets are nested too deeply
    function = tree.body[0]
    return function.args if isinstance(function, ast.FunctionDef) else None


def parameters(doc: str) -> dict[str, ParameterDescription]:
    """Return the type and description of each parameter that the docstring describes."""
    lines = inspect.cleandoc(doc).splitlines()
    by_name: dict[str, ParameterDescription] = {}
    for names, doc_type, text in (
        *_section_items(lines),
        *_rest_items(lines),
        *_bracketed_items(lines),
    ):
        description = ParameterDescription(
            " ".join(doc_type.split()), " ".join(text.split())[:_MAX_DOC_LENGTH]
        )
        for name in names.split(","):
            known = by_name.get(name.strip().lstrip("*"))
            if known is None or (description.doc and not known.doc):
                by_name[name.strip().lstrip("*")] = description
    return by_name


def undeclared_parameters(doc: str, known: set[str]) -> list[str]:
    """Return the names that the parameter section describes but the signature lacks.

    Names in signatures of further overloads are left out: one section describes all overloads.

    Args:
        doc: the docstring.
        known: the names of the parameters in the signature.
    """
    lines = inspect.cleandoc(doc).splitlines()
    overloads = " ".join(line for line in lines if _FURTHER_SIGNATURE.match(line.strip()))
    overload_names = set(re.findall(r"\w+", overloads))
    items = (*_section_items(lines, _ARGUMENTS), *_rest_items(lines))
    names = [
        name.strip().lstrip("*") for joined_names, _, _ in items for name in joined_names.split(",")
    ]
    return [name for name in dict.fromkeys(names) if name not in known | overload_names]


def unparsed_lines(doc: str, known: set[str]) -> list[str]:
    """Return the lines of the parameter section that begin with a known name but are not an item.

    Such a line has no colon, so readers take it for a continuation of the previous item.

    Args:
        doc: the docstring.
        known: the names of the parameters in the signature.
    """
    lines = inspect.cleandoc(doc).splitlines()
    described_names = {
        name.strip()
        for joined_names, _, _ in _section_items(lines)
        for name in joined_names.split(",")
    }
    unparsed = []
    for index, line in enumerate(lines):
        if not _ARGUMENTS.match(line.strip()):
            continue
        block = [text for text in _block(lines, index + 1, _indent(line)) if text.strip()]
        margin = _indent(block[0]) if block else 0
        for text in block:
            name = _LEADING_NAME.match(text.strip())
            if name and _indent(text) <= margin and name.group(1) in known - described_names:
                unparsed.append(" ".join(text.split())[:_MAX_LINE_LENGTH])
    return unparsed


def _signature_line_count(lines: list[str]) -> int:
    """Return the number of lines of the signature at the top; 0 if there is none."""
    if not lines or not re.match(r"^[\w.]+\s*\(", lines[0]):
        return 0
    for count in range(1, min(len(lines), _MAX_SIGNATURE_LINES) + 1):
        text = " ".join(lines[:count])
        end = _closing(text, text.index("("))
        if end < len(text):
            rest = text[end + 1 :].strip()
            return count if not rest or rest.startswith(("->", "-&gt;", ":")) else 0
    return 0


def _closing(text: str, opening: int) -> int:
    """Return the index of the bracket that closes the one at `opening`, or the text's length."""
    depth = 0
    for index in range(opening, len(text)):
        if text[index] in "([{":
            depth += 1
        elif text[index] in ")]}":
            depth -= 1
            if depth == 0:
                return index
    return len(text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _section_items(
    lines: list[str], header: re.Pattern[str] = _HEADER
) -> Iterator[tuple[str, str, str]]:
    """Yield names, type and text of the items in Google and numpy sections."""
    for index, line in enumerate(lines):
        text = line.strip()
        next_line = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if header.match(text):
            yield from _items(_block(lines, index + 1, _indent(line)))
        elif _NUMPY_HEADER.match(text) and _UNDERLINE.match(next_line):
            yield from _numpy_items(lines, index + 2, _indent(line))


def _block(lines: list[str], start: int, header_indent: int) -> list[str]:
    """Return the lines of a Google section, which are indented deeper than its header."""
    block = []
    for line in lines[start:]:
        if line.strip() and _indent(line) <= header_indent:
            break
        block.append(line)
    return block


def _items(block: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield names, type and text of the items in a Google section."""
    non_empty = [line for line in block if line.strip()]
    if not non_empty:
        return
    margin = _indent(non_empty[0])
    item_lines: list[str] = []
    for line in non_empty:
        if _indent(line) <= margin and _ITEM.match(line.strip()):
            yield from _item(item_lines)
            item_lines = [line.strip()]
        else:
            item_lines.append(line.strip())
    yield from _item(item_lines)


def _item(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and text of an item such as `name (type): text` or `name(type) - text`."""
    text = " ".join(lines)
    match = _ITEM.match(text)
    if not match:
        return
    rest = text[match.end() :].lstrip()
    types: list[str] = []
    while rest.startswith("("):
        end = _closing(rest, 0)
        types.append(rest[1:end])
        rest = rest[end + 1 :].lstrip()
        rest = _FURTHER_TYPE.sub("", rest)
    separator = _SEPARATOR.match(rest)
    if separator:
        yield match.group(1), " or ".join(types), rest[separator.end() :]


def _numpy_items(lines: list[str], start: int, margin: int) -> Iterator[tuple[str, str, str]]:
    """Yield names, type and text of the items in a numpy section."""
    names, doc_type = "", ""
    text: list[str] = []
    for index, line in enumerate(lines[start:], start=start):
        next_line = lines[index + 1].strip() if index + 1 < len(lines) else ""
        if line.strip() and _UNDERLINE.match(next_line):
            break
        if line.strip() and _indent(line) <= margin:
            match = _NUMPY_ITEM.match(line.strip())
            if names:
                yield names, doc_type, " ".join(text)
            names, doc_type, text = "", "", []
            if match is None:
                return
            names, doc_type = match.group(1), match.group(2) or ""
        else:
            text.append(line.strip())
    if names:
        yield names, doc_type, " ".join(text)


def _rest_items(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and text of the reST fields `:param x:` and `:type x:`."""
    descriptions: dict[str, list[str]] = {}
    types: dict[str, str] = {}
    current_name = ""
    for line in lines:
        text = line.strip()
        match, type_match = _REST_PARAMETER.match(text), _REST_TYPE.match(text)
        if match:
            current_name = match.group(2)
            types.setdefault(current_name, match.group(1) or "")
            descriptions[current_name] = [match.group(3)]
        elif type_match:
            types[type_match.group(1)] = type_match.group(2)
            descriptions.setdefault(type_match.group(1), [])
            current_name = ""
        elif current_name and text and not text.startswith(":"):
            descriptions[current_name].append(text)
        else:
            current_name = ""
    for name, words in descriptions.items():
        yield name, types.get(name, ""), " ".join(words)


def _bracketed_items(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and text of Jittor's items `[in] x(type): …`."""
    for line in lines:
        match = _BRACKET.match(line.strip())
        if not match:
            continue
        name, rest = match.group(1), match.group(2).strip()
        doc_type = ""
        if rest.startswith("("):
            end = _closing(rest, 0)
            doc_type, rest = rest[1:end], rest[end + 1 :]
        yield name, doc_type, rest.lstrip(" :")
