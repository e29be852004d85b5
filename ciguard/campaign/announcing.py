"""Announced changes: differences between base and head that the documentation explains.

It runs once per run, after all jobs, as it asks the targets for their docstrings.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.announcements import (
    ApiDocumentation,
    OtherSources,
    Release,
    announcement,
    documentation_alone,
    read_release_notes,
    release_notes_in,
    removal,
    removed_apis,
)
from ciguard.campaign.workers import case_limit_s
from ciguard.domain.case import case_to_json
from ciguard.domain.events import DocumentationChecked, Event, StageFinished, Warned
from ciguard.errors import WorkerStartError
from ciguard.oracles import traits_of
from ciguard.targets import Wheel, succeeds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ciguard.announcements import ReleaseNote
    from ciguard.campaign.group import Group, Member
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config
    from ciguard.domain.documentation import DocumentationFinding
    from ciguard.domain.findings import Finding

_MAX_SIBLINGS = 5
"""Maximum number of APIs with one operator whose documentation is compared."""
_MAX_WARNED = 20
"""Maximum number of calls that run for their deprecation warnings."""
_WARNED_KINDS = frozenset({"refused", "exception"})
"""Kinds of difference that a deprecation warning announces."""


def check_release_notes(config: Config) -> None:
    """Check that the given files of release notes can be read, before the run takes any time.

    Raises:
        ConfigurationError: if one cannot be read.
    """
    for name in config.release_notes:
        read_release_notes(Path(name), after="", until="")


def announce(state: CampaignState) -> Iterator[Event]:
    """Mark the differences that the documentation announces, and report documentation that changed.

    Nothing happens in a run without a base and a head of one library.

    Raises:
        ConfigurationError: if release notes cannot be read.
    """
    pairs = [pair for group in state.groups.values() for pair in _pairs(group, state.base)]
    if not pairs:
        return
    for pair in pairs:
        try:
            yield from _announce(state, pair)
        except WorkerStartError as error:
            message = f"{pair.head.name}: announced changes are not determined: {error}"
            yield Warned(message=message)
    yield StageFinished(stage="announce", spent_s=state.budget.finish_stage("announce"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _VersionPair:
    """Two targets of a library that differ in its version."""

    group: Group
    base: Member
    head: Member

    def compares(self, finding: Finding) -> bool:
        """Return whether a finding is a difference between these targets."""
        is_difference = traits_of(finding.oracle).is_differential
        return is_difference and finding.targets == (self.base.name, self.head.name)


class _DeprecationWarnings:
    """Runs calls on the base for its deprecation warnings, as many as there is time for."""

    def __init__(self, pair: _VersionPair, state: CampaignState) -> None:
        self._base = pair.base
        self._state = state
        self._left = _MAX_WARNED

    def of(self, finding: Finding) -> list[str]:
        """Return the warnings of a finding's call; none if they cannot announce the finding."""
        state, environment = self._state, self._base.environment
        is_late = time.monotonic() >= state.budget.scripts_until
        if finding.kind not in _WARNED_KINDS or is_late or not self._left:
            return []
        self._left -= 1
        limit_s = case_limit_s(environment, state.config.case_limit_s)
        encoded = case_to_json(finding.case.lowered())
        return state.dispatcher.tasks(self._base.name).deprecation_warnings(
            encoded, limit_s=2 * limit_s
        )


class _Documentation:
    """Documentation of APIs on both targets of a pair."""

    def __init__(self, pair: _VersionPair, state: CampaignState, apis: Iterable[str]) -> None:
        self._pair = pair
        names = sorted(apis)
        self._docstrings = {
            member.name: state.dispatcher.tasks(member.name).docstrings(names)
            for member in (pair.base, pair.head)
        }

    def on(self, member: Member, api: str) -> ApiDocumentation:
        """Return the documentation of an API on a target that has it."""
        docstring = self._docstrings[member.name].get(api, "")
        return ApiDocumentation(record=member.catalogue[api], docstring=docstring)

    def of(self, api: str) -> tuple[ApiDocumentation, ApiDocumentation]:
        """Return the documentation of an API on base and head, which both must have."""
        return self.on(self._pair.base, api), self.on(self._pair.head, api)


