"""Boundary checking (BC): one parameter just outside of its legal range (MoCo, section III-C).

Only specifications are violated, which the library documents literally, and conventions about names
of parameters. Other constraints may be guessed, and a guess must not lead to a finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.values import ListValue, LiteralValue, TupleValue, Value
from ciguard.levels.code.binding import VARIADIC, bind, default_of, with_argument
from ciguard.levels.code.blocks import BlockMutant
from ciguard.levels.code.knowledge import INPUT_SIZES
from ciguard.levels.code.literals import text_of, value_of
from ciguard.levels.code.similarity import kinds_of
from ciguard.values import Float, OneOf, in_range

if TYPE_CHECKING:
    import random

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.binding import BoundArguments
    from ciguard.levels.code.blocks import Block
    from ciguard.levels.code.knowledge import Apis
    from ciguard.oracles.specifications import Requirement, Specification

STEP = 0.0001
"""Distance of an illegal real number from the end of the legal range (MoCo)."""
_UNKNOWN_OPTION = LiteralValue("no_such_option")


SpecificationReader: TypeAlias = Callable[["ApiRecord"], Mapping[str, Sequence["Specification"]]]
"""Function that returns the specifications of an API, by parameter."""


class Boundary:
    """Mutation operator BC (boundary checking)."""

    def __init__(self, apis: Apis, specifications: SpecificationReader) -> None:
        """Create the operator for a library.

        Args:
            apis: the APIs of the library.
            specifications: the function that returns an API's specifications, by parameter.
        """
        self._apis = apis
        self._read = specifications
        self._specifications: dict[str, Mapping[str, Sequence[Specification]]] = {}

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return a block in which one parameter of one call has an illegal value.

        Args:
            block: the block to mutate.
            place: the index of the call in the block.
            rng: the source of randomness.

        Returns:
            The mutant; None if the documentation of the called API forbids no values.
        """
        mutants = self.mutants(block, place)
        return rng.choice(mutants) if mutants else None

    def mutants(self, block: Block, place: int) -> tuple[BlockMutant, ...]:
        """Return all mutants of one call, in the order of the API's parameters."""
        call = block.calls[place]
        api = self._apis.find(call.api)
        bound = None if api is None else bind(call, api.record)
        if api is None or bound is None:
            return ()
        mutants = []
        for parameter, specification, text in self._illegal_values(api, bound):
            step = Derivation(
                block=block.name,
                line=0,
                api=call.api,
                operator=Operator.BOUNDARY,
                parameter=parameter.name,
                before=bound.named.get(parameter.name, ""),
                after=text,
                sentence=specification.sentence,
            )
            changed = with_argument(call, api.record, parameter.name, text)
            mutants.append(BlockMutant(block.with_call(place, changed), step))
        return tuple(mutants)

    def _illegal_values(
        self, api: Api, bound: BoundArguments
    ) -> list[tuple[Parameter, Specification, str]]:
        """Return illegal values as texts, each with its parameter and violated specification."""
        specifications = self._specifications.get(api.record.api)
        if specifications is None:
            specifications = self._specifications[api.record.api] = self._read(api.record)
        defaults = {p.name: default_of(p) for p in api.record.parameters}
        return [
            (parameter, specification, text_of(value))
            for parameter in api.parameters
            if parameter.name not in INPUT_SIZES and parameter.kind not in VARIADIC
            for specification in specifications.get(parameter.name, ())
            for value in values_beyond(
                parameter,
                specification.requirement,
                bound.named.get(parameter.name, defaults[parameter.name]),
            )
        ]


def values_beyond(
    parameter: Parameter, requirement: Requirement, current: str | None
) -> list[Value]:
    """Return the literals just outside of the range that a specification requires.

    Args:
        parameter: the parameter. If it takes no numbers, a requirement on numbers is ignored, since
            its sentence may have been misread.
        requirement: the requirement of the specification.
        current: the text of the parameter's argument, or of its default; None if it has neither.
    """
    kinds = kinds_of(parameter)
    match requirement:
        case Float():
            numbers = (
                _illegal_reals(requirement) if "float" in kinds else _illegal_integers(requirement)
            )
            return _in_same_form(current, kinds, numbers)
        case OneOf(values) if "str" in kinds and _UNKNOWN_OPTION not in values:
            return [_UNKNOWN_OPTION]
        case _:
            return []


def _in_same_form(
    current: str | None, kinds: frozenset[str], numbers: Sequence[float]
) -> list[Value]:
    """Return values for numbers; if the argument is a list, each replaces the list's first item."""
    value = None if current is None else value_of(current)
    if isinstance(value, TupleValue | ListValue) and value.items and "list" in kinds:
        rest = value.items[1:]
        return [type(value)((LiteralValue(number), *rest)) for number in numbers]
    if kinds & {"int", "float"}:
        return [LiteralValue(number) for number in numbers]
    return []


def _illegal_integers(requirement: Float) -> list[float]:
    """Return the nearest integers below and above a range; also 0 and -1 if outside of it."""
    values: list[float] = []
    if math.isfinite(requirement.min):
        smallest = math.ceil(requirement.min)
        values.append(
            smallest if requirement.exclude_min and smallest == requirement.min else smallest - 1
        )
    if math.isfinite(requirement.max):
        largest = math.floor(requirement.max)
        values.append(
            largest if requirement.exclude_max and largest == requirement.max else largest + 1
        )
    return _with_common_values(requirement, values, (0, -1))


def _illegal_reals(requirement: Float) -> list[float]:
    """Return numbers one step outside of a range; also excluded ends, 0 and -1 if outside of it."""
    values: list[float] = []
    if math.isfinite(requirement.min):
        values += [float(requirement.min)] * requirement.exclude_min + [
            round(requirement.min - STEP, 6)
        ]
    if math.isfinite(requirement.max):
        values += [float(requirement.max)] * requirement.exclude_max + [
            round(requirement.max + STEP, 6)
        ]
    return _with_common_values(requirement, values, (0.0, -1.0))


def _with_common_values(
    requirement: Float, values: list[float], common_values: tuple[float, ...]
) -> list[float]:
    outside = [number for number in common_values if not in_range(number, requirement)]
    return list(dict.fromkeys([*values, *outside]))
