"""Similarity of APIs, of which one replaces another: by their descriptions and parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ciguard.domain.records import ParameterKind
from ciguard.levels.code.knowledge import is_documented
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
"""Kinds of values that a parameter accepts; empty if unknown."""
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
_NAME_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d[dD]?")


@dataclass(frozen=True, slots=True)
class SimilarApi:
    """An API that can replace another one."""

    name: str
    """Name as the program would write it."""
    api: Api
    similarity: float
    """Mean of description and parameter similarity, from -0.5 to 1."""


class Similarities:
    """The candidates to replace an API with, computed once per API."""

    def __init__(self, apis: Apis, encoder: Encoder, *, threshold: float | None = None) -> None:
        """Create the similarities of a library.

        Args:
            apis: the APIs of the library.
            encoder: the encoder of API descriptions, called once per module.
            threshold: the similarity that candidates must exceed; None for the encoder's.
        """
        self.apis = apis
        self._encoder = encoder
        self._threshold = encoder.threshold if threshold is None else threshold
        self._cached: dict[str, tuple[SimilarApi, ...]] = {}
        self._vectors: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {}

    def of(self, name: str) -> tuple[SimilarApi, ...]:
        """Return the candidates for an API, the most similar first; none for an unknown API."""
        if name not in self._cached:
            self._cached[name] = self._candidates(name)
        return self._cached[name]

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
        candidates = (
            SimilarApi(
                alias, api, (float(cosine) + word_correctness_rate(kinds, parameter_kinds(api))) / 2
            )
            for (alias, api), cosine in zip(siblings, cosines, strict=True)
        )
        selected = [candidate for candidate in candidates if candidate.similarity > self._threshold]
        return tuple(
            sorted(selected, key=lambda candidate: (-candidate.similarity, candidate.name))
        )

    def _encoded(self, name: str, own: Api) -> dict[str, NDArray[np.float64]]:
        key = (name.rpartition(".")[0], own.record.kind.value)
        if key not in self._vectors:
            family = self.apis.family(name)
            rows = self._encoder.encode([definition(record) for record, _ in family.values()])
            self._vectors[key] = dict(zip(family, rows, strict=True))
        return self._vectors[key]


def definition(record: ApiRecord) -> str:
    """Return an API's description: the words of its signature, and its first paragraph.

    Many APIs have one line of documentation or none, so that only names show the similarity.
    """
    names = [record.api.rpartition(".")[2], *(parameter.name for parameter in record.parameters)]
    words = [word for name in names for word in _NAME_PART.findall(name)]
    return f"{' '.join(words)}. {record.doc}"


def cosine_similarities(
    vector: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the cosines between one vector and others.

    Args:
        vector: a vector of length 0 or 1, shape (d,).
        others: vectors of length 0 or 1, shape (n, d).

    Returns:
        Cosines in [-1, 1], shape (n,); 0 if one of the two vectors has length 0.
    """
    cosines: NDArray[np.float64] = others @ vector
    return cosines.clip(-1.0, 1.0)


def word_correctness_rate(own: Sequence[Kinds], other: Sequence[Kinds]) -> float:
    """Return the word correctness rate of a parameter list, (N1 - D - S) / N1.

    The lists are aligned with the fewest substitutions (S), deletions (D) and insertions; among
    equal alignments, the one that keeps most parameters. A parameter is kept if both accept a
    common kind of value at one position of the alignment. N1 - D - S parameters are kept, so the
    rate is in [0, 1]. Insertions, which could make it negative, are not counted.

    Args:
        own: the kinds of values that the N1 parameters accept.
        other: the kinds of values of the compared API's parameters.

    Returns:
        A rate in [0, 1]; 1 if neither API has parameters, 0 if only `other` has.

    Source: MoCo, section III-C.
    """
    if not own:
        return float(not other)
    # For every prefix of `other`: the minimum of (edits, -kept).
    best = [(edits, 0) for edits in range(len(other) + 1)]
    for length, kinds in enumerate(own, start=1):
        row = [(length, 0)]
        for i, others in enumerate(other, start=1):
            is_kept = is_match(kinds, others)
            edits, kept = best[i - 1]
            row.append(
                min(
                    (edits + (not is_kept), kept - is_kept),
                    (best[i][0] + 1, best[i][1]),
                    (row[-1][0] + 1, row[-1][1]),
                )
            )
        best = row
    return -best[-1][1] / len(own)


def is_match(own: Kinds, other: Kinds) -> bool:
    """Return whether two parameters accept a common kind of value, or both kinds are unknown."""
    return bool(own & other) or not (own or other)


def parameter_kinds(api: Api) -> tuple[Kinds, ...]:
    """Return the kinds of values that an API's parameters accept, in order.

    Catch-alls (`**kwargs`) are skipped.
    """
    return tuple(
        kinds_of(parameter)
        for parameter in api.parameters
        if parameter.kind is not ParameterKind.VAR_KEYWORD
    )


def kinds_of(parameter: Parameter) -> Kinds:
    """Return the kinds of values that a parameter accepts, without None."""
    return _kinds(parameter.constraint) if is_documented(parameter) else frozenset()


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
