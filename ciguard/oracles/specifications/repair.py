"""Repair of calls: arguments that violate a specification are replaced by ones that satisfy it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from typing import TYPE_CHECKING

from ciguard.domain.values import (
    ArrayValue,
    Constant,
    DtypeValue,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
)
from ciguard.oracles.specifications.requirements import UNLIMITED, violation_in_words
from ciguard.oracles.specifications.violations import argument_of, violated_specifications
from ciguard.values import Dtype, Float, OneOf, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.values import Value
    from ciguard.oracles.specifications.reading import Specification
    from ciguard.oracles.specifications.requirements import Requirement

_CANDIDATE_NUMBERS = (1, 0, 2, 1.0, 0.5, -1, -1.0, 3, 10)
_MAX_VALUES_PER_ARGUMENT = 6
_MAX_CALLS = 24


def repaired_calls(case: ApiCall, specifications: Sequence[Specification]) -> list[ApiCall]:
    """Return calls that differ from `case` only in its violations and violate no specification."""
    parameters = list(
        dict.fromkeys(
            specification.parameter
            for specification, _ in violated_specifications(case, specifications)
        )
    )
    choices = [
        list(islice(_replacements(case, parameter, specifications), _MAX_VALUES_PER_ARGUMENT))
        for parameter in parameters
    ]
    calls: list[ApiCall] = []
    for values in islice(product(*choices), _MAX_CALLS):
        call = case
        for parameter, value in zip(parameters, values, strict=True):
            call = _with_argument(call, parameter, value, specifications)
        if call != case and not violated_specifications(call, specifications):
            calls.append(call)
    return calls


def _replacements(
    case: ApiCall, parameter: str, specifications: Sequence[Specification]
) -> Iterator[Value]:
    """Yield values for a parameter that satisfy all its specifications."""
    own_specifications = [
        specification for specification in specifications if specification.parameter == parameter
    ]
    original = argument_of(case, own_specifications[0])
    for specification in own_specifications if original is not None else ():
        for value in _values_for(original, specification.requirement):
            if not any(
                violation_in_words(value, other.requirement) for other in own_specifications
            ):
                yield value


def _values_for(value: Value | None, requirement: Requirement) -> Iterator[Value]:
    """Yield values of the same kind as `value` that are likely to satisfy a requirement."""
    match requirement, value:
        case Float(), _:
            for number in _CANDIDATE_NUMBERS:
                yield from _with_number(value, number)
        case OneOf(values), LiteralValue():
            yield from values
        case Tensor(ndim=(min_rank, max_rank)), TensorValue() | ArrayValue():
            last_rank = min_rank + 2 if max_rank == UNLIMITED else max_rank
            for rank in range(min_rank, last_rank + 1):
                yield replace(value, shape=(2,) * rank, fill=Constant(1))
        case Dtype(names), TensorValue():
            yield from (replace(value, dtype=name, fill=Constant(1)) for name in names)
        case Dtype(names), DtypeValue():
            yield from map(DtypeValue, names)
        case _:
            return


def _with_number(value: Value | None, number: float) -> Iterator[Value]:
    """Yield a value of the same kind as `value` whose elements are all `number`."""
    match value:
        case LiteralValue():
            yield LiteralValue(number)
        case ListValue() | TupleValue():
            yield replace(value, items=(LiteralValue(number),) * len(value.items))
        case TensorValue() | ArrayValue():
            yield replace(value, fill=Constant(number))
        case _:
            return


def _with_argument(
    call: ApiCall, parameter: str, value: Value, specifications: Sequence[Specification]
) -> ApiCall:
    """Return the call with another value for a parameter."""
    if parameter in dict(call.keywords):
        keywords = tuple((n, value if n == parameter else v) for n, v in call.keywords)
        return replace(call, keywords=keywords)
    position = next(
        specification.position
        for specification in specifications
        if specification.parameter == parameter
    )
    arguments = tuple(value if i == position else v for i, v in enumerate(call.arguments))
    return replace(call, arguments=arguments)
