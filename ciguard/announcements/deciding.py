"""Decides whether a difference between two versions was announced by the library's documentation.

A sentence announces a difference only if both are about the same API, argument and aspect, such as
the dtype of results. When in doubt, the difference is not announced.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.announcements.aspects import KINDS, has_aspect, may_cause
from ciguard.announcements.changes import ChangeKind, DocumentedChange, documented_changes
from ciguard.announcements.observed import REFUSALS, content_words, observed_change
from ciguard.announcements.release_notes import notes_about
from ciguard.announcements.statements import Statement, statements_of
from ciguard.oracles.specifications import (
    requirements_in,
    specifications_of,
    violated_specifications,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.announcements.changes import ApiDocumentation
    from ciguard.announcements.observed import ObservedChange
    from ciguard.announcements.release_notes import ReleaseNote
    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding

_DEPRECATED = re.compile(
    r"deprecat|\bwill be removed\b|\bwill (?:raise|become) an? error", re.IGNORECASE
)
_OF_API = re.compile(
    r"\b(?:this|the) (?:function|method|api|class|layer|op|operator|operation|module|symbol)\b"
    r"|^\W*deprecated\b",
    re.IGNORECASE,
)
_DEPRECATED_KINDS = frozenset({"refused", "exception"})
"""Kinds of difference that a deprecation announces: what is deprecated is going to be refused."""
_MIN_SHARED_WORDS = 2
"""Minimum number of content words that an exception's message shares with a sentence about it."""


def announcement(
    finding: Finding,
    base: ApiDocumentation,
    head: ApiDocumentation,
    notes: Sequence[ReleaseNote] = (),
    warnings: Sequence[str] = (),
) -> str:
    """Return how the documentation announces a difference; empty if it does not.

    Args:
        finding: a finding that compares base and head, its targets in this order.
        base: documentation of the API on the base.
        head: documentation of the API on the head.
        notes: release notes of the versions after the base, up to the head.
        warnings: deprecation warnings that the base raises for the call.

    Returns:
        A sentence that quotes the documentation: escape it for display.
    """
    observed = observed_change(finding, base.record)
    if observed is None or observed.kind not in KINDS:
        return ""
    reasons = (
        *_deprecations(base, observed),
        *_deprecation_warnings(base, observed, warnings),
        *_changed_requirements(finding.case, base, head, observed),
        *(
            change.words
            for change in documented_changes(base, head)
            if _is_about(change, observed, base)
        ),
        *(
            note.words
            for note in notes_about(notes, base.record)
            if has_aspect(observed.kind, Statement(note.text).words)
        ),
    )
    return reasons[0] if reasons else ""


def _deprecations(base: ApiDocumentation, observed: ObservedChange) -> Iterator[str]:
    """Yield the sentences by which the base deprecates what the call uses."""
    if observed.kind in _DEPRECATED_KINDS:
        for statement in _deprecating(base):
            if _is_used(statement, base, observed):
                yield _deprecation_in_words(statement)


def _deprecation_warnings(
    base: ApiDocumentation, observed: ObservedChange, warnings: Sequence[str]
) -> Iterator[str]:
    """Yield the warnings that name the API or an argument of the call."""
    if observed.kind not in _DEPRECATED_KINDS:
        return
    names = {base.record.api.rpartition(".")[2].lower(), *map(str.lower, observed.named)}
    for message in warnings:
        if not names.isdisjoint(Statement(message).words):
            yield f"the base warns that this is deprecated: “{' '.join(message.split())}”"


def deprecation_of(base: ApiDocumentation) -> str:
    """Return the sentence by which the base deprecates a whole API; empty if it does not."""
    for statement in _deprecating(base):
        if not _mentioned(statement, base) and _is_of_api(statement, base):
            return _deprecation_in_words(statement)
    return ""


