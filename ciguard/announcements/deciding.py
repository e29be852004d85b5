"""Decides whether a difference between two versions was announced by the library's documentation.

A sentence announces a difference only if both are about the same API, argument and aspect, such as
the dtype of results. When in doubt, the difference is not announced.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.announcements.aspects import (
    KINDS,
    conditions_hold,
    has_aspect,
    is_restriction,
    may_cause,
    names_aspect,
)
from ciguard.announcements.changes import (
    ChangeKind,
    DocumentedChange,
    documented_changes,
    is_rewritten,
    type_members,
)
from ciguard.announcements.observed import REFUSALS, content_words, observed_change
from ciguard.announcements.release_notes import notes_about
from ciguard.announcements.statements import Statement, statements_of
from ciguard.oracles.specifications import (
    requirements_in,
    specifications_of,
    violated_specifications,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
_FROM_SPECIAL_DEFAULTS = frozenset({"dtype", "mutation", "aliasing"})
"""Kinds of difference that only some defaults can cause."""
_CLASS_NAME = re.compile(r"\b[A-Z][a-z]+[A-Z]\w*\b")
_MIN_SHARED_WORDS = 2
"""Minimum number of content words that an exception's message shares with a sentence about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSources:
    """Texts, besides the documentation of the API, that may announce a difference."""

    siblings: Sequence[tuple[ApiDocumentation, ApiDocumentation]] = ()
    """Documentation, on base and head, of other APIs that call the same operator."""
    notes: Sequence[ReleaseNote] = ()
    """Release notes of the versions after the base, up to the head."""
    warnings: Callable[[], Sequence[str]] = tuple
    """Function that returns the deprecation warnings that the base raises for the call; it is
    called only if no sentence announces the difference."""


def announcement(
    finding: Finding,
    base: ApiDocumentation,
    head: ApiDocumentation,
    others: OtherSources | None = None,
) -> str:
    """Return how the documentation announces a difference; empty if it does not.

    Args:
        finding: a finding that compares base and head, its targets in this order.
        base: documentation of the API on the base.
        head: documentation of the API on the head.
        others: other texts that may announce it.

    Returns:
        A sentence that quotes the documentation: escape it for display.
    """
    others = others or OtherSources()
    observed = observed_change(finding, base.record)
    if observed is None or observed.kind not in KINDS:
        return ""
    reasons = chain(
        _deprecations(base, observed),
        _changed_requirements(finding.case, base, head, observed),
        (change.words for change in _explaining(base, head, observed)),
        chain.from_iterable(_changes_of_operator(finding, *sibling) for sibling in others.siblings),
        (
            note.words
            for note in notes_about(others.notes, base.record)
            if has_aspect(observed.kind, Statement(note.text).words)
        ),
        _deprecation_warnings(base, observed, others),
    )
    return next(reasons, "")


def _changes_of_operator(
    finding: Finding, base: ApiDocumentation, head: ApiDocumentation
) -> Iterator[str]:
    """Yield changes of another API with the same operator that announce a difference."""
    observed = observed_change(finding, base.record)
    if observed is None:
        return
    for change in _explaining(base, head, observed):
        if change.kind in {ChangeKind.SENTENCE, ChangeKind.TYPE}:
            yield f"for `{base.record.api}`, which calls the same operator, {change.words}"


def _deprecations(base: ApiDocumentation, observed: ObservedChange) -> Iterator[str]:
    """Yield the sentences by which the base deprecates what the call uses."""
    if observed.kind in _DEPRECATED_KINDS:
        for statement in _deprecating(base):
            if _is_used(statement, base, observed):
                yield _deprecation_in_words(statement)


def _deprecation_warnings(
    base: ApiDocumentation, observed: ObservedChange, others: OtherSources
) -> Iterator[str]:
    """Yield the warnings that name the API or an argument of the call."""
    if observed.kind not in _DEPRECATED_KINDS:
        return
    names = {base.record.api.rpartition(".")[2].lower(), *map(str.lower, observed.named)}
    for message in others.warnings():
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
    return {name for name in _names(base) if name.lower() in statement.words}


def _names(api: ApiDocumentation) -> set[str]:
    return {item.name for item in (*api.record.parameters, *api.record.inputs)}


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


def _explaining(
    base: ApiDocumentation, head: ApiDocumentation, observed: ObservedChange
) -> Iterator[DocumentedChange]:
    """Yield the changes of an API's documentation that explain an observed difference."""
    is_new = is_rewritten(base, head)
    for change in documented_changes(base, head):
        is_plain = change.kind is not ChangeKind.SENTENCE or not is_new
        if _is_about(change, observed, base) and (is_plain or _is_clear(change, observed, base)):
            yield change


def _is_clear(change: DocumentedChange, observed: ObservedChange, base: ApiDocumentation) -> bool:
    """Return whether a sentence of rewritten documentation explains a difference by itself.

    All sentences are new or gone there, mostly without a change. So the sentence must be new, and
    name the aspect. About exceptions, it must share content with their messages, or state a rule
    for the only argument of the call.
    """
    words = Statement(change.after).words
    if observed.kind not in REFUSALS:
        return names_aspect(observed.kind, words)
    name = set(base.record.api.lower().replace("_", ".").split("."))
    is_of_all = {change.parameter} == set(observed.passed) and is_restriction(change.after)
    return is_of_all or bool(_shared(words, observed) - name)


