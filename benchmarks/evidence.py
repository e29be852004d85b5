"""Evidence of what an API accepts: the outcomes of all guided calls, by trait of the arguments.

`ciguard.knowledge.Experience` learns from calls that conform. Most guided calls have arguments at
limits instead. If such a call passes, each of its arguments is accepted. If it is refused, the
argument that was changed is the cause, or else those that the message names.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import dtypes as element_types
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.values import TensorValue, Value
from ciguard.knowledge.refinement.messages import parameters_in
from ciguard.knowledge.refinement.requirements import named_dtype
from ciguard.knowledge.refinement.traits import traits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.outcomes import Outcome

_MIN_CALLS = 40
"""Number of calls of which some should have passed, if any calls do."""
_MIN_EXPECTED = 1.0
"""Number of passing calls that is expected of a trait, before none says anything about it."""
_NO_KERNEL = re.compile(r"not implemented for '(\w+)'|not supported for (\w+) (?:types|inputs)")
_FAMILIES = (
    ("uint16", "uint32", "uint64"),
    ("complex64", "complex128"),
    ("float16", "bfloat16"),
    ("int8", "int16", "int32", "int64", "uint8"),
)
"""Dtypes for which torch dispatches together: a kernel has all of a family, or none.

Source: the macros `AT_DISPATCH_*` of `ATen/Dispatch.h` and `ATen/Dispatch_v2.h`.
"""
_FAMILY_NAMES = {"complex": ("complex64", "complex128")}


_Trait: TypeAlias = tuple[str, str]
"""A parameter, and a trait of its argument."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """A call that was refused."""

    conforms: bool
    """Whether the call was to conform."""
    traits: frozenset[_Trait]
    """Traits of the arguments that may be the cause."""


@dataclass(slots=True)
class _Tally:
    """Numbers of calls that passed and that were refused."""

    passed: int = 0
    refused: int = 0

    @property
    def pass_rate(self) -> float:
        """Share of calls that passed, smoothed to be never 0 or 1."""
        return (self.passed + 1) / (self.passed + self.refused + 2)


class Evidence:
    """Outcomes of the guided calls of one API."""

    def __init__(self) -> None:
        self._tallies = {True: _Tally(), False: _Tally()}
        """Numbers of calls by whether they were to conform."""
        self._accepted: Counter[_Trait] = Counter()
        self._refusals: list[_Refusal] = []
        self._without_kernel: set[str] = set()
        """Dtypes for which messages say that nothing is implemented."""

    def note(
        self, case: ApiCall, values: Mapping[str, Value], names: Sequence[str], outcome: Outcome
    ) -> None:
        """Count one call.

        Args:
            case: the call.
            values: its arguments, by parameter.
            names: the names of all parameters, in the order of their declaration.
            outcome: the outcome of the call.
        """
        conforms = case.intent is Intent.CONFORMING
        match outcome:
            case Passed():
                self._tallies[conforms].passed += 1
                self._accepted.update(_all_traits(values, names))
            case Rejected(message=message, stage=stage):
                self._without_kernel |= _dtypes_without_kernel(message)
                if stage is not Stage.BUILD:
                    self._tallies[conforms].refused += 1
                    blamed = parameters_in(message, names) or (names if conforms else (case.focus,))
                    traits = [trait for trait in _all_traits(values, names) if trait[0] in blamed]
                    self._refusals.append(_Refusal(conforms, frozenset(traits)))
            case _:
                pass

    def refutation(self, given: Mapping[str, Value]) -> str:
        """Return what the call has in common with calls that never passed; empty if nothing."""
        refused = len(self._refusals)
        passed = sum(tally.passed for tally in self._tallies.values())
        if passed + refused >= _MIN_CALLS and not passed:
            return f"none of {refused} guided calls passed"
        for name, value in given.items():
            if isinstance(value, TensorValue) and value.dtype in self._lacking:
                return f"{name}: nothing is implemented for {value.dtype}"
        found = self._refuted.intersection(_all_traits(given, self._names))
        return next((f"{name}: no guided call with {trait} passed" for name, trait in found), "")

    def admits(self, name: str, given: Mapping[str, Value]) -> bool:
        """Return whether calls passed with each trait of the argument for `name`."""
        return all(self._accepted[name, trait] for trait in traits_of(given, [name])[name])

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """Names of the parameters that are known."""
        known = [*self._accepted, *(trait for one in self._refusals for trait in one.traits)]
        return tuple(dict.fromkeys(name for name, _ in known))

    @cached_property
    def _lacking(self) -> frozenset[str]:
        """Dtypes without a kernel, with those of which the kernel would be the same."""
        accepted = {trait.removeprefix("dtype:") for _, trait in self._accepted}
        families = [*_FAMILIES, *((dtype,) for dtype in self._without_kernel)]
        return frozenset(
            dtype
            for family in families
            if self._without_kernel.intersection(family) and accepted.isdisjoint(family)
            for dtype in family
        )

    @cached_property
    def _refuted(self) -> frozenset[_Trait]:
        """Traits that never passed: the fewest that explain the refusals.

        Each explains all refusals of calls that have it, so that another trait of these calls is
        not blamed for them.
        """
        refuted: set[_Trait] = set()
        while True:
            expected: defaultdict[_Trait, float] = defaultdict(float)
            for refusal in self._refusals:
                if refuted.isdisjoint(refusal.traits):
                    rate = self._tallies[refusal.conforms].pass_rate
                    for trait in refusal.traits:
                        if not self._accepted[trait]:
                            expected[trait] += rate
            most = max(expected.values(), default=0.0)
            if most < _MIN_EXPECTED:
                return frozenset(refuted)
            refuted |= {trait for trait, passes in expected.items() if passes == most}


def _all_traits(values: Mapping[str, Value], names: Iterable[str]) -> list[_Trait]:
    return [(name, trait) for name, traits in _traits(values, names).items() for trait in traits]


def _traits(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the traits of every parameter of a call, with those of a tensor's sizes."""
    return {
        name: (*traits, *_size_traits(values.get(name)))
        for name, traits in traits_of(values, names).items()
    }


def _size_traits(value: Value | None) -> tuple[str, ...]:
    if not isinstance(value, TensorValue):
        return ()
    elements = min(math.prod(value.shape), 2)
    last = (f"last:{value.shape[-1]}",) if value.shape else ()
    is_square = len(set(value.shape[-2:])) == 1
    matrix = ("square" if is_square else "oblong",) if len(value.shape) > 1 else ()
    return (f"elements:{elements}", *last, *matrix)


def _dtypes_without_kernel(message: str) -> frozenset[str]:
    """Return the dtypes for which a message says that nothing is implemented."""
    names = [name for match in _NO_KERNEL.finditer(message) for name in match.groups() if name]
    dtypes = [dtype for name in names for dtype in _FAMILY_NAMES.get(name, (named_dtype(name),))]
    return frozenset(dtype for dtype in dtypes if dtype in element_types.EVERY)
