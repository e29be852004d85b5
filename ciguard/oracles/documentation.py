"""The documentation oracle: what a library says of its API that cannot be right.

It judges descriptions, not outcomes, once per run. Precision comes first: a check speaks only where
the text leaves no other reading. docs/knowledge.md has the precision measured by hand.
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

_QUOTE_LIMIT = 160
_AROUND = 70
"""Characters of context on each side of a misplaced character."""
_CUT = 2000
"""Descriptions of this length were cut: what they lack at the end proves nothing."""
_VARIADIC = frozenset({ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD})
_OWN_NAMES = frozenset({"signature", "docstring"})
"""Sources of names that users see; a schema's names are not those of the Python function."""
_NO_NAMES = frozenset(
    {"note", "notes", "return", "returns", "raises", "example", "examples", "see", "warning"}
)
"""Headings that stand inside a parameter section by mistake."""
_SELDOM_DESCRIBED = frozenset({"self", "cls", "name", "out"})
_CONVENTION = 5
"""APIs of a module that leave a name undescribed before that can count as its custom."""

_Custom: TypeAlias = frozenset[tuple[str, str]]
"""Modules, and the parameters that they describe nearly nowhere."""
_Problem: TypeAlias = tuple[DocumentationCheck, str, str, str]
"""Check, parameter, message, evidence."""


def documentation_findings(
    records: Collection[ApiRecord], library: str
) -> list[DocumentationFinding]:
    """Return what is wrong with the documentation of these APIs, in their order."""
    customary = _customarily_undescribed(records)
    return [
        DocumentationFinding(
            check=check,
            library=library,
            api=record.api,
            parameter=name,
            message=message,
            evidence=evidence[:_QUOTE_LIMIT],
        )
        for record in records
        for check, name, message, evidence in _problems(record, customary)
    ]


def _problems(record: ApiRecord, customary: _Custom) -> Iterator[_Problem]:
    for line in record.unread:
        name = next(iter(re.findall(r"\w+", line)), line)
        yield DocumentationCheck.FORMATTING, name, f"the item of {name!r} lacks its colon", line
    yield from _of_the_section(record, customary)
    names = {p.name for p in (*record.parameters, *record.inputs)}
    for parameter in record.parameters:
        if len(parameter.doc) >= _CUT:
            continue
        yield from _unbalanced(parameter)
        yield from _dangling(record, parameter, names)
        for clause, evidence in contradictions(record, parameter):
            message = f"{parameter.name!r}: {clause}"
            yield DocumentationCheck.CONTRADICTION, parameter.name, message, evidence


# --- the parameter section against the signature -------------------------------------------------


def _of_the_section(record: ApiRecord, customary: _Custom) -> Iterator[_Problem]:
    strangers, undescribed = _strangers(record), _undescribed(record, customary)
    if len(strangers) == len(undescribed) == 1 and _is_meant(record, strangers[0], undescribed[0]):
        described, real = strangers[0], undescribed[0]
        message = f"describes {described!r}; the parameter is called {real!r}"
        yield DocumentationCheck.STRANGER, described, message, described
        return
    for name in strangers:
        message = f"describes {name!r}, which is no parameter"
        yield DocumentationCheck.STRANGER, name, message, name
    for name in undescribed:
        message = f"has a parameter section that leaves out {name!r}"
        yield DocumentationCheck.UNDESCRIBED, name, message, ""


def _is_meant(record: ApiRecord, described: str, real: str) -> bool:
    """Whether the description of a stranger is surely that of this parameter."""
    is_required = any(p.required for p in record.parameters if p.name == real)
    return is_required or real.startswith(described) or described.startswith(real)


def _strangers(record: ApiRecord) -> list[str]:
    takes_more = any(p.kind in _VARIADIC for p in record.parameters)
    # A method's section may be that of a function, which gives the receiver a name of its own.
    if takes_more or record.source not in _OWN_NAMES or record.kind is CallKind.METHOD:
        return []
    expected = _NO_NAMES | _SELDOM_DESCRIBED
    return [name for name in record.strangers if name.lower() not in expected]


def _undescribed(record: ApiRecord, customary: _Custom = frozenset()) -> list[str]:
    # A method's section may be that of the function it refers to.
    if record.source not in _OWN_NAMES or record.kind is CallKind.METHOD:
        return []
    if not any(p.doc or p.doc_type for p in record.parameters):
        return []
    unread = {word for line in record.unread for word in re.findall(r"\w+", line)[:1]}
    silent = [p for p in record.parameters if not (p.doc or p.doc_type or p.kind in _VARIADIC)]
    ignored = unread | _SELDOM_DESCRIBED
    return [
        p.name
        for p in silent
        if p.name not in ignored
        and not p.name.startswith("_")
        and (_module(record), p.name) not in customary
    ]


def _customarily_undescribed(records: Iterable[ApiRecord]) -> _Custom:
    """Return the names that a module describes nearly nowhere: its custom, not an oversight."""
    left_out: Counter[tuple[str, str]] = Counter()
    described: Counter[tuple[str, str]] = Counter()
    for record in records:
        module = _module(record)
        if not record.strangers:  # else one of them may be the description, under another name
            left_out.update((module, name) for name in _undescribed(record))
        described.update((module, p.name) for p in record.parameters if p.doc or p.doc_type)
    return frozenset(
        key for key, count in left_out.items() if count >= _CONVENTION and count > described[key]
    )


def _module(record: ApiRecord) -> str:
    return record.api.rpartition(".")[0]


# --- formatting ----------------------------------------------------------------------------------

_SPANS = re.compile(
    r"```.*?```|:math:`[^`]*`|\$\$?[^$]+\$\$?|``.+?``|`[^`]*`|'[^' ]*'|\"[^\" ]*\"", re.DOTALL
)
_PAIR = re.compile(r"[\[({][^\[\](){}]*[\])}]")
"""Half-open intervals such as `[0, 1)` are a pair too."""
_ENUMERATION = re.compile(r"(?:^|(?<=[\s(]))(?:\w{1,2}|[ivx]+)\)|[:;]-?[()]")


def _unbalanced(parameter: ParameterRecord) -> Iterator[_Problem]:
    rest = _SPANS.sub(_blank, parameter.doc)
    place, what = rest.find("`"), "backquote"
    if place < 0:
        place = _lonely_bracket(rest)
        if place < 0:
            return
        what = f"bracket {parameter.doc[place]!r}"
    message = f"{parameter.name!r}: a {what} lacks its other half"
    around = parameter.doc[max(0, place - _AROUND) : place + _AROUND]
    yield DocumentationCheck.FORMATTING, parameter.name, message, around


def _lonely_bracket(text: str) -> int:
    rest, previous = text.replace("\\", " "), ""
    while rest != previous:
        previous, rest = rest, _PAIR.sub(_blank, rest)
    found = re.search(r"[\[\](){}]", _ENUMERATION.sub(_blank, rest))
    return found.start() if found else -1


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
    # A method's description may be that of the function, a layer's may name an attribute.
    if record.kind is not CallKind.FUNCTION or record.source == "schema":
        return
    for pattern in (_ATTRIBUTE, _SAME_AS):
        for match in pattern.finditer(parameter.doc):
            if match.group(1) not in names:
                message = f"{parameter.name!r} refers to {match.group(1)!r}, which is no parameter"
                yield DocumentationCheck.DANGLING, parameter.name, message, match.group()