def _deprecating(base: ApiDocumentation) -> Iterator[Statement]:
    """Yield the sentences that deprecate an API or a parameter."""
    for statement in statements_of(base.record, base.docstring):
        if statement.directive == "deprecated" or _DEPRECATED.search(statement.text):
            yield statement


def _deprecation_in_words(statement: Statement) -> str:
    subject = f"`{statement.parameter}`" if statement.parameter else "the API"
    return f"the base already declares {subject} deprecated: “{statement.text}”"


def _is_used(statement: Statement, base: ApiDocumentation, observed: ObservedChange) -> bool:
    """Return whether a deprecated API or parameter is one that the call uses."""
    mentioned = _mentioned(statement, base)
    if mentioned:
        return not mentioned.isdisjoint(observed.named)
    return _is_of_api(statement, base)


def _is_of_api(statement: Statement, base: ApiDocumentation) -> bool:
    """Return whether a sentence about deprecation is about the whole API."""
    name = base.record.api.rpartition(".")[2].lower()
    names_it = _OF_API.search(statement.text) or name in statement.words
    return statement.directive == "deprecated" or bool(names_it)


def _mentioned(statement: Statement, base: ApiDocumentation) -> set[str]:
    """Return the parameters that a sentence describes or names."""
    if statement.parameter:
        return {statement.parameter}
    names = {item.name for item in (*base.record.parameters, *base.record.inputs)}
    return {name for name in names if name.lower() in statement.words}


def _changed_requirements(
    case: Case, base: ApiDocumentation, head: ApiDocumentation, observed: ObservedChange
) -> Iterator[str]:
    """Yield the requirements that only one version documents, and that the call violates."""
    if observed.kind not in {"refused", "accepted"}:
        return
    stricter, laxer = (head, base) if observed.kind == "refused" else (base, head)
    known = _violations(case, laxer)
    for parameter, sentence in _violations(case, stricter).items():
        if parameter not in known:
            verb = "now requires" if stricter is head else "no longer requires"
            yield f"the documentation of `{parameter}` {verb}: “{sentence}”"


def _violations(case: Case, api: ApiDocumentation) -> dict[str, str]:
    """Return the sentence of a documented requirement that a call violates, by parameter."""
    stated = [item for items in specifications_of(api.record).values() for item in items]
    return {item.parameter: item.sentence for item, _ in violated_specifications(case, stated)}


def _is_about(change: DocumentedChange, observed: ObservedChange, base: ApiDocumentation) -> bool:
    """Return whether a change of the documentation explains an observed difference."""
    is_passed = change.parameter in observed.passed
    match change.kind:
        case ChangeKind.DEFAULT:
            return not is_passed and observed.kind not in REFUSALS
        case ChangeKind.ADDED:
            return observed.kind == "accepted" and is_passed
        case ChangeKind.REMOVED:
            return observed.kind in _DEPRECATED_KINDS and change.parameter in observed.named
        case ChangeKind.KEYWORD_ONLY:
            return observed.kind == "refused" and change.parameter in observed.by_position
        case ChangeKind.SENTENCE:
            return _is_sentence_about(change, observed, base)


def _is_sentence_about(
    change: DocumentedChange, observed: ObservedChange, base: ApiDocumentation
) -> bool:
    sentence = Statement(change.after or change.before, change.parameter)
    is_default = "default" in sentence.words and change.parameter not in observed.passed
    if change.parameter and is_default and observed.kind not in REFUSALS:
        return True
    mentioned = _mentioned(sentence, base)
    if mentioned and mentioned.isdisjoint(observed.subjects):
        return False
    if requirements_in(sentence.text, change.parameter):
        return False  # `_changed_requirements` decides by the values of the call
    if not may_cause(change, observed.kind):
        return False
    shared = observed.content & content_words(sentence.words)
    if observed.kind in REFUSALS and not mentioned and len(shared) < _MIN_SHARED_WORDS:
        return False
    return has_aspect(observed.kind, change.changed_words)
