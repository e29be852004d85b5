"""Similarity of APIs, by their descriptions and parameters, to find replacements of an API."""

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
    """Qualified name, in the module that the program uses."""
    api: Api
    """The API with its constraints."""
    similarity: float
    """Mean of the similarities of descriptions and of parameters, from -0.5 to 1."""


class Similarities:
    """Candidates that may replace an API; computed once per API."""

    def __init__(self, apis: Apis, encoder: Encoder, *, threshold: float | None = None) -> None:
        """Create the similarities of a library.

        Args:
            apis: the APIs of the library.
            encoder: the encoder of API descriptions, called once per module.
            threshold: the similarity that candidates must exceed; None for the encoder's threshold.
        """
        self.apis = apis
        self._encoder = encoder
        self._threshold = encoder.threshold if threshold is None else threshold
        self._cached: dict[str, tuple[SimilarApi, ...]] = {}
        self._vectors: dict[tuple[str, str], dict[str, NDArray[np.float64]]] = {}

    def candidates_for(self, name: str) -> tuple[SimilarApi, ...]:
        """Return the candidates to replace an API, most similar first; empty if it is unknown."""
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
                alias, api, (float(cosine) + parameter_match_rate(kinds, parameter_kinds(api))) / 2
            )
            for (alias, api), cosine in zip(siblings, cosines, strict=True)
        )
        selected = [candidate for candidate in candidates if candidate.similarity > self._threshold]
        return tuple(
            sorted(selected, key=lambda candidate: (-candidate.similarity, candidate.name))
        )

    def _encoded(self, name: str, own: Api) -> dict[str, NDArray[np.float64]]:
        """Return the vectors of the APIs in an API's family, by canonical name."""
        key = (name.rpartition(".")[0], own.record.kind.value)
        if key not in self._vectors:
            family = self.apis.family(name)
            rows = self._encoder.encode([description(record) for record, _ in family.values()])
            self._vectors[key] = dict(zip(family, rows, strict=True))
        return self._vectors[key]


def description(record: ApiRecord) -> str:
    """Return the text to encode: the words of the API's signature, and its documentation.

    Names are included because many APIs have at most one line of documentation.
    """
    names = [record.api.rpartition(".")[2], *(parameter.name for parameter in record.parameters)]
    words = [word for name in names for word in _NAME_PART.findall(name)]
    return f"{' '.join(words)}. {record.doc}"


def cosine_similarities(
    vector: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the cosines between one vector and each of several vectors.

    Args:
        vector: a vector of norm 0 or 1, shape (d,).
        others: vectors of norm 0 or 1, shape (n, d).

    Returns:
        Cosines in [-1, 1], shape (n,); 0 if one of the two vectors has norm 0.
    """
    cosines: NDArray[np.float64] = others @ vector
    return cosines.clip(-1.0, 1.0)


def parameter_match_rate(own: Sequence[Kinds], other: Sequence[Kinds]) -> float:
    """Return the share of an API's parameters that match those of another API, (N1 - D - S) / N1.

    MoCo calls it the word correctness rate. The parameter lists are aligned with the fewest
    substitutions (S), deletions (D) and insertions. Of several such alignments, the one with most
    matches counts. A parameter matches the one aligned with it if both accept a common kind of
    value. There are N1 - D - S matches. Insertions, which could make the rate negative, are not
    counted.

    Args:
        own: the kinds of values that the N1 parameters of the API accept.
        other: the kinds of values that the parameters of the other API accept.

    Returns:
        A rate in [0, 1]; 1 if neither API has parameters, 0 if only the other API has some.

    Source: MoCo, section III-C.
    """
    if not own:
        return float(not other)
    # For each prefix of `other`: the minimum of (edits, -matches).
    best = [(edits, 0) for edits in range(len(other) + 1)]
    for length, kinds in enumerate(own, start=1):
        row = [(length, 0)]
        for i, other_kinds in enumerate(other, start=1):
            matches = is_match(kinds, other_kinds)
            edits, negative_count = best[i - 1]
            row.append(
                min(
                    (edits + (not matches), negative_count - matches),
                    (best[i][0] + 1, best[i][1]),
                    (row[-1][0] + 1, row[-1][1]),
                )
            )
        best = row
    return -best[-1][1] / len(own)


def is_match(own: Kinds, other: Kinds) -> bool:
    """Return whether two parameters accept a common kind of value; two unknown kinds match too."""
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
