"""Counting what ran, for the tallies of targets and for whoever watches a run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ciguard.domain.events import BatchFinished
from ciguard.domain.outcomes import is_unbuilt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.campaign.group import Group
    from ciguard.campaign.stream import Executed


def counted(executed: Executed, group: Group, *, elapsed_s: float) -> Iterator[BatchFinished]:
    """Count a batch in its group's members, and report it."""
    apis = {api for case in executed.cases for api in case.apis if group.record(api) is not None}
    for name, outcomes in executed.outcomes.items():
        kinds = Counter(map(type, outcomes))
        counts = {kind.__name__.lower(): count for kind, count in kinds.items()}
        group.members[name].count(apis, counts)
        group.members[name].tried += len(outcomes)
        group.members[name].unbuilt += sum(map(is_unbuilt, outcomes))
        yield BatchFinished(target=name, api=executed.api, counts=counts, elapsed_s=elapsed_s)
