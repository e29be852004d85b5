"""Documentation that changed although no call behaved differently, and APIs that were removed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.announcements.changes import ChangeKind, documented_changes, is_rewritten
from ciguard.announcements.deciding import deprecation_of
from ciguard.announcements.statements import Statement, statements_of
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.oracles.specifications import requirements_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.announcements.changes import ApiDocumentation, DocumentedChange
    from ciguard.domain.records import ApiRecord

_MAX_EVIDENCE = 600
_OF_BEHAVIOUR = re.compile(
    r"\b(?:now|no longer|any ?more|previously|(?:has|have) changed|changed (?:from|in|since|to)"
    r"|starting (?:from|in|with) (?:release|version|v?\d))\b",
    re.IGNORECASE,
)
"""Words of sentences that say that the behaviour changed."""
_FREQUENT = frozenset({"a", "an", "be", "either", "is", "must", "or", "should", "the"})
_CHANGE_DIRECTIVES = frozenset({"versionchanged", "changed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A library before and after a change."""

    library: str
    base: str
    """Version of the base."""
    head: str
    """Version of the head."""


def documentation_alone(
    release: Release, base: ApiDocumentation, head: ApiDocumentation
) -> Iterator[DocumentationFinding]:
    """Yield the findings about an API whose documented behaviour changed, but not its behaviour.

    There is one finding per parameter. Only a default, a requirement or a sentence that says that
    the behaviour changed counts. Of documentation that was rewritten, only defaults and
    directives such as `versionchanged` do.
    """
    first_by_parameter: dict[str, DocumentedChange] = {}
    for change in documented_changes(base, head):
        if _is_of_behaviour(change, base, head):
            first_by_parameter.setdefault(change.parameter, change)
    for change in first_by_parameter.values():
        yield DocumentationFinding(
            check=DocumentationCheck.CHANGED_ALONE,
            library=release.library,
            api=head.record.api,
            parameter=change.parameter,
            message=(
                f"changed in the documentation from {release.base} to {release.head}, but no call "
                f"of this run behaved differently: {change.words}"
            ),
            evidence=(change.after or change.before)[:_MAX_EVIDENCE],
        )


def _is_of_behaviour(
    change: DocumentedChange, base: ApiDocumentation, head: ApiDocumentation
) -> bool:
    """Return whether a change of the documentation says that calls of before behave differently.

    A parameter that only one version has was renamed, and one that only one version describes was
    documented for the first time.
    """
    if change.kind is not ChangeKind.SENTENCE:
        return change.kind is ChangeKind.DEFAULT
    if change.parameter and change.parameter not in _described(base) & _described(head):
        return False
    if change.after and change.directive in _CHANGE_DIRECTIVES:
        return True
    if is_rewritten(base, head):
        return False
    if _of_behaviour(change.after) - _of_behaviour(change.before):
        return True
    return bool(change.parameter) and _is_required_differently(change, base, head)


def _of_behaviour(sentence: str) -> set[str]:
    return {match.lower() for match in _OF_BEHAVIOUR.findall(sentence)}


def _described(api: ApiDocumentation) -> set[str]:
    """Return the parameters with a description."""
    items = (*api.record.parameters, *api.record.inputs)
    return {item.name for item in items if item.doc or item.doc_type}


def _is_required_differently(
    change: DocumentedChange, base: ApiDocumentation, head: ApiDocumentation
) -> bool:
    """Return whether a changed sentence about a parameter changes what is required of it.

    A requirement that the other version states in other sentences is unchanged.
    """
    texts = (change.before, change.after)
    before, after = (requirements_in(text, change.parameter) for text in texts)
    if before == after:
        return False
    if change.before and change.after:
        return True
    other = _statements_about(change.parameter, base if change.after else head)
    known = [item for text in other for item in requirements_in(text.text, change.parameter)]
    if all(item in known for item in before or after):
        return False
    words = {*Statement(change.before or change.after).words} - _FREQUENT
    return not words <= {word for text in other for word in text.words}


def _statements_about(parameter: str, api: ApiDocumentation) -> list[Statement]:
    stated = statements_of(api.record, api.docstring)
    return [item for item in stated if item.parameter == parameter]


def removed_apis(base: Mapping[str, ApiRecord], head: Mapping[str, ApiRecord]) -> list[str]:
    """Return the APIs that only the base has, under none of their names."""
    names = {name for record in head.values() for name in (record.api, *record.aliases)}
    return [api for api in sorted(base) if names.isdisjoint((api, *base[api].aliases))]


def removal(release: Release, base: ApiDocumentation) -> DocumentationFinding:
    """Return the finding about an API that the head has no more."""
    deprecation = deprecation_of(base)
    announced = f"; {deprecation}" if deprecation else ", and was not deprecated before"
    return DocumentationFinding(
        check=DocumentationCheck.REMOVED,
        library=release.library,
        api=base.record.api,
        parameter="",
        message=f"removed between {release.base} and {release.head}{announced}",
        evidence=deprecation[:_MAX_EVIDENCE],
    )
