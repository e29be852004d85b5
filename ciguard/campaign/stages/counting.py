"""Counting of executed cases, for the tallies of targets and for progress events."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.events import BatchFinished
from ciguard.domain.outcomes import Rejected, has_failed_build

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import ExecutedBatch


def counted(executed: ExecutedBatch, group: Group, *, elapsed_s: float) -> Iterator[BatchFinished]:
    """Count a batch in the members of its group, and yield its events."""
    called = {api for case in executed.cases for api in case.apis}
    apis = {api for api in called if group.record(api) is not None}
    for name, outcomes in executed.outcomes.items():
        kinds = Counter(map(type, outcomes))
        counts = {kind.__name__.lower(): count for kind, count in kinds.items()}
        member = group.members[name]
        member.count(apis, counts)
        unbuilt = sum(map(has_failed_build, outcomes)) if Rejected in kinds else 0
        member.count_unbuilt(unbuilt, cases=len(outcomes))
        yield BatchFinished(target=name, api=executed.api, counts=counts, elapsed_s=elapsed_s)
