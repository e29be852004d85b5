"""API replacement (AR): a similar API instead of a call's own (MoCo, III-C)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.levels.code.binding import VARIADIC, arranged, bind, default_of
from ciguard.levels.code.blocks import BlockMutant
from ciguard.levels.code.calling import required_settings, used
from ciguard.levels.code.generation import another_value, drawable_values, is_varied
from ciguard.levels.code.knowledge import INPUT_SIZES, WRAPPED, data_parameters, is_wrapper
from ciguard.levels.code.legal import admits, draw
from ciguard.levels.code.literals import text_of, value_of
from ciguard.levels.code.parameter_relations import is_coherent

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.binding import Bound
    from ciguard.levels.code.blocks import Block, LibraryCall
    from ciguard.levels.code.nodes import CandidateBlock
    from ciguard.levels.code.similarity import SimilarApi, Similarities

_NOT_SHARED = frozenset({"inplace"})
"""Parameters that are valid for one API but not for another: an in-place result may lose values
that backpropagation needs."""
_MIN_SIMILARITY = 0.01
"""Similarity of APIs without documentation, such as `Tanh()` of Jittor."""
_RARITY_EXPONENT = 8
"""Preference for rarely used APIs. There is time for thousands of programs, not for the paper's
hundreds of thousands, and some layers are tested only by replacement."""
_RAN_WEIGHT = 3
"""Number of attempts that one run of an API's block counts as."""
_MAX_ATTEMPTS = 16
_SCALE_FACTOR = "scale_factor"


@dataclass(frozen=True, slots=True)
class ReplacementHistory:
    """Results of APIs that replaced others. The owner updates it."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of attempts by replaced API and its replacement: what fails instead of a convolution
    may run instead of a recurrent layer."""
    ran: Counter[str] = field(default_factory=Counter)
    """Number of runs of an API's block, by API, whatever it replaced."""

    def preference(self, before: str, after: str) -> float:
        """Return the preference for a replacement; 1 if nothing is known of it."""
        return float(
            (1 + self.tried[before, after] + _RAN_WEIGHT * self.ran[after]) ** -_RARITY_EXPONENT
        )


