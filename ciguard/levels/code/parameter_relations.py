"""Relations between parameters of one call, e.g. `groups` divides `in_channels`.

`ciguard.knowledge` avoids conflicts by safe values (`groups` is 1). The arguments in programs vary
more, and a changed argument must agree with the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.values import ListValue, LiteralValue, TupleValue
from ciguard.levels.code.binding import default_of
from ciguard.levels.code.literals import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.domain.values import Value

Scalar: TypeAlias = object


@dataclass(frozen=True, slots=True)
class ParameterRelation:
    """A relation between parameters; lists are compared item by item."""

    parameters: tuple[str, ...]
    """Names of the parameters, all of which an API must have."""
    predicate: Callable[..., bool]
    """Predicate over the arguments, in the order of `parameters`; True if the relation holds."""
    api_pattern: re.Pattern[str] = re.compile("")
    """Pattern that the API's name must contain."""
    takes_all_kinds: bool = False
    """True if the predicate takes values of all kinds, False if it takes numbers only."""


def _divides(whole: int, part: int) -> bool:
    return part > 0 and whole % part == 0


def _at_least_one_is_one(stride: int, dilation: int) -> bool:
    return 1 in (stride, dilation)


def _exactly_one_given(size: object, factor: object) -> bool:
    return (size is None) != (factor is None)


def _aligns_with_mode(corners: object, mode: object) -> bool:
    return corners is None or mode not in {"nearest", "nearest-exact", "area"}


def _only_zeros(mode: object) -> bool:
    return mode == "zeros"


_KERAS_STRIDED = re.compile(r"keras\.layers\.\w*Conv")
RELATIONS = (
    ParameterRelation(("in_channels", "groups"), _divides),
    ParameterRelation(("out_channels", "groups"), _divides),
    ParameterRelation(("filters", "groups"), _divides),
    ParameterRelation(("num_channels", "num_groups"), _divides),
    ParameterRelation(("embed_dim", "num_heads"), _divides),
    ParameterRelation(("d_model", "nhead"), _divides),
    ParameterRelation(("hidden_size", "proj_size"), lambda hidden, proj: proj < hidden),
    ParameterRelation(
        ("kernel_size", "padding"), lambda kernel, pad: 2 * pad <= kernel, re.compile("Pool|pool")
    ),
    ParameterRelation(
        ("output_padding", "stride", "dilation"),
        lambda pad, stride, dilation: pad < max(stride, dilation),
    ),
    ParameterRelation(("output_padding", "strides"), lambda pad, stride: pad < stride),
    ParameterRelation(("strides", "dilation_rate"), _at_least_one_is_one, _KERAS_STRIDED),
    ParameterRelation(("min_val", "max_val"), lambda low, high: low < high),
    ParameterRelation(("lower", "upper"), lambda low, high: low <= high),
    ParameterRelation(("eps",), lambda eps: eps > 0),
    ParameterRelation(("quant_min", "quant_max"), lambda low, high: low < high),
    ParameterRelation(
        ("output_size", "output_ratio"),
        _exactly_one_given,
        re.compile("[Ff]ractional"),
        takes_all_kinds=True,
    ),
    ParameterRelation(("start_dim", "end_dim"), lambda first, last: last < 0 or first <= last),
    ParameterRelation(
        ("size", "scale_factor"),
        _exactly_one_given,
        re.compile("[Uu]psampl|interpolate"),
        takes_all_kinds=True,
    ),
    ParameterRelation(
        ("align_corners", "mode"),
        _aligns_with_mode,
        re.compile(r"torch\..*(?:Upsample|interpolate)"),
        takes_all_kinds=True,
    ),
    ParameterRelation(
        ("padding_mode",), _only_zeros, re.compile(r"torch\..*ConvTranspose"), takes_all_kinds=True
    ),
)
"""Relations that libraries state in their documentation or in exceptions."""


def is_coherent(record: ApiRecord, arguments: Mapping[str, str]) -> bool:
    """Return whether the literal arguments of a call satisfy all relations.

    Args:
        record: the record of the API.
        arguments: texts of the arguments, by parameter; other parameters have their defaults.
    """
    names = {parameter.name: parameter for parameter in record.parameters}
    for relation in RELATIONS:
        if not names.keys() >= set(relation.parameters) or not relation.api_pattern.search(
            record.api
        ):
            continue
        texts = [arguments.get(n, default_of(names[n])) for n in relation.parameters]
        values = [None if text is None else value_of(text) for text in texts]
        if not _holds(relation, [value for value in values if value is not None]):
            return False
    return True


def _holds(relation: ParameterRelation, values: list[Value]) -> bool:
    if len(values) != len(relation.parameters):
        return True  # a value is unknown, so that the relation cannot be checked
    return all(
        relation.predicate(*items)
        for items in _item_by_item(values)
        if relation.takes_all_kinds or all(type(item) in {int, float} for item in items)
    )


def _item_by_item(values: list[Value]) -> list[tuple[Scalar, ...]]:
    """Return the values at each index of the longest list; shorter lists and scalars repeat."""
    lists = [_items(value) for value in values]
    max_length = max(len(items) for items in lists)
    if any(not items for items in lists):
        return []
    return [
        items
        for items, _ in zip(zip(*map(cycle, lists), strict=False), range(max_length), strict=False)
    ]


def _items(value: Value) -> list[Scalar]:
    match value:
        case LiteralValue(scalar):
            return [scalar]
        case TupleValue(items) | ListValue(items):
            return [scalar for item in items for scalar in _items(item)]
        case _:
            return []
