"""Joins labelled sentences with the documentation that contains them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from ciguard.knowledge.mining.annotations import AnnotatedSentence, Annotation, labelled_sentences
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource, sentence_forms

if TYPE_CHECKING:
    from collections.abc import Iterable

Key: TypeAlias = tuple[str, str, str]
"""Names of the library, the API and the parameter."""


def training_samples(
    annotations: Iterable[Annotation], texts: Iterable[ParameterText] = ()
) -> dict[Key, list[AnnotatedSentence]]:
    """Return the labelled sentences of every annotated parameter, in ciguard's normal form.

    Args:
        annotations: the labelled spans.
        texts: the documentation that contains the spans, if available. Labels then apply to whole
            sentences of it; otherwise each span counts as a sentence.
    """
    annotations_by_key: dict[Key, list[Annotation]] = defaultdict(list)
    for annotation in annotations:
        annotations_by_key[annotation.library, annotation.api, annotation.parameter].append(
            annotation
        )
    texts_by_key = {(text.library, text.api, text.parameter): text for text in texts}
    names: dict[tuple[str, str], list[str]] = defaultdict(list)
    for library, api, parameter in annotations_by_key:
        names[library, api].append(parameter)
    return {
        key: _samples(texts_by_key[key], spans)
        if key in texts_by_key
        else _span_samples(key, names, spans)
        for key, spans in annotations_by_key.items()
    }


def _samples(text: ParameterText, annotations: list[Annotation]) -> list[AnnotatedSentence]:
    texts = {
        TextSource.DESCRIPTION: text.description,
        TextSource.DOC_TYPE: text.doc_type,
        TextSource.DEFAULT: text.default or "",
    }
    return labelled_sentences(texts, sentence_forms(text), annotations)


def _span_samples(
    key: Key, names: dict[tuple[str, str], list[str]], annotations: list[Annotation]
) -> list[AnnotatedSentence]:
    """Return the labelled sentences of a parameter whose documentation is not available."""
    library, api, parameter = key
    samples: list[AnnotatedSentence] = []
    for annotation in annotations:
        span = annotation.span or annotation.normalised
        is_description = annotation.source is TextSource.DESCRIPTION
        text = ParameterText(
            library=library,
            api=api,
            parameter=parameter,
            description=span if is_description else "",
            doc_type=span if annotation.source is TextSource.DOC_TYPE else "",
            default=span if annotation.source is TextSource.DEFAULT else None,
            parameters=tuple(names[library, api]),
        )
        samples += _samples(text, [annotation])
    return samples
