"""Changes of an API's documentation between two versions: signature, defaults and sentences."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.announcements.statements import Statement, statements_of
from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.records import ApiRecord, ParameterRecord

_PRIVATE = re.compile(r"\b_(?=[a-z])")
"""Beginning of the names that stubs give to types, such as `_int`."""
_UNION = re.compile(r"(?:typing\.)?(Union|Optional)\[(.*)\]")
_MEMBER = re.compile(r"<?(?:\w+\.)*([A-Z]\w*\.[A-Za-z_]\w*)(?:: [^>]*>)?")
"""Matches a member of an enumeration, such as `<Mode.FAST: 1>` or `package.Mode.FAST`."""
_MIN_SIMILARITY = 0.6
"""Minimum similarity of two sentences of which one replaces the other."""
_MIN_KEPT = 1 / 3
"""Share of the sentences that the head keeps unless the documentation was rewritten."""
_MIN_SENTENCES = 4
"""Minimum number of sentences of which so few may be kept."""
_BY_POSITION = {ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD}


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiDocumentation:
    """Everything that one version of a library documents of an API."""

    record: ApiRecord
    docstring: str = ""
    """The whole docstring; empty if it could not be read."""


class ChangeKind(StrEnum):
    """Part of the documentation that changed."""

    SENTENCE = "sentence"
    DEFAULT = "default"
    TYPE = "type"
    """The type hint of a parameter has other members."""
    ADDED = "added"
    """The head's signature has a new parameter."""
    REMOVED = "removed"
    """The head's signature lacks a parameter."""
    KEYWORD_ONLY = "keyword-only"
    """The head takes a parameter only by keyword."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentedChange:
    """One difference between the documentation of an API in two versions."""

    kind: ChangeKind
    parameter: str = ""
    """Parameter that the change is about; empty if it is about the whole API."""
    before: str = ""
    """Sentence or default on the base; empty if there is none."""
    after: str = ""
    """Sentence or default on the head; empty if there is none."""
    directive: str = ""
    """Directive that contains the sentence on the head, such as `versionchanged`."""

    @property
    def changed_words(self) -> frozenset[str]:
        """Words that only one of the two sentences has."""
        before, after = Statement(self.before).words, Statement(self.after).words
        return frozenset(before) ^ frozenset(after)

    @property
    def words(self) -> str:
        """The change as a phrase. It quotes documentation: escape it for display."""
        name = f"`{self.parameter}`"
        match self.kind:
            case ChangeKind.DEFAULT:
                return f"the default of {name} changed from {self.before} to {self.after}"
            case ChangeKind.TYPE:
                before, after = (_PRIVATE.sub("", hint) for hint in (self.before, self.after))
                return f"the type of {name} changed from “{before}” to “{after}”"
            case ChangeKind.ADDED:
                return f"the parameter {name} was added"
            case ChangeKind.REMOVED:
                return f"the parameter {name} was removed"
            case ChangeKind.KEYWORD_ONLY:
                return f"{name} must be passed by keyword"
            case ChangeKind.SENTENCE:
                return self._sentence_in_words()

    def _sentence_in_words(self) -> str:
        subject = (
            f"the documentation of `{self.parameter}`" if self.parameter else "the documentation"
        )
        if not self.before:
            return f"{subject} now also says “{self.after}”"
        if not self.after:
            return f"{subject} no longer says “{self.before}”"
        return f"{subject} changed from “{self.before}” to “{self.after}”"


def documented_changes(base: ApiDocumentation, head: ApiDocumentation) -> list[DocumentedChange]:
    """Return the changes of an API's documentation, those of the signature first."""
    if base == head:  # as most are between two releases, and sentences take long to compare
        return []
    return [*_signature_changes(base.record, head.record), *_sentence_changes(base, head)]


def is_rewritten(base: ApiDocumentation, head: ApiDocumentation) -> bool:
    """Return whether the head keeps so few sentences that none can be missed or added."""
    before, after = (
        {item.words for item in statements_of(api.record, api.docstring)} for api in (base, head)
    )
    return len(before) >= _MIN_SENTENCES and len(before & after) < _MIN_KEPT * len(before)


