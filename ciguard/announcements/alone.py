"""Documentation that changed although no call behaved differently, and APIs that were removed."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.announcements.changes import ChangeKind, documented_changes
from ciguard.announcements.deciding import deprecation_of
from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.oracles.specifications import requirements_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.announcements.changes import ApiDocumentation, DocumentedChange
    from ciguard.domain.records import ApiRecord

_MAX_EVIDENCE = 600
_OF_BEHAVIOUR = frozenset({"now", "longer", "changed", "anymore", "starting", "previously"})
"""Words of sentences that say that the behaviour changed."""
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
    the behaviour changed counts.
    """
    first_by_parameter: dict[str, DocumentedChange] = {}
    for change in documented_changes(base, head):
        if _is_of_behaviour(change, base.record):
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


def _is_of_behaviour(change: DocumentedChange, base: ApiRecord) -> bool:
    """Return whether a change of the documentation says that calls of before behave differently."""
    known = {item.name for item in (*base.parameters, *base.inputs)}
    if change.parameter and change.parameter not in known:
        return False
    if change.kind is not ChangeKind.SENTENCE:
        return change.kind is ChangeKind.DEFAULT
    if change.after and change.directive in _CHANGE_DIRECTIVES:
        return True
    if change.after and not _OF_BEHAVIOUR.isdisjoint(change.changed_words):
        return True
    required = (requirements_in(text, change.parameter) for text in (change.before, change.after))
    return bool(change.parameter) and operator.ne(*required)


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
