"""Groups to test with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.trackers.groups import Group, Member
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket


def alone(bucket: Bucket) -> Group:
    """Return the group of one bucket."""
    return Group(name=cause_of(bucket).name, members=(Member(bucket=bucket),))
