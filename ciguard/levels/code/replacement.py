"""API replacement (AR): a call of a similar API takes the place of a call (MoCo, section III-C)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import CallKind
from ciguard.domain.programs import Derivation, Operator
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.levels.code.binding import VARIADIC, bind, call_with_arguments, default_of
from ciguard.levels.code.blocks import BlockMutant
from ciguard.levels.code.calling import required_settings, usage_for_replacement
from ciguard.levels.code.generation import another_value, drawable_values, is_varied
from ciguard.levels.code.knowledge import INPUT_SIZES, WRAPPED_LAYER, data_parameters, is_wrapper
from ciguard.levels.code.legal import admits, draw
from ciguard.levels.code.literals import text_of, value_of
from ciguard.levels.code.parameter_relations import is_coherent

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.binding import BoundArguments
    from ciguard.levels.code.blocks import Block, LibraryCall
    from ciguard.levels.code.nodes import CandidateBlock
    from ciguard.levels.code.similarity import SimilarApi, Similarities

_UNSHARED_PARAMETERS = frozenset({"inplace"})
"""Parameters whose arguments are not passed on to another API: an in-place result may overwrite
values that backpropagation needs."""
_MIN_SIMILARITY = 0.01
"""Minimum weight of a candidate, for APIs without documentation such as `jittor.nn.Tanh`."""
_RARITY_EXPONENT = 8
"""Strength of the preference for rarely used APIs.

Some layers are tested only by replacement, and a campaign has time for thousands of programs, not
for the hundreds of thousands in the MoCo paper.
"""
_RUN_WEIGHT = 3
"""Number of attempts that equal a run of an API's block in the preference."""
_MAX_ATTEMPTS = 16
_SCALE_FACTOR = "scale_factor"


@dataclass(frozen=True, slots=True)
class ReplacementHistory:
    """Results of earlier replacements, which the level updates."""

    attempts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Number of attempts, by replaced API and replacement. Both matter: an API that fails in place
    of a convolution may run in place of a recurrent layer."""
    runs: Counter[str] = field(default_factory=Counter)
    """Number of blocks that ran with an API as the replacement, by API."""

    def preference(self, before: str, after: str) -> float:
        """Return the preference for a replacement: 1 if it is new, less with every attempt."""
        return float(
            (1 + self.attempts[before, after] + _RUN_WEIGHT * self.runs[after]) ** -_RARITY_EXPONENT
        )


class Replacement:
    """Mutation operator AR (API replacement)."""

    def __init__(
        self, similarities: Similarities, history: ReplacementHistory | None = None
    ) -> None:
        """Create the operator for a library.

        Args:
            similarities: the similarities of the library's APIs.
            history: the results of earlier replacements; None for an empty history.
        """
        self._similarities = similarities
        self._history = history or ReplacementHistory()

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return a block in which one call is replaced by a call of a similar API.

        The new call has the old call's arguments for parameters that both APIs have. Legal values
        are drawn for other required parameters. If the new layer is called differently, for
        example with two tensors, its usage is rewritten.

        Args:
            block: the block to mutate.
            place: the index of the call in the block.
            rng: the source of randomness.

        Returns:
            The mutant; None if no API is similar enough, can be created with literals, and can be
            called where the program calls the old layer.
        """
        call = block.calls[place]
        own = self._similarities.apis.find(call.api)
        if own is None:
            return None
        similar = self._similarities.candidates_for(call.api)
        uses = {
            candidate.name: usage_for_replacement(call, own, candidate.api) for candidate in similar
        }
        candidates = [candidate for candidate in similar if uses[candidate.name] is not None]
        while candidates:
            chosen = roulette(call.api, candidates, rng, self._history)
            candidates.remove(chosen)
            other = self._draw_call(chosen, own, call, rng)
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

    def _draw_call(
        self, chosen: SimilarApi, own: Api, call: LibraryCall, rng: random.Random
    ) -> LibraryCall | None:
        other = chosen.api
        bound = bind(call, own.record)
        # The signature `LSTM(*args, **kwargs)` does not declare its parameters.
        is_undeclared = other.record.undeclared_parameters and any(
            p.kind is ParameterKind.VAR_POSITIONAL for p in other.parameters
        )
        if bound is None or is_undeclared:
            has_same_parameters = own.record.parameters == other.record.parameters
            return replace(call, api=chosen.name) if has_same_parameters else None
        arguments = shared_arguments(own, other, bound) | wrapping_argument(call, own, other)
        arguments |= required_settings(other)
        for attempt in range(_MAX_ATTEMPTS):
            new_arguments = draw_required_arguments(other, arguments, rng)
            if new_arguments is None:
                return None
            if attempt:  # `Upsample()` is illegal although it has no required parameter
                new_arguments |= draw_optional_argument(other, arguments | new_arguments, rng)
            if is_coherent(other.record, arguments | new_arguments):
                return call_with_arguments(
                    call, chosen.name, other.record, arguments | new_arguments
                )
        return None