def _is_about(change: DocumentedChange, observed: ObservedChange, base: ApiDocumentation) -> bool:
    """Return whether a change of the documentation explains an observed difference."""
    is_passed = change.parameter in observed.passed
    match change.kind:
        case ChangeKind.DEFAULT:
            return not is_passed and _is_default_about(change, observed)
        case ChangeKind.TYPE:
            return _is_type_about(change, observed)
        case ChangeKind.ADDED:
            return observed.kind == "accepted" and is_passed
        case ChangeKind.REMOVED:
            # Another parameter takes the place of a renamed one, so positions still fit.
            is_by_name = change.parameter in observed.named - observed.by_position
            return observed.kind in _DEPRECATED_KINDS and is_by_name
        case ChangeKind.KEYWORD_ONLY:
            return observed.kind == "refused" and change.parameter in observed.by_position
        case ChangeKind.SENTENCE:
            return _is_sentence_about(change, observed, base)


def _is_default_about(change: DocumentedChange, observed: ObservedChange) -> bool:
    """Return whether another default of an argument that the call omits explains a difference.

    Any default can change values and shapes. Dtypes, changes in place and shared memory follow from
    defaults that are about these, or that have become numbers of another type.
    """
    if observed.kind in REFUSALS:
        return change.parameter.lower() in observed.words
    if observed.kind not in _FROM_SPECIAL_DEFAULTS:
        return True
    if observed.kind == "dtype" and _has_other_type(change.before, change.after):
        return True
    name = change.parameter.replace("_", " ")
    words = Statement(f"{name} {change.before} {change.after}").words
    return has_aspect(observed.kind, words)


def _has_other_type(before: str, after: str) -> bool:
    """Return whether two defaults are numbers of different types, such as 0 and 0.0."""
    values = [_literal(text) for text in (before, after)]
    are_numbers = all(isinstance(value, int | float | complex) for value in values)
    return are_numbers and type(values[0]) is not type(values[1])


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _is_type_about(change: DocumentedChange, observed: ObservedChange) -> bool:
    """Return whether a type hint that lost or gained members explains an observed difference."""
    if observed.kind not in REFUSALS or change.parameter not in observed.subjects:
        return False
    before, after = type_members(change.before), type_members(change.after)
    if observed.kind == "exception":
        return True
    return bool(before - after if observed.kind == "refused" else after - before)


def _is_sentence_about(
    change: DocumentedChange, observed: ObservedChange, base: ApiDocumentation
) -> bool:
    sentence = Statement(change.after or change.before, change.parameter)
    mentioned = _mentioned(sentence, base)
    is_of_others = mentioned and mentioned.isdisjoint(observed.subjects)
    # `_changed_requirements` decides about requirements by the values of the call.
    texts = (change.before, change.after)
    is_requirement = any(requirements_in(text, change.parameter) for text in texts)
    if is_of_others or is_requirement or not may_cause(change, observed.kind):
        return False
    if not conditions_hold(sentence.text, observed.dtypes):
        return False
    if change.parameter and change.parameter not in _names(base):
        return False  # a call that passes a new parameter is accepted only now
    if observed.kind in REFUSALS:
        return _is_about_refusal(change, observed, is_of_arguments=bool(mentioned))
    if change.parameter and is_restriction(sentence.text):
        return False  # it is about arguments, not about results
    return _is_other_default(change, observed) or has_aspect(observed.kind, change.changed_words)


def _is_other_default(change: DocumentedChange, observed: ObservedChange) -> bool:
    """Return whether a sentence states another default of an argument that the call omits.

    A sentence without a predecessor states a default that was not documented before.
    """
    is_stated = "default" in Statement(change.after).words and bool(change.before)
    return is_stated and bool(change.parameter) and change.parameter not in observed.passed


def _is_about_refusal(
    change: DocumentedChange, observed: ObservedChange, *, is_of_arguments: bool
) -> bool:
    """Return whether a changed sentence explains that a version raises an exception.

    A sentence that is only new or gone describes more or less than before. It must say what is
    allowed, or share content words with the exceptions' messages.
    """
    is_of_aspect = has_aspect(observed.kind, change.changed_words)
    shared = _shared(change.changed_words, observed)
    is_replaced = bool(change.before and change.after)
    is_rule = is_replaced or is_restriction(change.after or change.before)
    if is_of_arguments:
        classes = {name.lower() for name in _CLASS_NAME.findall(change.before + change.after)}
        is_described = bool(change.after) and len(shared) >= _MIN_SHARED_WORDS
        is_near = is_described or not shared.isdisjoint(classes)
        return is_near or (is_rule and (is_of_aspect or bool(shared)))
    words = Statement(change.after or change.before).words
    is_of_others = bool(content_words(observed.named))
    is_near = len(_shared(words, observed)) >= _MIN_SHARED_WORDS
    return is_rule and is_of_aspect and is_near and not is_of_others


def _shared(words: Iterable[str], observed: ObservedChange) -> frozenset[str]:
    """Return the content words of the messages that are among the words, without parameters."""
    return content_words(observed.words) & content_words(words) - observed.parameters
