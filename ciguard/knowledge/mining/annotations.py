"""Labelled sentences: carries labels over from annotated spans to our own normal form."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ciguard.knowledge.mining.concrete import FIELDS, forms, instantiate, is_form
from ciguard.knowledge.mining.keywords import dtype_name, structure_name
from ciguard.knowledge.mining.parameter_texts import SentenceForm, TextSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from ciguard.knowledge.mining.normalise import Token

Labels: TypeAlias = "frozenset[tuple[str, str]]"
"""Fields and abstract values."""

_COVERED = 0.6
"""Share of a sentence that a span must cover to be its label as well as that of a better one."""
_ALIKE = 0.5
"""Share of common words that makes a normalised label and a sentence the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """One labelled span of a parameter's documentation."""

    library: str
    api: str
    parameter: str
    source: TextSource
    span: str = ""
    """The text as it stands in the documentation; empty where it is not known."""
    normalised: str = ""
    """The annotators' normal form of it."""
    abstract: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    concrete: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnnotatedSentence:
    """A sentence in normal form, and its constraints."""

    words: tuple[str, ...]
    labels: Labels


def samples_of(
    texts: Mapping[TextSource, str],
    forms: Sequence[SentenceForm],
    annotations: Iterable[Annotation],
) -> list[AnnotatedSentence]:
    """Return the sentences of one parameter that annotations speak of, with their labels.

    Args:
        texts: the texts that the spans are from.
        forms: the sentences of these texts.
        annotations: those of this parameter.
    """
    labels: dict[int, set[tuple[str, str]]] = defaultdict(set)
    for annotation in annotations:
        for rank, number in enumerate(_spoken_of(texts, forms, annotation)):
            found = transferred(forms[number].tokens, annotation.abstract, annotation.concrete)
            # A literal is said once; a placeholder wherever the sentence has it.
            labels[number] |= {one for one in found if rank == 0 or is_form(one[1])}
    return [AnnotatedSentence(forms[n].words, frozenset(labels[n])) for n in sorted(labels)]


def _spoken_of(
    texts: Mapping[TextSource, str], forms: Sequence[SentenceForm], annotation: Annotation
) -> list[int]:
    """Return the numbers of the sentences that a span covers, the best covered one first."""
    numbers = [n for n, form in enumerate(forms) if form.source is annotation.source]
    if annotation.source is not TextSource.DESCRIPTION or not numbers:
        return numbers
    start = texts[annotation.source].find(annotation.span) if annotation.span else -1
    if start < 0:
        return _most_alike(forms, numbers, annotation.normalised)
    end = start + len(annotation.span)
    overlaps = {n: min(end, forms[n].end) - max(start, forms[n].start) for n in numbers}
    best = max(numbers, key=lambda n: overlaps[n])
    if overlaps[best] <= 0:
        return []
    covered = (n for n in numbers if overlaps[n] > _COVERED * len(forms[n].text))
    return [best, *(n for n in covered if n != best)]


def _most_alike(forms: Sequence[SentenceForm], numbers: list[int], normalised: str) -> list[int]:
    words = set(normalised.lower().split())
    shares = {n: _common_share(words, {word.lower() for word in forms[n].words}) for n in numbers}
    best = max(numbers, key=lambda n: shares[n])
    return [best] if shares[best] > _ALIKE else []


def _common_share(some: set[str], others: set[str]) -> float:
    return len(some & others) / max(1, len(some | others))


def transferred(
    tokens: Sequence[Token],
    abstract: Mapping[str, Collection[str]],
    concrete: Mapping[str, Collection[str]],
) -> Labels:
    """Return the abstract constraints that mean the same in our normal form of a sentence.

    A label names placeholders of the annotators' normal form. What it stands for is known, too,
    so a placeholder of ours is right exactly if it yields the same values.
    """
    return frozenset(
        (name, value)
        for name in FIELDS
        if (wanted := {_canonical(name, value) for value in concrete.get(name, ())})
        for value in _abstract(name, abstract.get(name, ()), wanted, tokens)
    )


def _abstract(
    name: str, labelled: Collection[str], wanted: set[str], tokens: Sequence[Token]
) -> set[str]:
    said = {"dtype" if value.endswith(".dtype") else value for value in labelled}
    possible = [form for form in forms(name) if instantiate(name, form, tokens)]
    literals = said & wanted
    candidates = [said, *({form} for form in possible), *({form, *literals} for form in possible)]
    for candidate in candidates:
        if _made(name, candidate, tokens) == wanted:
            return candidate
    by_word = name in {"dtype", "structure"}
    if by_word and not any(is_form(value) for value in said):
        return wanted
    # The label stands, as far as the sentence has what it speaks of.
    kept = {value for value in said if instantiate(name, value, tokens)}
    return kept or (wanted if by_word else set())


def _made(name: str, values: Collection[str], tokens: Sequence[Token]) -> set[str]:
    return {_canonical(name, made) for value in values for made in instantiate(name, value, tokens)}


def _canonical(name: str, value: str) -> str:
    if name == "enum":
        return value
    value = value.lower().replace(" ", "")
    if name == "dtype":
        return dtype_name(value) or value
    if name == "structure":
        return structure_name(value) or value
    return value
