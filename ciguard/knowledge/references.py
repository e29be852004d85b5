"""Digests that replace quoted documentation in stored files.

A file stores facts and a digest of the text that each was read from, not the text itself. With the
library installed, the text can be found again: `understand` reads it from the same docstrings.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.knowledge.clues import ClueSource

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.knowledge.api import ConstraintEvidence

DOCUMENTATION_SOURCES = frozenset(
    {ClueSource.DOC_TYPE, ClueSource.DOC_PHRASE, ClueSource.MINED_RULE}
)
"""Sources that quote the library's documentation; the other sources quote code or names."""
_DIGEST_LENGTH = 8


def digest_of(words: str) -> str:
    """Return a short digest of a text that ignores line breaks and repeated spaces."""
    return hashlib.sha256(" ".join(words.split()).encode("utf-8", "replace")).hexdigest()[
        :_DIGEST_LENGTH
    ]


def with_digest(evidence: ConstraintEvidence) -> ConstraintEvidence:
    """Return the evidence with a digest in place of quoted documentation."""
    if evidence.source not in DOCUMENTATION_SOURCES or evidence.digest:
        return evidence
    return replace(evidence, text="", digest=digest_of(evidence.text))


def without_prose(record: ApiRecord) -> ApiRecord:
    """Return the record without prose: names, types, defaults and definitions stay."""
    return replace(
        record,
        doc="",
        unread=(),
        parameters=tuple(map(_parameter_without_prose, record.parameters)),
        inputs=tuple(map(_parameter_without_prose, record.inputs)),
    )


def _parameter_without_prose(parameter: ParameterRecord) -> ParameterRecord:
    return replace(parameter, doc="", doc_type="")
