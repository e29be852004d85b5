"""The documentation oracle: statements about an API that cannot be right.

It judges an API's description instead of outcomes, once per run. A check reports a text only if it
has no other reading, so that false positives are rare. docs/knowledge.md states the precision, as
measured by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.api_calls import CallKind
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.records import ParameterKind
from ciguard.knowledge import contradictions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ciguard.domain.records import ApiRecord, ParameterRecord

_MAX_QUOTE_LENGTH = 160
_CONTEXT_LENGTH = 70
"""Number of characters of context on each side of a misplaced character."""
_TRUNCATED_LENGTH = 2000
"""Length to which descriptions are truncated. Brackets may be unmatched in a truncated text."""
_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
_PYTHON_SOURCES = frozenset({"signature", "docstring"})
"""Sources with the parameter names of the Python function. An operator schema may have others."""
_SECTION_HEADINGS = frozenset(
    {"note", "notes", "return", "returns", "raises", "example", "examples", "see", "warning"}
)
"""Headings that some parameter sections contain by mistake."""
_RARELY_DESCRIBED = frozenset({"self", "cls", "name", "out"})
"""Parameters that libraries need not describe."""
_MIN_FOR_CONVENTION = 5
"""Minimum number of a module's APIs that leave out a parameter, if that is to be a convention."""

_Conventions: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of a module and a parameter that the module does not describe, by convention."""
_Problem: TypeAlias = tuple[DocumentationCheck, str, str, str]
"""Check, parameter, message, evidence."""


def documentation_findings(
    records: Collection[ApiRecord], library: str
) -> list[DocumentationFinding]:
    """Return the defects in the documentation of a library's APIs, in the order of the records."""
    conventions = _conventionally_undescribed(records)
    return [
        DocumentationFinding(
            check=check,
            library=library,
            api=record.api,
            parameter=name,
            message=message,
            evidence=evidence[:_MAX_QUOTE_LENGTH],
        )
        for record in records
        for check, name, message, evidence in _problems(record, conventions)
    ]


def _problems(record: ApiRecord, conventions: _Conventions) -> Iterator[_Problem]:
    """Yield the problems of one API."""
    for line in record.unread:
        name = next(iter(re.findall(r"\w+", line)), line)
        yield DocumentationCheck.FORMATTING, name, f"the entry for {name!r} has no colon", line
    yield from _section_problems(record, conventions)
    names = {p.name for p in (*record.parameters, *record.inputs)}
    for parameter in record.parameters:
        if len(parameter.doc) >= _TRUNCATED_LENGTH:
            continue
        yield from _unbalanced(parameter)
        yield from _dangling(record, parameter, names)
        for clause, evidence in contradictions(record, parameter):
            message = f"{parameter.name!r}: {clause}"
            yield DocumentationCheck.CONTRADICTION, parameter.name, message, evidence


# --- differences between the parameter section and the signature ---------------------------------


def _section_problems(record: ApiRecord, conventions: _Conventions) -> Iterator[_Problem]:
    """Yield the mismatches between the parameter section and the signature."""
    undeclared, undescribed = _undeclared_parameters(record), _undescribed(record, conventions)
    if len(undeclared) == len(undescribed) == 1 and _is_misnamed(
        record, undeclared[0], undescribed[0]
    ):
        described, actual = undeclared[0], undescribed[0]
        message = f"describes {described!r}; the parameter is called {actual!r}"
        yield DocumentationCheck.UNDECLARED, described, message, described
        return
    for name in undeclared:
        message = f"describes {name!r}, which is not a parameter"
        yield DocumentationCheck.UNDECLARED, name, message, name
    for name in undescribed:
        message = f"has a parameter section that leaves out {name!r}"
        yield DocumentationCheck.UNDESCRIBED, name, message, ""


def _is_misnamed(record: ApiRecord, described: str, actual: str) -> bool:
    """Return whether the undeclared parameter `described` must be a misspelling of `actual`."""
    is_required = any(p.required for p in record.parameters if p.name == actual)
    return is_required or actual.startswith(described) or described.startswith(actual)


def _undeclared_parameters(record: ApiRecord) -> list[str]:
    """Return the described parameters that the signature lacks."""
    is_variadic = any(p.kind in _VARIADIC for p in record.parameters)
    # A method may share the section of a function, whose first parameter has another name.
    if is_variadic or record.source not in _PYTHON_SOURCES or record.kind is CallKind.METHOD:
        return []
    expected = _SECTION_HEADINGS | _RARELY_DESCRIBED
    return [name for name in record.undeclared_parameters if name.lower() not in expected]