def _pairs(group: Group, base: Iterable[str]) -> Iterator[_VersionPair]:
    """Yield the pairs of base and head, or of an older and a newer version."""
    running = group.running
    for head in running[1:]:
        reference = running[0]
        is_change = reference.name in base and head.name not in base
        names = (name.partition(" #")[0] for name in (head.name, reference.name))
        if succeeds(*names) or (is_change and _run_alike(reference, head)):
            yield _VersionPair(group=group, base=reference, head=head)


def _run_alike(base: Member, head: Member) -> bool:
    """Return whether two targets run in the same mode and on the same device."""
    left, right = base.identity, head.identity
    return (left.device, left.mode) == (right.device, right.mode)


def _announce(state: CampaignState, pair: _VersionPair) -> Iterator[Event]:
    buckets = [b for b in state.collector.by_severity() if pair.compares(b.finding)]
    differing = {bucket.finding.api for bucket in buckets}
    common = pair.base.catalogue.keys() & pair.head.catalogue.keys()
    called = pair.base.exercised & pair.head.exercised & common
    removed = removed_apis(pair.base.catalogue, pair.head.catalogue)
    siblings = _siblings(pair, differing & common, common)
    documentation = _Documentation(
        pair, state, {*called, *(differing & common), *removed, *chain(*siblings.values())}
    )
    notes = _release_notes(pair, state.config)
    warnings = _DeprecationWarnings(pair, state)
    for bucket in buckets:
        api = bucket.finding.api
        if api in common:
            others = OtherSources(
                siblings=[documentation.of(name) for name in siblings.get(api, ())],
                notes=notes,
                warnings=partial(warnings.of, bucket.finding),
            )
            announced = announcement(bucket.finding, *documentation.of(api), others)
            if announced:
                state.collector.set_announced(bucket, announced)
    if state.config.policy.reads_documentation:
        findings = tuple(_findings(pair, documentation, removed, sorted(called - differing)))
        if findings:
            state.documentation += findings
            yield DocumentationChecked(library=pair.group.library, findings=findings)


def _siblings(
    pair: _VersionPair, apis: Collection[str], common: Collection[str]
) -> dict[str, list[str]]:
    """Return the other APIs that call the same operator, by API."""
    by_operator: dict[str, list[str]] = {}
    for name in sorted(common):
        by_operator.setdefault(pair.head.catalogue[name].operator, []).append(name)
    operators = {api: pair.head.catalogue[api].operator for api in apis}
    return {
        api: [name for name in by_operator[operator] if name != api][:_MAX_SIBLINGS]
        for api, operator in operators.items()
        if operator
    }


def _findings(
    pair: _VersionPair, documentation: _Documentation, removed: list[str], unchanged: list[str]
) -> Iterator[DocumentationFinding]:
    """Yield the findings about removed APIs, and about APIs whose documentation changed alone."""
    release = Release(
        library=pair.group.library,
        base=pair.base.environment.version,
        head=pair.head.environment.version,
    )
    yield from (removal(release, documentation.on(pair.base, api)) for api in removed)
    for api in unchanged:
        yield from documentation_alone(release, *documentation.of(api))


def _release_notes(pair: _VersionPair, config: Config) -> list[ReleaseNote]:
    """Return the notes in the given files, in the installed package and beside a built wheel.

    Raises:
        ConfigurationError: if a given file cannot be read.
    """
    environment = pair.head.environment
    library, packages = environment.library, environment.python.parent.parent
    folders = [
        *packages.glob(f"lib/python*/site-packages/{library.module}"),
        *packages.glob(f"lib/python*/site-packages/{library.module}-*.dist-info"),
    ]
    if any(isinstance(package, Wheel) for package in environment.target.packages):
        folders.append(Path.cwd())
    paths = [*map(Path, config.release_notes), *chain.from_iterable(map(release_notes_in, folders))]
    return [
        note
        for path in paths
        for note in read_release_notes(
            path, after=pair.base.environment.version, until=environment.version
        )
    ]
