"""Relations of derivatives: the library's derivative agrees with difference quotients.

There is a relation for reverse mode, for forward mode and for second derivatives.
"""

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
from ciguard.oracles.relations.expressions import (
    as_function,
    has_keyword,
    leading_tensors,
    tensors_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord
    from ciguard.oracles.relations.contract import Twin

_REAL_DTYPES = frozenset({"float32", "float64"})
_MAX_ELEMENTS = 48
"""Maximum number of input elements. Difference quotients take two calls per element, and are less
exact for many elements."""
_TRUE = LiteralValue(value=True)
_FALSE = LiteralValue(value=False)
_SOURCE = "torch.autograd.gradcheck; Griewank and Walther, Evaluating Derivatives (2008)"
_CHECK_PERIOD = 2
_REVERSE_MODE_WEIGHT = 12
"""Weight of the relation for reverse mode, which applies to few calls: they must be small, real and
differentiable."""
_MAX_MESSAGE_LENGTH = 240
_CHECK_FAILURE = "GradcheckError"
_COMPARED_DERIVATIVES = re.compile(
    r"numerical:\s*(.+?)\s*analytical:\s*(.+?)\s*(?:\n\n|\Z)", re.DOTALL
)


def _applies(record: ApiRecord, names: Collection[str]) -> bool:
    del names
    return record.api.startswith("torch.") and not record.api.endswith("_")


def _with_gradient(tensor: TensorValue) -> Value:
    """Return an expression for a tensor in double precision that records gradients."""
    wide = CallValue("torch.Tensor.double", (tensor,))
    return CallValue("torch.Tensor.requires_grad_", (wide,))


def _check_twin(check: str, **settings: bool) -> Twin:
    """Return a twin that runs a gradient check on the call's function.

    Args:
        check: qualified name of torch's function for the check.
        settings: keyword arguments of the check.
    """
    keywords = tuple((key, _TRUE if on else _FALSE) for key, on in settings.items())

    def twin(case: ApiCall) -> Value | None:
        function, arguments = as_function(case)
        tensor_arguments = leading_tensors(arguments)
        tensors = tensors_of(case)
        # If the call requests a dtype, rounding hides small steps or turns them into jumps.
        values = [*case.arguments, *(value for _, value in case.keywords)]
        if any(isinstance(value, DtypeValue) for value in values):
            return None
        if has_keyword(case, "requires_grad"):
            return None  # the result does not depend on the arguments in the gradient's graph
        # Random points are hardly ever kinks, at which the derivative is a matter of convention.
        is_smooth = all(isinstance(t.fill, Uniform) and t.dtype in _REAL_DTYPES for t in tensors)
        elements = sum(prod(tensor.shape) for tensor in tensors)
        if not tensor_arguments or len(tensor_arguments) != len(tensors) or not is_smooth:
            return None
        if not 0 < elements <= _MAX_ELEMENTS:
            return None
        checked_arguments = (
            *map(_with_gradient, tensor_arguments),
            *arguments[len(tensor_arguments) :],
        )
        return CallValue(check, (function, TupleValue(checked_arguments)), keywords)

    return twin


def _find_violation(observed: ObservedPair) -> Difference | None:
    """Return the failure of the check; None if it passed or the result is NaN or infinite.

    A missing derivative counts as passed, because it is not a wrong one.
    """
    is_missing = "expected to be zero" in observed.message
    if observed.raised != _CHECK_FAILURE or is_missing or not is_finite(observed.first):
        return None
    return Difference("raised", _check_message(observed.message)[:_MAX_MESSAGE_LENGTH])


def _check_message(message: str) -> str:
    """Return the check's message on one line, with the two derivatives that disagree."""
    headline = message.strip().partition("\n")[0]
    match = _COMPARED_DERIVATIVES.search(message)
    if match is None:
        return headline
    numeric, analytic = (" ".join(side.split()) for side in match.groups())
    return f"{headline.rstrip(',')}: {numeric} by differences, {analytic} by the library"


def _register_gradient_relation(
    name: str, law: str, twin: Twin, *, every: int = 1, weight: int = 1
) -> Relation:
    """Register a relation whose twin is a gradient check, and return it."""
    return relate(
        Relation(
            name=name,
            law=law,
            source=_SOURCE,
            applies=_applies,
            twin=twin,
            find_violation=_find_violation,
            compares=Compares.NOTHING,
            raises=_CHECK_FAILURE,
            needs_smoothness=True,
            every=every,
            weight=weight,
        )
    )


REVERSE_MODE = _register_gradient_relation(
    "numeric gradient",
    "The gradient is the limit of difference quotients.",
    _check_twin("torch.autograd.gradcheck", fast_mode=True),
    weight=_REVERSE_MODE_WEIGHT,
)
FORWARD_MODE = _register_gradient_relation(
    "forward-mode gradient",
    "The derivative in forward mode is the limit of difference quotients.",
    _check_twin(
        "torch.autograd.gradcheck",
        fast_mode=True,
        check_forward_ad=True,
        check_backward_ad=False,
        check_undefined_grad=False,
        check_batched_grad=False,
    ),
    every=_CHECK_PERIOD,
)
SECOND_ORDER = _register_gradient_relation(
    "second-order gradient",
    "The gradient of the gradient is the limit of its difference quotients.",
    _check_twin("torch.autograd.gradgradcheck", fast_mode=True),
    every=_CHECK_PERIOD,
)
