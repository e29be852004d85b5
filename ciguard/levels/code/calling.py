"""How a layer is called where one tensor is at hand: with it, with it again and again, in a list.

What the libraries' documentation says of the arguments of such layers; how many of them there are
is in their records.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.values import LiteralValue
from ciguard.levels.code.dialects import ways_of
from ciguard.levels.code.knowledge import data_of
from ciguard.levels.code.uses import PLAIN
from ciguard.values import OneOf

if TYPE_CHECKING:
    from ciguard.knowledge import Api
    from ciguard.levels.code.blocks import LibraryCall
    from ciguard.libraries import Way

_FIRST = "[0]"
"""Of what a layer gives: the other parts are states, or weights of attention."""
_REDUCTION, _NONE = "reduction", "none"
_WHOLE = {_REDUCTION: repr(_NONE)}


def use_of(api: Api) -> str:
    """Return how a layer of an API is called with one tensor.

    An expression of the layer `f` and the tensor `x`; nothing for a function, which is called with
    its arguments at once.
    """
    if api.record.kind is not CallKind.LAYER:
        return ""
    way = _way_of(api.record.api)
    given = ", ".join("x" for _ in data_of(api)) or "x"
    return (way and way.use) or f"f({given})"


def used(call: LibraryCall, own: Api, other: Api) -> str | None:
    """Return how the layer that takes the place of a call's is called.

    Args:
        call: whose API is replaced.
        own: that API.
        other: the one in its place.

    Returns:
        None where the program calls its layer in a way that does not suit, and cannot be changed.
    """
    before, after = use_of(own), use_of(other)
    if before == after:
        return call.use
    if call.use != PLAIN or before.removesuffix(_FIRST) != PLAIN:
        return None
    if before == PLAIN:
        return after
    # The program takes what is first itself.
    return after.removesuffix(_FIRST) if after.endswith(_FIRST) else None


def rank_of(api: str) -> int | None:
    """Return the rank of the data that a layer is called with; None: any that its name allows."""
    way = _way_of(api)
    return way.rank or None if way is not None else None


def made_with(api: Api) -> dict[str, str]:
    """Return the arguments that a layer is made with so that it can be called as `use_of` says.

    Text by parameter: a loss that can gives as many numbers as it takes.
    """
    if api.record.kind is not CallKind.LAYER:
        return {}
    way = _way_of(api.record.api)
    known = {parameter.name: parameter.constraint for parameter in api.parameters}
    given = {} if way is None else {k: text for k, text in way.given.items() if k in known}
    match known.get(_REDUCTION):
        case OneOf(values) if LiteralValue(_NONE) in values:
            return {**given, **_WHOLE}
        case _:
            return given


@cache
def _way_of(api: str) -> Way | None:
    root, _, rest = api.partition(".")
    name = rest.rpartition(".")[2]
    return next((way for way in ways_of(root) if re.fullmatch(way.layers, name)), None)
