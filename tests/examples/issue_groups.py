"""Groups to test with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.trackers.groups import BucketGroup, GroupedBucket
from ciguard.triage import cause_of

if TYPE_CHECKING:
    from ciguard.domain.findings import Bucket


def alone(bucket: Bucket) -> BucketGroup:
    """Return the group of one bucket."""
    return BucketGroup(name=cause_of(bucket).name, members=(GroupedBucket(bucket=bucket),))
