"""Judged calls that are kept, so that defects can be planted into them after exploring.

A long run judges thousands of calls of an API, and keeps a small number. So that these show nearly
what all calls would show, calls are kept that have something which few kept ones have.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.detection import DefectKind
from ciguard.domain.dtypes import FLOATING
from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.values import Constant, Explicit, LiteralValue, Special, TensorValue
from ciguard.execution import Container, TensorDigest, TensorOutput, decode_outputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output

_MAX_FIRST = 24
"""Number of calls of an API that are kept, whatever they are."""
_MAX_ALIKE = 4
"""Number of calls of an API that are kept for each of their traits."""
_MAX_DECISIVE = 12
"""Number of calls of an API that are kept for each trait that a kind of defect needs. It is higher
as not each of them shows the defect: special elements may lack infinity, and a gradient may not be
finite."""
_MAX_CALLS = 96
"""Number of calls of an API from which on only those are kept that a kind of defect needs, or that
have a relation."""
_MAX_ENCODED = 1 << 16
"""Maximum size of the recorded results of one call, in bytes."""
_MAX_LIKELY, _MAX_UNLIKELY = 40, 8
"""Maximum numbers of calls to try for each defect."""
_NAN = "NaN"
NO_ELEMENTS, NO_AXES, INFINITY = EDGES = ("no elements", "no axes", "infinity")
"""Arguments that crash, see `ciguard.execution.worker.planting`."""


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A call that exploring has judged."""

    call: ApiCall
    outcomes: Mapping[str, Outcome]
    """Outcomes by target."""

    @property
    def is_rejected(self) -> bool:
        """True if the API has rejected the call on a target."""
        return any(
            isinstance(outcome, Rejected) and outcome.stage is Stage.CALL
            for outcome in self.outcomes.values()
        )

    @property
    def has_nan(self) -> bool:
        """True if a result has NaN."""
        return any(
            isinstance(tensor, TensorOutput)
            and tensor.dtype in FLOATING
            and bool(np.isnan(tensor.elements).any())
            for tensor in self.tensors()
        )

    def tensors(self) -> Iterator[TensorOutput | TensorDigest]:
        """Yield the tensors that a defect would change: each result, or its first item."""
        for outcome in self.outcomes.values():
            if isinstance(outcome, Passed):
                yield from _first_tensor(decode_outputs(outcome.encoded))


def _first_tensor(output: Output | None) -> list[TensorOutput | TensorDigest]:
    if isinstance(output, Container) and output.items:
        output = output.items[0]
    return [output] if isinstance(output, TensorOutput | TensorDigest) else []


@dataclass(slots=True)
class SampledCalls:
    """Judged calls of the sampled APIs of one library."""

    apis: tuple[str, ...]
    """Sampled APIs."""
    calls: dict[str, list[JudgedCall]] = field(default_factory=dict)
    """Kept calls by API."""
    _traits: dict[str, Counter[str]] = field(default_factory=dict)
    """Numbers of kept calls with each trait, by API."""

    def keep(self, call: ApiCall, outcomes: Mapping[str, Outcome]) -> None:
        """Keep a judged call of a sampled API if it is one of the first, or unlike the others."""
        kept = self.calls.setdefault(call.api, [])
        size = sum(len(item.encoded) for item in outcomes.values() if isinstance(item, Passed))
        if size > _MAX_ENCODED:
            return
        known = self._traits.setdefault(call.api, Counter())
        judged = JudgedCall(call, outcomes)
        decisive, others = _decisive_traits(judged), {*call_traits(call)}
        if INFINITY in decisive and known[_NAN] < _MAX_DECISIVE and judged.has_nan:
            decisive.add(_NAN)  # looked for where it is likely, as decoding takes long
        is_wanted = any(known[trait] < _MAX_DECISIVE for trait in decisive)
        wanted = others if len(kept) < _MAX_CALLS else {*_relation_traits(call)}
        is_wanted |= any(known[trait] < _MAX_ALIKE for trait in wanted)
        if len(kept) < _MAX_FIRST or is_wanted:
            known.update(decisive | others)
            kept.append(judged)


def _decisive_traits(judged: JudgedCall) -> set[str]:
    """Return traits without which a call does not show defects of one kind."""
    call = judged.call
    passed = [isinstance(outcome, Passed) for outcome in judged.outcomes.values()]
    traits = {"passed"} if any(passed) else {"rejected"} if judged.is_rejected else set()
    if "gradient" in call.relation and all(passed):
        traits.add("gradient")
    for value in call.values:
        if isinstance(value, TensorValue):
            traits.update(_edges(value))
    return traits


def call_traits(call: ApiCall) -> Iterator[str]:
    """Yield what may decide which defects a call shows: relation, keywords, and tensors."""
    yield from _relation_traits(call)
    for name, argument in call.keywords:
        yield f"keyword {name}"
        if isinstance(argument, LiteralValue) and isinstance(argument.value, bool | str | int):
            yield f"keyword {name}={argument.value}"
    for value in call.values:
        if isinstance(value, TensorValue):
            yield f"{value.dtype} {type(value.fill).__name__}"
            yield from _edges(value)


def _relation_traits(call: ApiCall) -> Iterator[str]:
    if call.relation:
        yield f"relation {call.relation}"


def _edges(tensor: TensorValue) -> Iterator[str]:
    if 0 in tensor.shape:
        yield NO_ELEMENTS
    elif not tensor.shape:
        yield NO_AXES
    if tensor.dtype in FLOATING and _may_not_be_finite(tensor):
        yield INFINITY


def _may_not_be_finite(tensor: TensorValue) -> bool:
    match tensor.fill:
        case Special():
            return True
        case Constant(value):
            return not _is_finite(value)
        case Explicit(data):
            return not all(map(_is_finite, data))
        case _:
            return False


def _is_finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)  # an int may be too large for a float


def calls_to_try(calls: list[JudgedCall], kind: DefectKind, detail: str) -> list[JudgedCall]:
    """Return the calls that are likely to show a kind of defect, then a few of the others.

    Calls with and without a relation alternate, and those with one begin with each relation: some
    defects are only noticed by comparing targets, others only by one relation.
    """
    likely: list[JudgedCall] = []
    others: list[JudgedCall] = []
    for judged in calls:
        (likely if _is_likely(judged, kind, detail) else others).append(judged)
    by_relation: dict[str, list[JudgedCall]] = {"": []}
    for judged in likely:
        by_relation.setdefault(judged.call.relation, []).append(judged)
    plain = by_relation.pop("")
    ordered = _alternating([plain, _alternating([*by_relation.values()])])
    return [*ordered[:_MAX_LIKELY], *others[:_MAX_UNLIKELY]]


def _alternating(lists: Sequence[Sequence[JudgedCall]]) -> list[JudgedCall]:
    """Return the items of several lists, one of each list in turn."""
    return [judged for row in zip_longest(*lists) for judged in row if judged is not None]


def _is_likely(judged: JudgedCall, kind: DefectKind, detail: str) -> bool:
    match kind:
        case DefectKind.GRADIENT:
            return "gradient" in _decisive_traits(judged)
        case DefectKind.CRASH:
            return detail in call_traits(judged.call)
        case DefectKind.EXCEPTION | DefectKind.ACCEPTANCE:
            return judged.is_rejected
        case DefectKind.IGNORED:
            return any(name == detail for name, _ in judged.call.keywords)
        case DefectKind.NAN:
            return judged.has_nan
        case _:
            return any(isinstance(outcome, Passed) for outcome in judged.outcomes.values())
