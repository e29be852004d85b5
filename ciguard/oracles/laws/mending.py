"""Arguments that keep a law, in the place of one that breaks it."""

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
from ciguard.oracles.laws.breaking import argument_of, broken_laws
from ciguard.oracles.laws.demands import UNLIMITED, breach
from ciguard.values import Dtype, Float, OneOf, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.values import Value
    from ciguard.oracles.laws.demands import Demand
    from ciguard.oracles.laws.reading import Law

_NUMBERS = (1, 0, 2, 1.0, 0.5, -1, -1.0, 3, 10)
_PER_ARGUMENT = 6
_MAX_MENDED = 24


def mended(case: ApiCall, laws: Sequence[Law]) -> list[ApiCall]:
    """Return calls that break none of the laws that a call breaks, and differ in nothing else."""
    broken = list(dict.fromkeys(law.parameter for law, _ in broken_laws(case, laws)))
    choices = [list(islice(_instead(case, parameter, laws), _PER_ARGUMENT)) for parameter in broken]
    calls: list[ApiCall] = []
    for chosen in islice(product(*choices), _MAX_MENDED):
        call = case
        for law, value in zip(broken, chosen, strict=True):
            call = _with(call, law, value, laws)
        if call != case and not broken_laws(call, laws):
            calls.append(call)
    return calls


def _instead(case: ApiCall, parameter: str, laws: Sequence[Law]) -> Iterator[Value]:
    """Yield values for a parameter that break none of its laws."""
    of_parameter = [law for law in laws if law.parameter == parameter]
    given = argument_of(case, of_parameter[0])
    for law in of_parameter if given is not None else ():
        for value in _keeping(given, law.demand):
            if not any(breach(value, other.demand) for other in of_parameter):
                yield value


def _keeping(value: Value | None, demand: Demand) -> Iterator[Value]:
    """Yield values of the kind of one that may keep a demand."""
    match demand, value:
        case Float(), _:
            for number in _NUMBERS:
                yield from _with_number(value, number)
        case OneOf(values), LiteralValue():
            yield from values
        case Tensor(ndim=(least, most)), TensorValue() | ArrayValue():
            last = least + 2 if most == UNLIMITED else most
            for rank in range(least, last + 1):
                yield replace(value, shape=(2,) * rank, fill=Constant(1))
        case Dtype(names), TensorValue():
            yield from (replace(value, dtype=name, fill=Constant(1)) for name in names)
        case Dtype(names), DtypeValue():
            yield from map(DtypeValue, names)
        case _:
            return


def _with_number(value: Value | None, number: float) -> Iterator[Value]:
    match value:
        case LiteralValue():
            yield LiteralValue(number)
        case ListValue() | TupleValue():
            yield replace(value, items=(LiteralValue(number),) * len(value.items))
        case TensorValue() | ArrayValue():
            yield replace(value, fill=Constant(number))
        case _:
            return


def _with(call: ApiCall, parameter: str, value: Value, laws: Sequence[Law]) -> ApiCall:
    if parameter in dict(call.keywords):
        keywords = tuple((n, value if n == parameter else v) for n, v in call.keywords)
        return replace(call, keywords=keywords)
    position = next(law.position for law in laws if law.parameter == parameter)
    arguments = tuple(value if at == position else v for at, v in enumerate(call.arguments))
    return replace(call, arguments=arguments)
