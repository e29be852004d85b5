"""Hang: the call did not return."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    Explicit,
    Finding,
    Hung,
    ListValue,
    LiteralValue,
    Severity,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.oracles.contract import registered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain import Case, Fill, Outcome
    from ciguard.oracles.contract import Subject


_MUCH = 100_000


class HangOracle:
    """A call on a few small arguments must return within seconds.

    Whoever asks for two billion elements may have to wait: such a case proves nothing.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target on which the case hung."""
        hung = {name: out for name, out in outcomes.items() if isinstance(out, Hung)}
        if not hung or asks_for_much(case):
            return []
        limit_s = next(iter(hung.values())).limit_s
        return [
            Finding(
                oracle="hang",
                kind="hang",
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(hung),
                message=f"{subject.api} does not return within {limit_s:g} s",
            )
        ]


def asks_for_much(case: Case) -> bool:
    """Tell whether a number in the arguments is so large that long work may be what was asked for.

    Elements of tensors count too: they are sizes and counts as often as not. So does their number.
    """
    values = [*case.arguments, *(value for _, value in case.keywords), *case.inputs]
    while values:
        value = values.pop()
        match value:
            case LiteralValue(int() | float() as number):
                if abs(number) >= _MUCH:
                    return True
            case ArrayValue(_, shape, fill) | TensorValue(_, shape, fill):
                if math.prod(shape) >= _MUCH or _is_large(fill):
                    return True
            case ListValue(items) | TupleValue(items):
                values.extend(items)
            case DictValue(pairs):
                values.extend(item for _, item in pairs)
            case CallValue(_, arguments, keywords):
                values.extend([*arguments, *(item for _, item in keywords)])
            case _:
                continue
    return False


def _is_large(fill: Fill) -> bool:
    match fill:
        case Constant(number):
            return abs(number) >= _MUCH
        case Uniform(_, low, high):
            return abs(low) >= _MUCH or abs(high) >= _MUCH
        case Explicit(data):
            return any(abs(number) >= _MUCH for number in data)
        case Special():
            return True


registered("hang", HangOracle)
