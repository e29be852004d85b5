"""References to documentation: a file holds facts, and the digest of the words they were read from.

Whoever has the library finds the words again: what `understand` reads in its own docstrings has
the same digests.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.knowledge.clues import ClueSource

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.knowledge.api import ConstraintEvidence

OF_WORDS = frozenset({ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE})
"""Sources that are prose of the library's authors; what others quote is code or a name."""
_DIGITS = 8


def digest_of(words: str) -> str:
    """Return a short digest of words, however they are broken into lines."""
    return hashlib.sha256(" ".join(words.split()).encode("utf-8", "replace")).hexdigest()[:_DIGITS]


def referred(evidence: ConstraintEvidence) -> ConstraintEvidence:
    """Return evidence that refers to the words of documentation instead of quoting them."""
    if evidence.source not in OF_WORDS or evidence.digest:
        return evidence
    return replace(evidence, text="", digest=digest_of(evidence.text))


def without_words(record: ApiRecord) -> ApiRecord:
    """Return the facts of a record: names, types, defaults, definitions; no sentence."""
    return replace(
        record,
        doc="",
        unread=(),
        parameters=tuple(map(_without_words, record.parameters)),
        inputs=tuple(map(_without_words, record.inputs)),
    )


def _without_words(parameter: ParameterRecord) -> ParameterRecord:
    return replace(parameter, doc="", doc_type="")