def _signature_changes(base: ApiRecord, head: ApiRecord) -> Iterator[DocumentedChange]:
    """Yield changes of signatures from the same source; others cannot be compared."""
    if not base.source or base.source != head.source:
        return
    before, after = _named(base), _named(head)
    takes_any = any(item.kind is ParameterKind.VAR_KEYWORD for item in head.parameters)
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            if not takes_any:
                yield DocumentedChange(kind=ChangeKind.REMOVED, parameter=name)
            continue
        if old.kind in _BY_POSITION and new.kind is ParameterKind.KEYWORD_ONLY:
            yield DocumentedChange(kind=ChangeKind.KEYWORD_ONLY, parameter=name)
        if old.default is not None and new.default is not None:
            defaults = str(old.default), str(new.default)
            if operator.ne(*map(_named_default, defaults)):
                yield from _difference(ChangeKind.DEFAULT, name, *defaults)
        if old.annotation and type_members(old.annotation) != type_members(new.annotation):
            yield from _difference(ChangeKind.TYPE, name, old.annotation, new.annotation)
    for name in after.keys() - before.keys():
        yield DocumentedChange(kind=ChangeKind.ADDED, parameter=name)


def _named_default(text: str) -> str:
    """Return a default without the module and the number of a member of an enumeration."""
    match = _MEMBER.fullmatch(text)
    return match[1] if match else text


def _difference(
    kind: ChangeKind, parameter: str, before: str, after: str
) -> Iterator[DocumentedChange]:
    """Yield a change if both texts are there and differ."""
    if before and after and before != after:
        yield DocumentedChange(kind=kind, parameter=parameter, before=before, after=after)


def type_members(hint: str) -> frozenset[str]:
    """Return the members of a union in a type hint, such as `int | str` or `Optional[int]`."""
    match = _UNION.fullmatch(hint.strip())
    if match:
        inner = frozenset().union(*map(type_members, _split(match[2], ",")))
        return inner | {"None"} if match[1] == "Optional" else inner
    parts = _split(hint, "|")
    if len(parts) > 1:
        return frozenset().union(*map(type_members, parts))
    return frozenset({hint.strip()} - {""})


def _split(text: str, separator: str) -> list[str]:
    """Split a text at separators that are not in brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[(") - (character in "])")
        if character == separator and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _named(record: ApiRecord) -> dict[str, ParameterRecord]:
    return {
        item.name: item
        for item in (*record.parameters, *record.inputs)
        if item.kind not in {ParameterKind.VAR_POSITIONAL, ParameterKind.VAR_KEYWORD}
    }


def _sentence_changes(base: ApiDocumentation, head: ApiDocumentation) -> Iterator[DocumentedChange]:
    """Yield changed sentences; a sentence that only moved to another paragraph is unchanged."""
    before = statements_of(base.record, base.docstring)
    after = statements_of(head.record, head.docstring)
    known, kept = _Known(before), _Known(after)
    removed = [item for item in before if not kept.has(item)]
    for new in after:
        if known.has(new):
            continue
        old = _predecessor(new, removed)
        if old is not None:
            removed.remove(old)
        yield DocumentedChange(
            kind=ChangeKind.SENTENCE,
            parameter=new.parameter,
            before=old.text if old else "",
            after=new.text,
            directive=new.directive,
        )
    for old in removed:
        yield DocumentedChange(kind=ChangeKind.SENTENCE, parameter=old.parameter, before=old.text)


class _Known:
    """Statements of one version."""

    def __init__(self, statements: list[Statement]) -> None:
        self._stated = {(item.parameter, item.words) for item in statements}
        self._words = {item.words for item in statements}

    def has(self, statement: Statement) -> bool:
        """Return whether a sentence is stated, of its parameter or of the whole API."""
        if not statement.parameter:
            return statement.words in self._words
        subjects = (statement.parameter, "")
        return any((subject, statement.words) in self._stated for subject in subjects)


def _predecessor(new: Statement, removed: list[Statement]) -> Statement | None:
    """Return the removed sentence that a new one replaces; None if there is none."""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(new.words)
    best, similarity = None, _MIN_SIMILARITY
    for old in removed:
        matcher.set_seq1(old.words)
        if old.parameter == new.parameter and matcher.ratio() >= similarity:
            best, similarity = old, matcher.ratio()
    return best
