"""Usages of a layer where one tensor is available: with it once or repeatedly, or in a list.

The usages are those of the libraries' documentation; the number of inputs is in the records.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.values import LiteralValue
from ciguard.levels.code.dialects import ways_of
from ciguard.levels.code.knowledge import data_parameters
from ciguard.levels.code.uses import PLAIN
from ciguard.values import OneOf

if TYPE_CHECKING:
    from ciguard.knowledge import Api
    from ciguard.levels.code.blocks import LibraryCall
    from ciguard.libraries import Way

_FIRST = "[0]"
"""Selects the first result of a layer; the others are states or attention weights."""
_REDUCTION, _NONE = "reduction", "none"
_WITHOUT_REDUCTION = {_REDUCTION: repr(_NONE)}


def usage_of(api: Api) -> str:
    """Return an expression that applies the layer `f` of an API to the tensor `x`.

    Empty for a function, which takes its data and its other arguments in one call.
    """
    if api.record.kind is not CallKind.LAYER:
        return ""
    way = _way_of(api.record.api)
    arguments = ", ".join("x" for _ in data_parameters(api)) or "x"
    return (way and way.use) or f"f({arguments})"


def used(call: LibraryCall, own: Api, other: Api) -> str | None:
    """Return the usage of the layer that replaces a call's layer.

    Args:
        call: the call whose API is replaced.
        own: the API of the call.
        other: the API that replaces it.

    Returns:
        None if the program's own usage does not fit the new layer and cannot be changed.
    """
    before, after = usage_of(own), usage_of(other)
    if before == after:
        return call.use
    if call.use != PLAIN or before.removesuffix(_FIRST) != PLAIN:
        return None
    if before == PLAIN:
        return after
    # The program itself selects the first result.
    return after.removesuffix(_FIRST) if after.endswith(_FIRST) else None


def rank_of(api: str) -> int | None:
    """Return the rank of a layer's input; None for any rank that its name allows."""
    way = _way_of(api)
    return way.rank or None if way is not None else None


def required_settings(api: Api) -> dict[str, str]:
    """Return the arguments that a layer needs so that it can be called as `usage_of` returns.

    Text by parameter. A loss that can returns as many numbers as its input has.
    """
    if api.record.kind is not CallKind.LAYER:
        return {}
    way = _way_of(api.record.api)
    known = {parameter.name: parameter.constraint for parameter in api.parameters}
    settings = {} if way is None else {k: text for k, text in way.given.items() if k in known}
    match known.get(_REDUCTION):
        case OneOf(values) if LiteralValue(_NONE) in values:
            return {**settings, **_WITHOUT_REDUCTION}
        case _:
            return settings


@cache
def _way_of(api: str) -> Way | None:
    root, _, rest = api.partition(".")
    name = rest.rpartition(".")[2]
    return next((way for way in ways_of(root) if re.fullmatch(way.layers, name)), None)
