"""Joins labelled sentences with the documentation they are from, and learns from both."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ciguard.knowledge.mining.annotations import AnnotatedSentence, Annotation, samples_of
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource, forms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

Key: TypeAlias = tuple[str, str, str]
"""Library, API, parameter."""


def training_samples(
    annotations: Iterable[Annotation], texts: Iterable[ParameterText] = ()
) -> dict[Key, list[AnnotatedSentence]]:
    """Return the labelled sentences of every annotated parameter, in our normal form.

    Args:
        annotations: the labelled spans.
        texts: the documentation that they are from, where it is at hand: spans are then carried
            over to the whole sentences there. Without it each span counts as a sentence.
    """
    grouped: dict[Key, list[Annotation]] = defaultdict(list)
    for one in annotations:
        grouped[one.library, one.api, one.parameter].append(one)
    known = {(text.library, text.api, text.parameter): text for text in texts}
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for library, api, parameter in grouped:
        names[library, api].append(parameter)
    return {
        key: _samples(known[key], spans) if key in known else _span_samples(key, names, spans)
        for key, spans in grouped.items()
    }


def _samples(text: ParameterText, annotations: list[Annotation]) -> list[AnnotatedSentence]:
    texts = {
        TextSource.DESCRIPTION: text.description,
        TextSource.DOC_TYPE: text.doc_type,
        TextSource.DEFAULT: text.default or "",
    }
    return samples_of(texts, forms_of(text), annotations)


def _span_samples(
    key: Key, names: dict[tuple[str, str], list[str]], annotations: list[Annotation]
) -> list[AnnotatedSentence]:
    """Treat each span as all the documentation there is."""
    library, api, parameter = key
    samples: list[AnnotatedSentence] = []
    for one in annotations:
        span = one.span or one.normalised
        described = one.source is TextSource.DESCRIPTION
        text = ParameterText(
            library=library,
            api=api,
            parameter=parameter,
            description=span if described else "",
            doc_type=span if one.source is TextSource.DOC_TYPE else "",
            default=span if one.source is TextSource.DEFAULT else None,
            parameters=tuple(names[library, api]),
        )
        samples += _samples(text, [one])
    return samples