class Replacement:
    """Operator AR."""

    def __init__(
        self, similarities: Similarities, experience: ReplacementHistory | None = None
    ) -> None:
        """Create the operator for a library.

        Args:
            similarities: the similarities of the library's APIs.
            experience: the results of earlier replacements.
        """
        self._similarities = similarities
        self._experience = experience or ReplacementHistory()

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with another API instead of that of one call.

        The new call takes the arguments that both APIs have, by name. Legal values are drawn for
        required ones that the old call lacks. If the new layer is called differently, for example
        with two tensors, the block's usage is rewritten.

        Args:
            block: the block to mutate.
            place: the index of the call in the block.
            rng: the source of randomness.

        Returns:
            None if no API is similar enough, can be constructed from literals and can be called
            where the program calls its own.
        """
        call = block.calls[place]
        own = self._similarities.apis.find(call.api)
        if own is None:
            return None
        similar = self._similarities.of(call.api)
        uses = {candidate.name: used(call, own, candidate.api) for candidate in similar}
        candidates = [candidate for candidate in similar if uses[candidate.name] is not None]
        while candidates:
            chosen = roulette(call.api, candidates, rng, self._experience)
            candidates.remove(chosen)
            other = self._call_of(chosen, own, call, rng)
            if other is not None:
                use = uses[chosen.name] or ""
                step = Derivation(
                    block=block.name,
                    line=0,
                    api=chosen.name,
                    operator=Operator.REPLACEMENT,
                    before=call.api,
                    after=chosen.name,
                    sentence=" ".join(chosen.api.record.doc.split())[:200],
                    use=use if use != call.use else "",
                )
                return BlockMutant(block.with_call(place, replace(other, use=use)), step)
        return None

    def _call_of(
        self, chosen: SimilarApi, own: Api, call: LibraryCall, rng: random.Random
    ) -> LibraryCall | None:
        other = chosen.api
        bound = bind(call, own.record)
        # The signature `LSTM(*args, **kwargs)` does not declare its parameters.
        is_undeclared = other.record.strangers and any(
            p.kind is ParameterKind.VAR_POSITIONAL for p in other.parameters
        )
        if bound is None or is_undeclared:
            has_same_parameters = own.record.parameters == other.record.parameters
            return replace(call, api=chosen.name) if has_same_parameters else None
        arguments = shared_arguments(own, other, bound) | wrapped(call, own, other)
        arguments |= required_settings(other)
        for attempt in range(_MAX_ATTEMPTS):
            new_arguments = needed(other, arguments, rng)
            if new_arguments is None:
                return None
            if attempt:  # `Upsample()` is illegal, although no parameter is required
                new_arguments |= one_more(other, arguments | new_arguments, rng)
            if is_coherent(other.record, arguments | new_arguments):
                return arranged(call, chosen.name, other.record, arguments | new_arguments)
        return None


def roulette(
    before: str,
    candidates: Sequence[SimilarApi],
    rng: random.Random,
    experience: ReplacementHistory,
) -> SimilarApi:
    """Draw one of the candidates to replace an API, with probability by its similarity.

    Rarely used candidates are preferred, see `_RARITY_EXPONENT`.

    Source: MoCo, section III-C.
    """
    weights = [
        max(candidate.similarity, _MIN_SIMILARITY) * experience.preference(before, candidate.name)
        for candidate in candidates
    ]
    return rng.choices(candidates, weights)[0]


def shared_arguments(own: Api, other: Api, bound: Bound) -> dict[str, str]:
    """Return the arguments of a call that another API also accepts, as text by parameter.

    The data of a function is matched by order, whatever the parameters' names. A literal of a kind
    that the other API does not accept is dropped.
    """
    data = (
        dict(zip(data_parameters(own), data_parameters(other), strict=False))
        if not own.inputs
        else {}
    )
    parameters = {p.name: p for p in other.parameters if p.kind not in VARIADIC}
    shared = {data[name]: text for name, text in bound.named.items() if name in data}
    for name, text in bound.named.items():
        if name in data or name in shared or name in _NOT_SHARED or name not in parameters:
            continue
        if _accepts(parameters[name], text):
            shared[name] = text
    accepts_any_keyword = any(p.kind is ParameterKind.VAR_KEYWORD for p in other.parameters)
    further = {n: t for n, t in bound.further.items() if n in parameters or accepts_any_keyword}
    return shared | further


def wrapped(call: LibraryCall, own: Api, other: Api) -> dict[str, str]:
    """Return a layer's call as the argument of another API that wraps a layer; else nothing."""
    if own.record.kind is not CallKind.LAYER or not is_wrapper(other.record):
        return {}
    arguments = [*call.positional, *(f"{name}={text}" for name, text in call.keywords)]
    return {WRAPPED: f"{call.api}({', '.join(arguments)})"}


def _accepts(parameter: Parameter, text: str) -> bool:
    value = value_of(text)
    return value is None or not parameter.evidence or admits(parameter.constraint, value)


def needed(api: Api, arguments: dict[str, str], rng: random.Random) -> dict[str, str] | None:
    """Draw the missing required arguments of an API; None if one is not a literal."""
    drawn = {}
    for parameter in api.parameters:
        if parameter.name in arguments or parameter.kind in VARIADIC:
            continue
        if not parameter.required and not _should_be_given(parameter, api):
            continue
        values = drawable_values(parameter, api.record, is_needed=True)
        if values is None:
            return None
        drawn[parameter.name] = text_of(draw(values, rng))
    return drawn


def _should_be_given(parameter: Parameter, api: Api) -> bool:
    """Return whether a parameter with a default must be given nevertheless.

    True for an input size whose default is a number, which must be adjusted; not for 1, with which
    `PReLU` has one parameter for all channels. Also true for a scale factor if nothing else sets
    the output size.
    """
    if parameter.name == _SCALE_FACTOR:
        return all(other.name != "size" for other in api.parameters)
    declared = {p.name: p for p in api.record.parameters}
    default = value_of(default_of(declared[parameter.name]) or "")
    number = default.value if isinstance(default, LiteralValue) else None
    return parameter.name in INPUT_SIZES and type(number) is int and number > 1


def one_more(api: Api, arguments: dict[str, str], rng: random.Random) -> dict[str, str]:
    """Draw one of the optional arguments that a call lacks; empty if it lacks none."""
    missing = [p for p in api.parameters if p.name not in arguments and is_varied(p)]
    parameter = rng.choice(missing) if missing else None
    text = parameter and another_value(parameter, api.record, arguments, rng)
    return {parameter.name: text} if parameter and text else {}


def replaced_by(candidates: Iterable[CandidateBlock]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a replaced API and its replacement."""
    for candidate in candidates:
        if candidate.step.operator is Operator.REPLACEMENT:
            yield candidate.step.before, candidate.step.after
