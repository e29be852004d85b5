"""How well one API can stand in for another: by what it is said to do, and by its parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.records import ParameterKind
from ciguard.levels.code.knowledge import is_said
from ciguard.values import (
    AnyOf,
    Bool,
    Bytes,
    Dict,
    Dtype,
    Float,
    Int,
    Ints,
    List,
    Object,
    OneOf,
    Optional,
    String,
    Tensor,
    Tuple,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge import Api, Parameter
    from ciguard.levels.code.encoders import Encoder
    from ciguard.levels.code.knowledge import Apis
    from ciguard.values import Constraint

Kinds = frozenset[str]
"""What kinds of values a parameter takes; empty: nobody says."""
_KINDS: dict[type, str] = {
    Int: "int",
    Float: "float",
    Bool: "bool",
    String: "str",
    Bytes: "bytes",
    Dtype: "dtype",
    Ints: "list",
    List: "list",
    Tuple: "list",
    Dict: "dict",
    Object: "object",
}
_PARTS_OF_NAMES = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d[dD]?")


@dataclass(frozen=True, slots=True)
class SimilarApi:
    """An API that can stand in for another."""

    name: str
    """As the program would write it."""
    api: Api
    similarity: float


class Similarities:
    """The candidates to replace an API with; found when they are first asked for, then kept."""

    def __init__(self, apis: Apis, encoder: Encoder, *, threshold: float | None = None) -> None:
        """Prepare them.

        Args:
            apis: of the library.
            encoder: of what APIs are said to do; asked once for the APIs of a module.
            threshold: only what is more alike than this is a candidate; None for the encoder's.
        """
        self.apis = apis
        self._encoder = encoder
        self._threshold = encoder.threshold if threshold is None else threshold
        self._found: dict[str, tuple[SimilarApi, ...]] = {}
        self._vectors: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {}

    def of(self, name: str) -> tuple[SimilarApi, ...]:
        """Return the candidates for an API, the most alike first; none for an unknown one."""
        if name not in self._found:
            self._found[name] = self._candidates(name)
        return self._found[name]

    def _candidates(self, name: str) -> tuple[SimilarApi, ...]:
        own = self.apis.find(name)
        if own is None:
            return ()
        vectors = self._encoded(name, own)
        siblings = list(self.apis.siblings(name))
        if not siblings:
            return ()
        others = np.stack([vectors[api.record.api] for _, api in siblings])
        cosines = cosine_similarities(vectors[own.record.api], others)
        kinds = parameter_kinds(own)
        alike = (
            SimilarApi(spelled, api, (float(cosine) + wcr(kinds, parameter_kinds(api))) / 2)
            for (spelled, api), cosine in zip(siblings, cosines, strict=True)
        )
        chosen = [candidate for candidate in alike if candidate.similarity > self._threshold]
        return tuple(sorted(chosen, key=lambda one: (-one.similarity, one.name)))

    def _encoded(self, name: str, own: Api) -> dict[str, NDArray[np.float64]]:
        key = (name.rpartition(".")[0], own.record.kind.value)
        if key not in self._vectors:
            family = self.apis.family(name)
            rows = self._encoder.encode([definition(record) for record, _ in family.values()])
            self._vectors[key] = dict(zip(family, rows, strict=True))
        return self._vectors[key]


def definition(record: ApiRecord) -> str:
    """Return what an API is said to do: the words of its signature, and its first paragraph.

    Many are documented by one line, or by none: then only names tell that two have much in common.
    """
    names = [record.api.rpartition(".")[2], *(parameter.name for parameter in record.parameters)]
    words = [word for name in names for word in _PARTS_OF_NAMES.findall(name)]
    return f"{' '.join(words)}. {record.doc}"


def cosine_similarities(
    vector: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the cosines between one vector and others.

    Args:
        vector: of length 0 or 1, shape (d,).
        others: of length 0 or 1 each, shape (n, d).

    Returns:
        Shape (n,), in [-1, 1]; 0 where one of the two has length 0.
    """
    cosines: NDArray[np.float64] = others @ vector
    return cosines.clip(-1.0, 1.0)


def wcr(own: Sequence[Kinds], other: Sequence[Kinds]) -> float:
    """Return the word correctness rate of a parameter list, (N1 - D - S) / N1.

    The lists are aligned with the fewest substitutions (S), deletions (D) and insertions; of
    alignments with equally few, the one that keeps most parameters. A parameter is kept where
    both take a kind of value at one place of the alignment. N1 - D - S parameters are kept, so
    that the rate is in [0, 1]: insertions, which could make it negative, are not counted.

    Args:
        own: N1 parameters, as the kinds of values that they take.
        other: those of the API that is compared.

    Returns:
        1 where neither has a parameter, 0 where only `other` has.

    Source: MoCo, section III-C.
    """
    if not own:
        return float(not other)
    # Of every prefix of `other`: (edits, -kept), the least first.
    best = [(edits, 0) for edits in range(len(other) + 1)]
    for place, kinds in enumerate(own, start=1):
        row = [(place, 0)]
        for at, others in enumerate(other, start=1):
            is_kept = is_match(kinds, others)
            edits, kept = best[at - 1]
            row.append(
                min(
                    (edits + (not is_kept), kept - is_kept),
                    (best[at][0] + 1, best[at][1]),
                    (row[-1][0] + 1, row[-1][1]),
                )
            )
        best = row
    return -best[-1][1] / len(own)


def is_match(own: Kinds, other: Kinds) -> bool:
    """Return whether two parameters take a kind of value in common, or nobody says of both."""
    return bool(own & other) or not (own or other)


def parameter_kinds(api: Api) -> tuple[Kinds, ...]:
    """Return the kinds of values that the parameters of an API take, in order.

    Catch-alls (`**kwargs`) are no parameters.
    """
    return tuple(
        kinds_of(parameter)
        for parameter in api.parameters
        if parameter.kind is not ParameterKind.VAR_KEYWORD
    )


def kinds_of(parameter: Parameter) -> Kinds:
    """Return the kinds of values that a parameter takes; None is left out, any may be absent."""
    return _kinds(parameter.constraint) if is_said(parameter) else frozenset()


def _kinds(constraint: Constraint) -> Kinds:
    match constraint:
        case Optional(inner):
            return _kinds(inner)
        case AnyOf(options):
            return frozenset[str]().union(*(_kinds(option) for _, option in options))
        case OneOf(values):
            scalars = {type(getattr(value, "value", value)).__name__ for value in values}
            return frozenset(scalars - {"NoneType"})
        case Tensor():
            return frozenset({"tensor"})
        case _:
            return frozenset({_KINDS[type(constraint)]})
