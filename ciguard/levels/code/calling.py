"""Usages of layers: how to call a layer if only one tensor is available.

The tensor may be passed several times or in a list, as the library's documentation says. The number
of inputs comes from the catalogue.
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
"""Suffix that selects the first result of a layer; others are states or attention weights."""
_REDUCTION, _NONE = "reduction", "none"
_WITHOUT_REDUCTION = {_REDUCTION: repr(_NONE)}


def usage_of(api: Api) -> str:
    """Return an expression that applies the layer `f` of an API to the tensor `x`.

    The result is empty for a function, which takes data and other arguments in one call.
    """
    if api.record.kind is not CallKind.LAYER:
        return ""
    way = _way_of(api.record.api)
    arguments = ", ".join("x" for _ in data_parameters(api)) or "x"
    return (way and way.use) or f"f({arguments})"


def usage_for_replacement(call: LibraryCall, own: Api, other: Api) -> str | None:
    """Return the usage of a layer that replaces another layer.

    Args:
        call: the call that creates the replaced layer.
        own: the API of the replaced layer.
        other: the API that replaces it.

    Returns:
        The usage; None if the program's own usage does not fit the new layer and cannot be
        changed.
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
    """Return the rank that a layer's input must have, including the batch; None if not known."""
    way = _way_of(api)
    return way.rank or None if way is not None else None


def required_settings(api: Api) -> dict[str, str]:
    """Return the arguments that a layer must be created with to be called like `usage_of`.

    A loss is created without reduction if possible, so that it returns a number per sample.

    Returns:
        Texts of the arguments, by parameter.
    """
    if api.record.kind is not CallKind.LAYER:
        return {}
    way = _way_of(api.record.api)
    constraints = {parameter.name: parameter.constraint for parameter in api.parameters}
    settings = {} if way is None else {k: text for k, text in way.given.items() if k in constraints}
    match constraints.get(_REDUCTION):
        case OneOf(values) if LiteralValue(_NONE) in values:
            return {**settings, **_WITHOUT_REDUCTION}
        case _:
            return settings


@cache
def _way_of(api: str) -> Way | None:
    root, _, rest = api.partition(".")
    name = rest.rpartition(".")[2]
    return next((way for way in ways_of(root) if re.fullmatch(way.layers, name)), None)
