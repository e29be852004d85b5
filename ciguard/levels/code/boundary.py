"""Boundary checking (BC): one parameter just outside of its legal range (MoCo, III-C).

Only what a sentence of the library forbids: constraints may be guessed, an accusation may not.
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
    from ciguard.levels.code.binding import Bound
    from ciguard.levels.code.blocks import Block
    from ciguard.levels.code.knowledge import Apis
    from ciguard.oracles.laws import Law, Requirement

STEP = 0.0001
"""How far beyond the end of its range a real number goes (MoCo)."""
_UNKNOWN = LiteralValue("no_such_option")


LawReader: TypeAlias = Callable[["ApiRecord"], Mapping[str, Sequence["Law"]]]
"""Returns the laws of an API by parameter."""


class Boundary:
    """The operator BC."""

    def __init__(self, apis: Apis, laws: LawReader) -> None:
        """Prepare it for a library's APIs.

        Args:
            apis: of the library.
            laws: reads what an API's own words forbid.
        """
        self._apis = apis
        self._read = laws
        self._laws: dict[str, Mapping[str, Sequence[Law]]] = {}

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with one parameter of one call outside of its range.

        Returns:
            None where the library forbids nothing of what the call could be given.
        """
        mutants = self.mutants(block, place)
        return rng.choice(mutants) if mutants else None

    def mutants(self, block: Block, place: int) -> tuple[BlockMutant, ...]:
        """Return all that can be made of one call, in the order of its parameters."""
        call = block.calls[place]
        api = self._apis.find(call.api)
        bound = None if api is None else bind(call, api.record)
        if api is None or bound is None:
            return ()
        found = []
        for parameter, law, text in self._forbidden(api, bound):
            step = Derivation(
                block=block.name,
                line=0,
                api=call.api,
                operator=Operator.BOUNDARY,
                parameter=parameter.name,
                before=bound.named.get(parameter.name, ""),
                after=text,
                sentence=law.sentence,
            )
            changed = with_argument(call, api.record, parameter.name, text)
            found.append(BlockMutant(block.with_call(place, changed), step))
        return tuple(found)

    def _forbidden(self, api: Api, bound: Bound) -> list[tuple[Parameter, Law, str]]:
        laws = self._laws.get(api.record.api)
        if laws is None:
            laws = self._laws[api.record.api] = self._read(api.record)
        defaults = {p.name: default_of(p) for p in api.record.parameters}
        return [
            (parameter, law, text_of(value))
            for parameter in api.parameters
            if parameter.name not in INPUT_SIZES and parameter.kind not in VARIADIC
            for law in laws.get(parameter.name, ())
            for value in beyond(
                parameter, law.demand, bound.named.get(parameter.name, defaults[parameter.name])
            )
        ]


def beyond(parameter: Parameter, demand: Requirement, now: str | None) -> list[Value]:
    """Return the literals just outside of what a law demands of a parameter.

    Args:
        parameter: what is known of it. A law about numbers makes nothing of a parameter that
            takes none: it may have been read wrong.
        demand: of the law.
        now: text of what the call gives it, or of its default; None if there is neither.
    """
    kinds = kinds_of(parameter)
    match demand:
        case Float():
            numbers = _reals(demand) if "float" in kinds else _ints(demand)
            return _in_form_of(now, kinds, numbers)
        case OneOf(values) if "str" in kinds and _UNKNOWN not in values:
            return [_UNKNOWN]
        case _:
            return []


def _in_form_of(now: str | None, kinds: frozenset[str], numbers: Sequence[float]) -> list[Value]:
    """Return numbers as they are, or as the first item of a list where there is one now."""
    value = None if now is None else value_of(now)
    if isinstance(value, TupleValue | ListValue) and value.items and "list" in kinds:
        rest = value.items[1:]
        return [type(value)((LiteralValue(number), *rest)) for number in numbers]
    if kinds & {"int", "float"}:
        return [LiteralValue(number) for number in numbers]
    return []


def _ints(demand: Float) -> list[float]:
    """Return the nearest ints below and above; 0 and -1 too where they are outside."""
    found: list[float] = []
    if math.isfinite(demand.min):
        least = math.ceil(demand.min)
        found.append(least if demand.exclude_min and least == demand.min else least - 1)
    if math.isfinite(demand.max):
        most = math.floor(demand.max)
        found.append(most if demand.exclude_max and most == demand.max else most + 1)
    return _with_usual(demand, found, (0, -1))


def _reals(demand: Float) -> list[float]:
    """Return the numbers a step beyond the ends; ends that are excluded, 0 and -1 if outside."""
    found: list[float] = []
    if math.isfinite(demand.min):
        found += [float(demand.min)] * demand.exclude_min + [round(demand.min - STEP, 6)]
    if math.isfinite(demand.max):
        found += [float(demand.max)] * demand.exclude_max + [round(demand.max + STEP, 6)]
    return _with_usual(demand, found, (0.0, -1.0))


def _with_usual(demand: Float, found: list[float], usual: tuple[float, ...]) -> list[float]:
    outside = [number for number in usual if not in_range(number, demand)]
    return list(dict.fromkeys([*found, *outside]))
