"""Hang: the call did not return."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain import (
    ArrayValue,
    CallValue,
    Constant,
    DictValue,
    Evidence,
    Explicit,
    Finding,
    Hung,
    ListValue,
    LiteralValue,
    Passed,
    ProgramCase,
    Severity,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
)
from ciguard.oracles.contract import Traits, registered

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from ciguard.domain import Case, Fill, Outcome, Value
    from ciguard.oracles.contract import Subject


_MUCH = 100_000
_NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE]\d{1,3})?")


HANG = "hang"
SLOW = "slow"
"""Kind of a call that exceeds its limit and returns when it is given more time."""
_LAW = "A call on a few small arguments returns within seconds"
_OF_PROGRAMS = "A program that trains a small model on a few samples comes to its end"


class HangOracle:
    """A call on a few small arguments must return within seconds.

    Whoever asks for two billion elements may have to wait: such a case proves nothing.
    """

    traits: ClassVar[Traits] = Traits(ends_workers=True, takes_limit=True)

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return one finding that names every target on which the case hung."""
        hung = {name: out for name, out in outcomes.items() if isinstance(out, Hung)}
        if not hung or asks_for_much(case) or _is_repeated(case):
            return []
        limit_s = max(out.limit_s for out in hung.values())
        elsewhere = _elsewhere(outcomes, besides=hung)
        where = f" on {', '.join(hung)}, and {elsewhere}" if elsewhere else ""
        return [
            Finding(
                oracle=HANG,
                kind=HANG,
                severity=Severity.HIGH,
                library=subject.library,
                api=subject.api,
                case=case,
                outcomes=outcomes,
                targets=tuple(hung),
                message=f"{subject.api} does not return within {limit_s:g} s{where}",
                evidence=Evidence(
                    expected=elsewhere or "a result or an exception",
                    observed=f"no return within {limit_s:g} s",
                    law=_OF_PROGRAMS if isinstance(case, ProgramCase) else _LAW,
                ),
            )
        ]


def limit_of(hung: Finding) -> float:
    """Return the time after which a hanging call was ended, in seconds."""
    return max((out.limit_s for out in hung.outcomes.values() if isinstance(out, Hung)), default=0)


def slow(hung: Finding, outcomes: Mapping[str, Outcome]) -> Finding | None:
    """Return the finding that a call which seemed to hang is only slow.

    Args:
        hung: as judged after the ordinary limit.
        outcomes: of the same case, which was given a multiple of that limit.

    Returns:
        None if a target still hangs, or if none of those that did exceeds the limit again.
    """
    limit_s = limit_of(hung)
    took = {
        name: out.cost_s
        for name in hung.targets
        if isinstance(out := outcomes.get(name), Passed) and out.cost_s > limit_s
    }
    if not took or any(isinstance(out, Hung) for out in outcomes.values()):
        return None
    elsewhere = _elsewhere(outcomes, besides=took)
    where = ", ".join(f"{cost_s:.1f} s on {name}" for name, cost_s in took.items())
    return replace(
        hung,
        kind=SLOW,
        severity=Severity.LOW,
        outcomes=outcomes,
        targets=tuple(took),
        message=f"{hung.api} takes {where}{f', and {elsewhere}' if elsewhere else ''}",
        evidence=Evidence(
            expected=elsewhere or f"returns within {limit_s:g} s",
            observed=f"returns after {where}",
            law=hung.evidence.law or _LAW,
        ),
    )


def _elsewhere(outcomes: Mapping[str, Outcome], *, besides: Container[str]) -> str:
    """Return how long the call takes where it returns in time; empty where it returns nowhere."""
    return ", ".join(
        f"returns in {out.cost_s:.2g} s on {name}"
        for name, out in outcomes.items()
        if isinstance(out, Passed) and name not in besides
    )


def _is_repeated(case: Case) -> bool:
    """Return whether a program is run many times over: what it takes says nothing of one run."""
    return isinstance(case, ProgramCase) and case.cycles > 1


def asks_for_much(case: Case) -> bool:
    """Return whether an argument holds a number so large that long work may be intended.

    Elements of tensors count too: they are sizes and counts as often as not. So does their number.
    """
    if isinstance(case, ProgramCase):
        return any(_is_large_in(step.after) for step in case.ancestry.path)
    values = [*case.values]
    while values:
        value = values.pop()
        if _is_much(value):
            return True
        values.extend(_parts(value))
    return False


def _is_much(value: Value) -> bool:
    match value:
        case LiteralValue(int() | float() as number):
            return abs(number) >= _MUCH
        case ArrayValue(_, shape, fill) | TensorValue(_, shape, fill):
            return math.prod(shape) >= _MUCH or _is_large(fill)
        case ListValue(items) | TupleValue(items):
            return _product(items) >= _MUCH
        case _:
            return False


def _parts(value: Value) -> Sequence[Value]:
    match value:
        case ListValue(items) | TupleValue(items):
            return items
        case DictValue(pairs):
            return [item for _, item in pairs]
        case CallValue(_, arguments, keywords):
            return [*arguments, *(item for _, item in keywords)]
        case _:
            return ()


def _product(items: Sequence[Value]) -> int:
    """Return how many parts there are if numbers in a list are sizes; 0 if they are none."""
    sizes = [item.value for item in items if isinstance(item, LiteralValue)]
    return math.prod(size if isinstance(size, int) and size > 0 else 0 for size in sizes)


def _is_large_in(text: str) -> bool:
    """Return whether a number in the text of a value is large."""
    return any(float(number) >= _MUCH for number in _NUMBER.findall(text))


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


registered(HANG, HangOracle)
