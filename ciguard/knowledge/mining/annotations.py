"""Transfers the labels of annotated spans to sentences in ciguard's normal form."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.knowledge.mining.concrete import (
    FIELDS,
    has_placeholder,
    instantiate,
    placeholder_forms,
)
from ciguard.knowledge.mining.keywords import dtype_name, structure_name
from ciguard.knowledge.mining.parameter_texts import SentenceForm, TextSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ciguard.knowledge.mining.normalise import Token

Labels: TypeAlias = "frozenset[tuple[str, str]]"
"""Labels of a sentence: pairs of a field and an abstract value."""

_MIN_COVERED_SHARE = 0.6
"""Minimum share of a further sentence that a span must cover to label that sentence too."""
_MIN_COMMON_SHARE = 0.5
"""Minimum share of common words for which a normalised span matches a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One labelled span of a parameter's documentation."""

    library: str
    """Name of the library."""
    api: str
    """Qualified name of the API."""
    parameter: str
    """Name of the parameter."""
    source: TextSource
    """Kind of text about the parameter that contains the span."""
    span: str = ""
    """Span as written in the documentation; empty if unknown."""
    normalised: str = ""
    """Span in the annotators' normal form."""
    abstract: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Abstract values of the label, by field."""
    concrete: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Concrete values of the label, by field."""


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """Sentence in normal form with its labels."""

    words: tuple[str, ...]
    """Words and placeholders of the normal form."""
    labels: Labels
    """Constraints that the sentence states."""


def labelled_sentences(
    texts: Mapping[TextSource, str],
    forms: Sequence[SentenceForm],
    annotations: Iterable[Annotation],
) -> list[AnnotatedSentence]:
    """Return the annotated sentences of one parameter with their labels.

    Args:
        texts: the texts of the parameter, by source.
        forms: the sentences of the texts, in normal form.
        annotations: the annotations of the parameter.
    """
    labels: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for annotation in annotations:
        for rank, number in enumerate(_covered_sentences(texts, forms, annotation)):
            candidates = transferred_labels(
                forms[number].tokens, annotation.abstract, annotation.concrete
            )
            # Only the sentence that is covered best gets literals; each gets its own placeholders.
            labels[number] |= {
                label for label in candidates if rank == 0 or has_placeholder(label[1])
            }
    return [AnnotatedSentence(forms[n].words, frozenset(labels[n])) for n in sorted(labels)]


def _covered_sentences(
    texts: Mapping[TextSource, str], forms: Sequence[SentenceForm], annotation: Annotation
) -> list[int]:
    """Return the indices of the sentences that a span covers, the one covered best first."""
    numbers = [n for n, form in enumerate(forms) if form.source is annotation.source]
    if annotation.source is not TextSource.DESCRIPTION or not numbers:
        return numbers
    start = texts[annotation.source].find(annotation.span) if annotation.span else -1
    if start < 0:
        return _most_similar(forms, numbers, annotation.normalised)
    end = start + len(annotation.span)
    overlaps = {n: min(end, forms[n].end) - max(start, forms[n].start) for n in numbers}
    best = max(numbers, key=lambda n: overlaps[n])
    if overlaps[best] <= 0:
        return []
    covered_numbers = (n for n in numbers if overlaps[n] > _MIN_COVERED_SHARE * len(forms[n].text))
    return [best, *(n for n in covered_numbers if n != best)]


def _most_similar(forms: Sequence[SentenceForm], numbers: list[int], normalised: str) -> list[int]:
    """Return the index of the sentence that is most similar to a span; empty if none is."""
    words = set(normalised.lower().split())
    shares = {n: _common_share(words, {word.lower() for word in forms[n].words}) for n in numbers}
    best = max(numbers, key=lambda n: shares[n])
    return [best] if shares[best] > _MIN_COMMON_SHARE else []


def _common_share(first: set[str], second: set[str]) -> float:
    return len(first & second) / max(1, len(first | second))


def transferred_labels(
    tokens: Sequence[Token],
    abstract: Mapping[str, Collection[str]],
    concrete: Mapping[str, Collection[str]],
) -> Labels:
    """Return the labels of a sentence, with the placeholders of ciguard's normal form.

    An annotation has placeholders of the annotators' normal form, and their concrete values. A
    placeholder of ciguard replaces them if and only if it has the same concrete values.

    Args:
        tokens: the sentence in ciguard's normal form.
        abstract: the annotated values with placeholders, by field.
        concrete: the annotated concrete values, by field.
    """
    return frozenset(
        (name, value)
        for name in FIELDS
        if (expected := {_canonical(name, value) for value in concrete.get(name, ())})
        for value in _transferred_values(name, abstract.get(name, ()), expected, tokens)
    )


def _transferred_values(
    name: str, annotated_values: Collection[str], expected_values: set[str], tokens: Sequence[Token]
) -> set[str]:
    """Return the abstract values of a field whose concrete values are `expected_values`."""
    values = {"dtype" if value.endswith(".dtype") else value for value in annotated_values}
    possible_values = [form for form in placeholder_forms(name) if instantiate(name, form, tokens)]
    literals = values & expected_values
    candidates = [
        values,
        *({form} for form in possible_values),
        *({form, *literals} for form in possible_values),
    ]
    for candidate in candidates:
        if _instantiated(name, candidate, tokens) == expected_values:
            return candidate
    by_word = name in {"dtype", "structure"}
    if by_word and not any(has_placeholder(value) for value in values):
        return expected_values
    # Keep the part of the label for which the sentence has placeholders.
    supported_values = {value for value in values if instantiate(name, value, tokens)}
    return supported_values or (expected_values if by_word else set())


def _instantiated(name: str, values: Collection[str], tokens: Sequence[Token]) -> set[str]:
    return {
        _canonical(name, concrete)
        for value in values
        for concrete in instantiate(name, value, tokens)
    }


def _canonical(name: str, value: str) -> str:
    """Return the concrete value of a field in a form that can be compared."""
    if name == "enum":
        return value
    value = value.lower().replace(" ", "")
    if name == "dtype":
        return dtype_name(value) or value
    if name == "structure":
        return structure_name(value) or value
    return value
