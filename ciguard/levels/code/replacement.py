"""API replacement (AR): another API in place of a call's own, found by likeness (MoCo, III-C)."""

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
from ciguard.levels.code.calling import made_with, used
from ciguard.levels.code.coherence import is_coherent
from ciguard.levels.code.generation import another, drawable, is_varied
from ciguard.levels.code.knowledge import INPUT_SIZES, WRAPPED, data_of, is_wrapper
from ciguard.levels.code.legal import admits, draw
from ciguard.levels.code.literals import text_of, value_of

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.binding import Bound
    from ciguard.levels.code.blocks import Block, LibraryCall
    from ciguard.levels.code.nodes import CandidateBlock
    from ciguard.levels.code.similarity import SimilarApi, Similarities

_NOT_HANDED_ON = frozenset({"inplace"})
"""Right for one API and wrong for another: what it overwrites may be needed to go backwards."""
_LEAST = 0.01
"""Similarity that counts where nothing is said of an API, `Tanh()` of Jittor for one."""
_EAGERNESS = 8
"""How much more readily what was put in less often is: time is for some thousands of programs, not
for the hundreds of thousands of the paper, and some layers of a library are tried only so."""
_RAN = 3
"""An API whose block ran counts as so many tries."""
_TRIES = 16
_FACTOR = "scale_factor"