def _undescribed(record: ApiRecord, conventions: _Conventions = frozenset()) -> list[str]:
    """Return the parameters that the section does not describe, without those of a convention."""
    # A method may share the section of a function.
    if record.source not in _PYTHON_SOURCES or record.kind is CallKind.METHOD:
        return []
    if not any(p.doc or p.doc_type for p in record.parameters):
        return []
    unparsed_names = {word for line in record.unread for word in re.findall(r"\w+", line)[:1]}
    undocumented = [
        p for p in record.parameters if not (p.doc or p.doc_type or p.kind in _VARIADIC)
    ]
    ignored = unparsed_names | _RARELY_DESCRIBED
    return [
        p.name
        for p in undocumented
        if p.name not in ignored
        and not p.name.startswith("_")
        and (_module(record), p.name) not in conventions
    ]


def _conventionally_undescribed(records: Iterable[ApiRecord]) -> _Conventions:
    """Return the parameters that a module rarely describes, which is a convention, not a defect."""
    undescribed_counts: Counter[tuple[str, str]] = Counter()
    described_counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        module = _module(record)
        # An undeclared parameter may be the description of the undescribed one.
        if not record.undeclared_parameters:
            undescribed_counts.update((module, name) for name in _undescribed(record))
        described_counts.update((module, p.name) for p in record.parameters if p.doc or p.doc_type)
    return frozenset(
        key
        for key, count in undescribed_counts.items()
        if count >= _MIN_FOR_CONVENTION and count > described_counts[key]
    )


def _module(record: ApiRecord) -> str:
    return record.api.rpartition(".")[0]


# --- formatting ----------------------------------------------------------------------------------

_MARKUP = re.compile(
    r"```.*?```|:math:`[^`]*`|\$\$?[^$]+\$\$?|``.+?``|`[^`]*`|'[^' ]*'|\"[^\" ]*\"", re.DOTALL
)
_BRACKET_PAIR = re.compile(r"[\[({][^\[\](){}]*[\])}]")
"""A pair of brackets, including half-open intervals such as `[0, 1)`."""
_ENUMERATION = re.compile(r"(?:^|(?<=[\s(]))(?:\w{1,2}|[ivx]+)\)|[:;]-?[()]")


def _unbalanced(parameter: ParameterRecord) -> Iterator[_Problem]:
    """Yield the first unmatched backquote or bracket of a description."""
    rest = _MARKUP.sub(_blank, parameter.doc)
    index, symbol = rest.find("`"), "backquote"
    if index < 0:
        index = _index_of_unmatched_bracket(rest)
        if index < 0:
            return
        symbol = f"bracket {parameter.doc[index]!r}"
    message = f"{parameter.name!r}: unmatched {symbol}"
    context = parameter.doc[max(0, index - _CONTEXT_LENGTH) : index + _CONTEXT_LENGTH]
    yield DocumentationCheck.FORMATTING, parameter.name, message, context


def _index_of_unmatched_bracket(text: str) -> int:
    """Return the index of the first unmatched bracket; -1 if all brackets match."""
    rest, previous = text.replace("\\", " "), ""
    while rest != previous:
        previous, rest = rest, _BRACKET_PAIR.sub(_blank, rest)
    match = re.search(r"[\[\](){}]", _ENUMERATION.sub(_blank, rest))
    return match.start() if match else -1


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


# --- references ----------------------------------------------------------------------------------

_ATTRIBUTE = re.compile(r":attr:`~?([A-Za-z_]\w*)`")
_SAME_AS = re.compile(
    r"\b[Ss]ame (?:d?type|shape|size|length|rank|number of \w+)"
    r"(?: and (?:d?type|shape|size|length))? (?:as|of) (?:the )?`{1,2}([A-Za-z_]\w*)`{1,2}"
)


def _dangling(
    record: ApiRecord, parameter: ParameterRecord, names: Collection[str]
) -> Iterator[_Problem]:
    """Yield references to parameters that the API does not have."""
    # A method may share the description of a function, and a layer's may refer to an attribute.
    if record.kind is not CallKind.FUNCTION or record.source == "schema":
        return
    for pattern in (_ATTRIBUTE, _SAME_AS):
        for match in pattern.finditer(parameter.doc):
            if match.group(1) not in names:
                message = (
                    f"{parameter.name!r} refers to {match.group(1)!r}, which is not a parameter"
                )
                yield DocumentationCheck.DANGLING, parameter.name, message, match.group()
