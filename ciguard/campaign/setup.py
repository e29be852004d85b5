"""Setup of a run: start the servers of all targets, read their catalogues, create streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.campaign.catalogue import catalogue
from ciguard.campaign.confining import check_confinement, confinement_warning
from ciguard.campaign.group import Group, groups_of
from ciguard.campaign.levels import levels_in
from ciguard.campaign.workers import worker_spec
from ciguard.domain.events import (
    DocumentationChecked,
    Event,
    TargetReady,
    TargetUnavailable,
    Warned,
)
from ciguard.domain.findings import TargetSummary
from ciguard.domain.text import shortened
from ciguard.domain.untrusted import MAX_TEXT_LENGTH
from ciguard.errors import WorkerStartError
from ciguard.oracles import documentation_findings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from ciguard.campaign.factory import StreamFactory
    from ciguard.campaign.group import Member
    from ciguard.campaign.stream import Stream
    from ciguard.config import Config
    from ciguard.execution import Dispatcher
    from ciguard.targets import Environment

_MAX_LISTED = 3
"""Maximum number of skipped APIs in one warning; `ciguard api extract` lists them all."""


def start_groups(
    environments: Mapping[str, Environment],
    config: Config,
    dispatcher: Dispatcher,
    *,
    describes: bool = True,
) -> Generator[Event, None, dict[str, Group]]:
    """Start every target's server and read its catalogue.

    Args:
        environments: environments by target.
        config: settings of the run.
        dispatcher: dispatcher that starts the servers.
        describes: False to leave the catalogues empty, which saves describing the libraries.

    Returns:
        Groups by library. A target that cannot start stays in its group, with `not_run` set.
    """
    groups = groups_of(environments)
    specs = [worker_spec(name, environment, config) for name, environment in environments.items()]
    started = dispatcher.start(specs)
    for group in groups.values():
        for member in group.members.values():
            server = started[member.name]
            if isinstance(server, WorkerStartError):
                member.not_run = str(server)
            else:
                check_confinement(member, config, server, dispatcher)
                yield from _describe(member, dispatcher) if describes else ()
            if member.not_run:
                yield TargetUnavailable(target=member.name, reason=member.not_run)
            else:
                yield TargetReady(target=summary(member))
                yield from confinement_warning(member, config)
    return groups


def _describe(member: Member, dispatcher: Dispatcher) -> Iterable[Event]:
    try:
        described = catalogue(member.name, member.environment, dispatcher)
    except WorkerStartError as error:
        member.not_run = str(error)
        return
    member.catalogue = described.known.records
    yield from (Warned(message=notice) for notice in described.notices)
    skipped = [f"{api.name} ({api.reason})" for api in described.known.skipped]
    if skipped:
        rest = len(skipped) - _MAX_LISTED
        names = ", ".join(skipped[:_MAX_LISTED]) + (f", and {rest} more" if rest > 0 else "")
        message = f"{member.name}: skipped APIs that cannot be described: {names}"
        yield Warned(message=message)


def documentation_of(groups: Mapping[str, Group]) -> Iterable[DocumentationChecked]:
    """Yield the findings in the documentation of each described library."""
    for group in groups.values():
        records = group.records()
        if not records:
            continue
        findings = documentation_findings(records, group.library)
        yield DocumentationChecked(library=group.library, findings=tuple(findings))


def summary(member: Member) -> TargetSummary:
    """Return the summary of a member for reports."""
    environment = member.environment
    return TargetSummary(
        name=member.name,
        library=environment.library.name,
        version=environment.version,
        python=environment.python_version,
        device=environment.target.device,
        packages=environment.packages,
        confined_by=member.confined_by,
        unconfined=member.unconfined,
        apis=len(member.catalogue),
        tally=member.tally,
        not_run=shortened(member.not_run, MAX_TEXT_LENGTH),
    )


def streams_of(factory: StreamFactory) -> Generator[Event, None, list[Stream]]:
    """Return the streams of all levels of a run.

    Raises:
        ConfigurationError: if a level has nothing to test.
        WorkerStartError: if the server of a target is gone.
    """
    streams: list[Stream] = []
    for level in levels_in(factory.config):
        streams += yield from level.streams(factory)
    return streams


def divide_cases(streams: list[Stream], max_cases: int) -> None:
    """Limit each stream to an equal share of `max_cases`, in whole batches."""
    for stream in streams:
        if max_cases:
            stream.end_after(max(1, max_cases // len(streams)))