def roulette(
    before: str,
    candidates: Sequence[SimilarApi],
    rng: random.Random,
    history: ReplacementHistory,
) -> SimilarApi:
    """Draw one of the candidates to replace an API, with probabilities by similarity.

    Rarely used candidates are preferred, see `_RARITY_EXPONENT`.

    Source: MoCo, section III-C.
    """
    weights = [
        max(candidate.similarity, _MIN_SIMILARITY) * history.preference(before, candidate.name)
        for candidate in candidates
    ]
    return rng.choices(candidates, weights)[0]


def shared_arguments(own: Api, other: Api, bound: BoundArguments) -> dict[str, str]:
    """Return those arguments of a call that another API accepts too.

    A function's data is matched by order, whatever the names of the parameters. A literal of a kind
    that the other API does not accept is dropped.

    Args:
        own: the API of the call.
        other: the API that replaces it.
        bound: the arguments of the call.

    Returns:
        Texts of the arguments, by parameter of the other API.
    """
    data = (
        dict(zip(data_parameters(own), data_parameters(other), strict=False))
        if not own.inputs
        else {}
    )
    parameters = {p.name: p for p in other.parameters if p.kind not in VARIADIC}
    shared = {data[name]: text for name, text in bound.named.items() if name in data}
    for name, text in bound.named.items():
        if name in data or name in shared or name in _UNSHARED_PARAMETERS or name not in parameters:
            continue
        if _accepts(parameters[name], text):
            shared[name] = text
    accepts_any_keyword = any(p.kind is ParameterKind.VAR_KEYWORD for p in other.parameters)
    further = {n: t for n, t in bound.further.items() if n in parameters or accepts_any_keyword}
    return shared | further


def wrapping_argument(call: LibraryCall, own: Api, other: Api) -> dict[str, str]:
    """Return the old layer's call as the argument of a new layer that wraps a layer.

    The result is empty if the old API is no layer, or the new one wraps none.
    """
    if own.record.kind is not CallKind.LAYER or not is_wrapper(other.record):
        return {}
    arguments = [*call.positional, *(f"{name}={text}" for name, text in call.keywords)]
    return {WRAPPED_LAYER: f"{call.api}({', '.join(arguments)})"}


def _accepts(parameter: Parameter, text: str) -> bool:
    value = value_of(text)
    return value is None or not parameter.evidence or admits(parameter.constraint, value)


def draw_required_arguments(
    api: Api, arguments: dict[str, str], rng: random.Random
) -> dict[str, str] | None:
    """Draw the missing required arguments of an API, as texts by parameter.

    The result is None if a required argument has no known legal literal.
    """
    drawn = {}
    for parameter in api.parameters:
        if parameter.name in arguments or parameter.kind in VARIADIC:
            continue
        if not parameter.required and not _needs_argument(parameter, api):
            continue
        values = drawable_values(parameter, api.record, is_needed=True)
        if values is None:
            return None
        drawn[parameter.name] = text_of(draw(values, rng))
    return drawn


def _needs_argument(parameter: Parameter, api: Api) -> bool:
    """Return whether a call needs an argument for a parameter although it has a default.

    True for an input size whose default is a number above 1, since the size must fit the input.
    (With 1, `PReLU` has one parameter for all channels.) Also true for a scale factor if the API
    has no other parameter for the output size.
    """
    if parameter.name == _SCALE_FACTOR:
        return all(other.name != "size" for other in api.parameters)
    declared = {p.name: p for p in api.record.parameters}
    default = value_of(default_of(declared[parameter.name]) or "")
    number = default.value if isinstance(default, LiteralValue) else None
    return parameter.name in INPUT_SIZES and type(number) is int and number > 1


def draw_optional_argument(
    api: Api, arguments: dict[str, str], rng: random.Random
) -> dict[str, str]:
    """Draw one optional argument that a call lacks, as text by parameter; empty if that fails."""
    missing = [p for p in api.parameters if p.name not in arguments and is_varied(p)]
    parameter = rng.choice(missing) if missing else None
    text = parameter and another_value(parameter, api.record, arguments, rng)
    return {parameter.name: text} if parameter and text else {}


def replacements_in(candidates: Iterable[CandidateBlock]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a replaced API and its replacement, of the candidates made by AR."""
    for candidate in candidates:
        if candidate.step.operator is Operator.REPLACEMENT:
            yield candidate.step.before, candidate.step.after
