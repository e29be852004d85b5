"""The arguments of a call in a program, by the parameters of what it calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.levels.code.blocks import LibraryCall

_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_BY_NAME = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Bound:
    """The arguments of a call as text."""

    named: Mapping[str, str]
    """By parameter."""
    further: Mapping[str, str]
    """By keyword: what `**kwargs` takes."""


def bind(call: LibraryCall, record: ApiRecord) -> Bound | None:
    """Return a call's arguments by parameter.

    Returns:
        None where the text does not tell which parameter takes what: arguments are unpacked, or
        are given by position to an API whose signature is `*args`.
    """
    places = [p.name for p in record.parameters if p.kind in _BY_POSITION]
    is_unpacked = any(text.startswith("*") for text in call.positional)
    if is_unpacked or len(call.positional) > len(places) or any(not k for k, _ in call.keywords):
        return None
    named = dict(zip(places, call.positional, strict=False))
    known = {p.name for p in record.parameters if p.kind in _BY_NAME}
    further: dict[str, str] = {}
    for name, text in call.keywords:
        (named if name in known else further)[name] = text
    return Bound(named, further)


def with_argument(call: LibraryCall, record: ApiRecord, name: str, text: str) -> LibraryCall:
    """Return a call with another argument for one parameter, by keyword where it can be.

    What is given by position after it goes by keyword then too.
    """
    keywords = dict(call.keywords)
    names = [p.name for p in record.parameters if p.kind in _BY_POSITION]
    given = list(zip(names, call.positional, strict=False))
    at = next((place for place, (one, _) in enumerate(given) if one == name), None)
    if at is None:
        return replace(call, keywords=tuple({**keywords, name: text}.items()))
    tail = dict(given[at:]) | {name: text}
    if _all_by_name(record, tail):
        return replace(
            call, positional=call.positional[:at], keywords=tuple({**tail, **keywords}.items())
        )
    positional = (*call.positional[:at], text, *call.positional[at + 1 :])
    return replace(call, positional=positional)


def _all_by_name(record: ApiRecord, names: Mapping[str, str]) -> bool:
    known = {p.name for p in record.parameters if p.kind in _BY_NAME}
    return known.issuperset(names)


def arranged(
    call: LibraryCall, api: str, record: ApiRecord, arguments: Mapping[str, str]
) -> LibraryCall:
    """Return the call of another API with arguments by parameter, or by a keyword that it takes.

    By position go those that can go no other way, and the data of a function, which come first.
    """
    declared = {p.name: p for p in record.parameters}
    order = [name for name in declared if name in arguments]
    leading = 0
    if not call.makes_layer and order and order[0] == next(iter(declared)):
        leading = 1
    only = [at for at, n in enumerate(order) if declared[n].kind is ParameterKind.POSITIONAL_ONLY]
    leading = max([leading, *(at + 1 for at in only)])
    further = [name for name in arguments if name not in declared]
    return replace(
        call,
        api=api,
        positional=tuple(arguments[name] for name in order[:leading]),
        keywords=tuple((name, arguments[name]) for name in (*order[leading:], *further)),
    )


def default_of(parameter: ParameterRecord) -> str | None:
    """Return the text of a parameter's default; None if it has none."""
    return parameter.default if isinstance(parameter.default, str) else None
