"""Analytic derivatives agree with numeric ones: reverse mode, forward mode, second order."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    CallValue,
    DtypeValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.oracles.comparing.comparison import Difference
from ciguard.oracles.relations.contract import Compares, ObservedPair, Relation, is_finite, relate
from ciguard.oracles.relations.expressions import as_function, has_keyword, leading, tensors_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.relations.contract import Twin

_REAL = frozenset({"float32", "float64"})
_MAX_ELEMENTS = 48
"""Numeric derivatives cost two calls per element, and lose digits with many."""
_YES = LiteralValue(value=True)
_NO = LiteralValue(value=False)
_SOURCE = "torch.autograd.gradcheck; Griewank and Walther, Evaluating Derivatives (2008)"
_EVERY = 2
_WEIGHT = 12
"""Of the plain gradient. Few calls are small, real and, where it is known afterwards, defined."""
_MAX_MESSAGE = 240
_FAILURE = "GradcheckError"
_DERIVATIVES = re.compile(r"numerical:\s*(.+?)\s*analytical:\s*(.+?)\s*(?:\n\n|\Z)", re.DOTALL)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return record.api.startswith("torch.") and not record.api.endswith("_")


def _tracked(tensor: TensorValue) -> Value:
    wide = CallValue("torch.Tensor.double", (tensor,))
    return CallValue("torch.Tensor.requires_grad_", (wide,))


def _checked(check: str, **settings: bool) -> Twin:
    keywords = tuple((key, _YES if on else _NO) for key, on in settings.items())

    def twin(case: ApiCall) -> Value | None:
        function, row = as_function(case)
        given = leading(row)
        found = tensors_of(case)
        # Elsewhere than at random places functions have kinks: what is exact there is a choice.
        # A type that is asked for rounds what is computed: steps are lost, or become jumps.
        values = [*case.arguments, *(value for _, value in case.keywords)]
        if any(isinstance(value, DtypeValue) for value in values):
            return None
        if has_keyword(case, "requires_grad"):
            return None  # the result begins a graph of its own
        is_smooth = all(isinstance(t.fill, Uniform) and t.dtype in _REAL for t in found)
        elements = sum(prod(tensor.shape) for tensor in found)
        if not given or len(given) != len(found) or not is_smooth:
            return None
        if not 0 < elements <= _MAX_ELEMENTS:
            return None
        arguments = (*map(_tracked, given), *row[len(given) :])
        return CallValue(check, (function, TupleValue(arguments)), keywords)

    return twin


def _broken(observed: ObservedPair) -> Difference | None:
    """Take the failure of the check for what it is, where the function itself is defined.

    A function that no derivative was written for has none: that is no wrong derivative.
    """
    is_missing = "expected to be zero" in observed.message
    if observed.raised != _FAILURE or is_missing or not is_finite(observed.first):
        return None
    return Difference("raised", _told(observed.message)[:_MAX_MESSAGE])


def _told(message: str) -> str:
    """Return what the check says, with the two derivatives that do not agree, on one line."""
    headline = message.strip().partition("\n")[0]
    found = _DERIVATIVES.search(message)
    if found is None:
        return headline
    numeric, analytic = (" ".join(side.split()) for side in found.groups())
    return f"{headline.rstrip(',')}: {numeric} by differences, {analytic} by the library"


def _gradient(name: str, law: str, twin: Twin, *, every: int = 1, weight: int = 1) -> Relation:
    return relate(
        Relation(
            name=name,
            law=law,
            source=_SOURCE,
            applies=_applies,
            twin=twin,
            broken=_broken,
            compares=Compares.NOTHING,
            raises=_FAILURE,
            needs_smoothness=True,
            every=every,
            weight=weight,
        )
    )


REVERSE_MODE = _gradient(
    "numeric gradient",
    "The gradient is the limit of difference quotients.",
    _checked("torch.autograd.gradcheck", fast_mode=True),
    weight=_WEIGHT,
)
FORWARD_MODE = _gradient(
    "forward-mode gradient",
    "The derivative in forward mode is the limit of difference quotients.",
    _checked(
        "torch.autograd.gradcheck",
        fast_mode=True,
        check_forward_ad=True,
        check_backward_ad=False,
        check_undefined_grad=False,
        check_batched_grad=False,
    ),
    every=_EVERY,
)
SECOND_ORDER = _gradient(
    "second-order gradient",
    "The gradient of the gradient is the limit of its difference quotients.",
    _checked("torch.autograd.gradgradcheck", fast_mode=True),
    every=_EVERY,
)
