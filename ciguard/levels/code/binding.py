"""Binding of a call's arguments, which are texts, to the parameters of the called API."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.levels.code.blocks import LibraryCall

_POSITIONAL_KINDS = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_KEYWORD_KINDS = (ParameterKind.POSITIONAL_OR_KEYWORD, ParameterKind.KEYWORD_ONLY)
VARIADIC = (ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD)
"""Kinds of the parameters `*args` and `**kwargs`."""


@dataclass(frozen=True, slots=True)
class BoundArguments:
    """The arguments of a call, bound to parameters."""

    named: Mapping[str, str]
    """Texts of arguments, by parameter."""
    further: Mapping[str, str]
    """Texts of keyword arguments that `**kwargs` takes, by keyword."""


def bind(call: LibraryCall, record: ApiRecord) -> BoundArguments | None:
    """Return a call's arguments, bound to the parameters of the API.

    Returns:
        The arguments; None if the text does not determine their parameters. That is so if arguments
        are unpacked, or are positional for an API whose signature is `*args`.
    """
    names = [p.name for p in record.parameters if p.kind in _POSITIONAL_KINDS]
    is_unpacked = any(text.startswith("*") for text in call.positional)
    if is_unpacked or len(call.positional) > len(names) or any(not k for k, _ in call.keywords):
        return None
    named = dict(zip(names, call.positional, strict=False))
    keyword_names = {p.name for p in record.parameters if p.kind in _KEYWORD_KINDS}
    further: dict[str, str] = {}
    for name, text in call.keywords:
        (named if name in keyword_names else further)[name] = text
    return BoundArguments(named, further)


def with_argument(call: LibraryCall, record: ApiRecord, name: str, text: str) -> LibraryCall:
    """Return a call with another argument for one parameter, as a keyword argument if possible.

    Positional arguments after it then become keyword arguments too.
    """
    keywords = dict(call.keywords)
    names = [p.name for p in record.parameters if p.kind in _POSITIONAL_KINDS]
    bound_arguments = list(zip(names, call.positional, strict=False))
    index = next((i for i, (parameter, _) in enumerate(bound_arguments) if parameter == name), None)
    if index is None:
        return replace(call, keywords=tuple({**keywords, name: text}.items()))
    tail = dict(bound_arguments[index:]) | {name: text}
    if _accept_keywords(record, tail):
        return replace(
            call, positional=call.positional[:index], keywords=tuple({**tail, **keywords}.items())
        )
    positional = (*call.positional[:index], text, *call.positional[index + 1 :])
    return replace(call, positional=positional)


def _accept_keywords(record: ApiRecord, names: Mapping[str, str]) -> bool:
    keyword_names = {p.name for p in record.parameters if p.kind in _KEYWORD_KINDS}
    return keyword_names.issuperset(names)


def call_with_arguments(
    call: LibraryCall, api: str, record: ApiRecord, arguments: Mapping[str, str]
) -> LibraryCall:
    """Return a call of another API with given arguments.

    Arguments are positional if they cannot be keyword arguments, and if they are the data of a
    function, which comes first.

    Args:
        call: the call that is replaced.
        api: the qualified name of the other API.
        record: the record of the other API.
        arguments: texts of the arguments, by parameter or by a keyword that `**kwargs` takes.
    """
    declared = {p.name: p for p in record.parameters}
    order = [name for name in declared if name in arguments]
    leading = 0
    if not call.makes_layer and order and order[0] == next(iter(declared)):
        leading = 1
    positional_only = [
        i for i, n in enumerate(order) if declared[n].kind is ParameterKind.POSITIONAL_ONLY
    ]
    leading = max([leading, *(i + 1 for i in positional_only)])
    further = [name for name in arguments if name not in declared]
    return replace(
        call,
        api=api,
        positional=tuple(arguments[name] for name in order[:leading]),
        keywords=tuple((name, arguments[name]) for name in (*order[leading:], *further)),
    )


def default_of(parameter: ParameterRecord) -> str | None:
    """Return the text of a parameter's default; None if the parameter has none."""
    return parameter.default if isinstance(parameter.default, str) else None