@dataclass(frozen=True, slots=True)
class ReplacementHistory:
    """What came of APIs that were put in the place of others. Its owner keeps it up to date."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    """API that was replaced, and by which → how often: what fails in the place of a convolution
    may run in that of a recurrent layer."""
    ran: Counter[str] = field(default_factory=Counter)
    """API → how often its block ran, in whose place it may have been."""

    def eagerness(self, before: str, after: str) -> float:
        """Return how readily an API is put in the place of another, 1 where nothing is known."""
        return float((1 + self.tried[before, after] + _RAN * self.ran[after]) ** -_EAGERNESS)


class Replacement:
    """The operator AR."""

    def __init__(
        self, similarities: Similarities, experience: ReplacementHistory | None = None
    ) -> None:
        """Prepare it for a library's APIs.

        Args:
            similarities: of its APIs.
            experience: with them.
        """
        self._similarities = similarities
        self._experience = experience or ReplacementHistory()

    def __call__(self, block: Block, place: int, rng: random.Random) -> BlockMutant | None:
        """Return the block with another API in place of that of one call.

        The new call takes the arguments that both know, by name; of those that it needs and the
        old one lacks, legal values are drawn. Where its layer is called in another way than the old
        one, with two tensors for one, the block calls it so.

        Args:
            block: to be mutated.
            place: of the call in the block.
            rng: what chance there is.

        Returns:
            None where no other API is alike enough, can be made with literals and be called where
            the program calls its own.
        """
        call = block.calls[place]
        own = self._similarities.apis.find(call.api)
        if own is None:
            return None
        alike = self._similarities.of(call.api)
        uses = {one.name: used(call, own, one.api) for one in alike}
        candidates = [one for one in alike if uses[one.name] is not None]
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
        # Of `LSTM(*args, **kwargs)` only other texts tell what it takes.
        is_unsaid = other.record.strangers and any(
            p.kind is ParameterKind.VAR_POSITIONAL for p in other.parameters
        )
        if bound is None or is_unsaid:
            is_alike = own.record.parameters == other.record.parameters
            return replace(call, api=chosen.name) if is_alike else None
        kept = handed_on(own, other, bound) | wrapped(call, own, other)
        kept |= made_with(other)
        for attempt in range(_TRIES):
            drawn = needed(other, kept, rng)
            if drawn is None:
                return None
            if attempt:  # `Upsample()` is legal nowhere, although nothing is required of it
                drawn |= one_more(other, kept | drawn, rng)
            if is_coherent(other.record, kept | drawn):
                return arranged(call, chosen.name, other.record, kept | drawn)
        return None


def roulette(
    before: str,
    candidates: Sequence[SimilarApi],
    rng: random.Random,
    experience: ReplacementHistory,
) -> SimilarApi:
    """Draw one of the candidates to replace an API, each as likely as its similarity is large.

    But first of all those that were used least, see `_EAGERNESS`.

    Source: MoCo, section III-C.
    """
    weights = [
        max(one.similarity, _LEAST) * experience.eagerness(before, one.name) for one in candidates
    ]
    return rng.choices(candidates, weights)[0]


def handed_on(own: Api, other: Api, bound: Bound) -> dict[str, str]:
    """Return the arguments of a call that another API takes as well, as text by parameter.

    The data of a function goes by its order, whatever the parameters are called. A literal of a
    kind that the other API does not take is dropped.
    """
    data = dict(zip(data_of(own), data_of(other), strict=False)) if not own.inputs else {}
    known = {p.name: p for p in other.parameters if p.kind not in VARIADIC}
    kept = {data[name]: text for name, text in bound.named.items() if name in data}
    for name, text in bound.named.items():
        if name in data or name in kept or name in _NOT_HANDED_ON or name not in known:
            continue
        if _is_taken(known[name], text):
            kept[name] = text
    takes_any = any(p.kind is ParameterKind.VAR_KEYWORD for p in other.parameters)
    further = {n: t for n, t in bound.further.items() if n in known or takes_any}
    return kept | further


def wrapped(call: LibraryCall, own: Api, other: Api) -> dict[str, str]:
    """Return a call of a layer as the argument of another one that wraps a layer; else nothing."""
    if own.record.kind is not CallKind.LAYER or not is_wrapper(other.record):
        return {}
    arguments = [*call.positional, *(f"{name}={text}" for name, text in call.keywords)]
    return {WRAPPED: f"{call.api}({', '.join(arguments)})"}


def _is_taken(parameter: Parameter, text: str) -> bool:
    value = value_of(text)
    return value is None or not parameter.evidence or admits(parameter.constraint, value)


def needed(api: Api, given: dict[str, str], rng: random.Random) -> dict[str, str] | None:
    """Draw what an API has to be given and is not; None where that is not a literal."""
    drawn = {}
    for parameter in api.parameters:
        if parameter.name in given or parameter.kind in VARIADIC:
            continue
        if not parameter.required and not _is_asked(parameter, api):
            continue
        part = drawable(parameter, api.record, is_needed=True)
        if part is None:
            return None
        drawn[parameter.name] = text_of(draw(part, rng))
    return drawn


def _is_asked(parameter: Parameter, api: Api) -> bool:
    """Return whether a parameter that has a default is to be given nevertheless.

    A size of what comes in whose default is a number is, to be repaired; not 1: `PReLU` has one
    parameter for all channels then. So is a factor where nothing else says what size comes out.
    """
    if parameter.name == _FACTOR:
        return all(one.name != "size" for one in api.parameters)
    declared = {p.name: p for p in api.record.parameters}
    default = value_of(default_of(declared[parameter.name]) or "")
    number = default.value if isinstance(default, LiteralValue) else None
    return parameter.name in INPUT_SIZES and type(number) is int and number > 1


def one_more(api: Api, given: dict[str, str], rng: random.Random) -> dict[str, str]:
    """Draw one of the arguments that a call may go without; none where it has all of them."""
    able = [p for p in api.parameters if p.name not in given and is_varied(p)]
    parameter = rng.choice(able) if able else None
    text = parameter and another(parameter, api.record, given, rng)
    return {parameter.name: text} if parameter and text else {}


def replaced_by(candidates: Iterable[CandidateBlock]) -> Iterator[tuple[str, str]]:
    """Yield the APIs that were replaced and by which, where one was."""
    for candidate in candidates:
        if candidate.step.operator is Operator.REPLACEMENT:
            yield candidate.step.before, candidate.step.after
