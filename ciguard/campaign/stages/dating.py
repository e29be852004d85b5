"""Dating stage: bisection of new buckets over releases, in the remaining time of a long run.

Only released versions of a library on the CPU are tested, each in its own environment. If an
installation exceeds the time, it is stopped, and the bucket has no date.
"""

from __future__ import annotations

import logging
import shutil
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ciguard.baseline import find_record
from ciguard.campaign.bisect import bisect
from ciguard.campaign.stages.stage import CampaignStage
from ciguard.domain.findings import PairKind
from ciguard.domain.onset import Onset
from ciguard.errors import CiguardError
from ciguard.oracles import is_measured
from ciguard.targets import IndexPackage, cache_folder, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from ciguard.campaign.stages.stage import EventLoop
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket

log = logging.getLogger(__name__)

_MIN_S = 10.0
"""Minimum time for testing a version, in seconds."""
_MIN_FREE_BYTES = 8 << 30
"""Minimum free disk space for environments of several releases, in bytes."""
_MAX_BETWEEN = 20


class Date(CampaignStage):
    """Finds the first release that shows a new bucket, in long runs."""

    name = "date"

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def run(self, loop: EventLoop) -> Iterator[Event]:
        """Bisect confirmed new buckets, by decreasing severity."""
        del loop
        state = self._state
        new = [
            bucket
            for bucket in state.collector.by_severity()
            if find_record(state.baseline.records, bucket.fingerprint, *bucket.aliases) is None
        ]
        for bucket, onset in dated(new, state.config, until=state.budget.date_until):
            state.collector.set_onset(bucket, onset)
        yield from ()


class _OutOfTimeError(BaseException):
    """The time for dating is over; a BaseException, so that no `except Exception` catches it."""


def dated(
    buckets: Iterable[Bucket], config: Config, *, until: float
) -> Iterator[tuple[Bucket, Onset]]:
    """Yield the buckets whose first release was found, each with the result.

    Args:
        buckets: confirmed buckets, the most important first.
        config: settings, with limits and repetitions.
        until: deadline on the clock of `time.monotonic`.
    """
    for bucket in buckets:
        if not is_dated(bucket):
            continue
        left_s = until - time.monotonic()
        if left_s < _MIN_S or _free_bytes() < _MIN_FREE_BYTES:
            return
        onset = _onset(bucket, config, limit_s=left_s)
        if onset is not None:
            yield bucket, onset


def is_dated(bucket: Bucket) -> bool:
    """Return whether a defect can be dated by testing releases of a library."""
    finding = bucket.finding
    if not finding.case.is_run_by_worker or is_measured(finding):
        return False
    if finding.pair not in {PairKind.NONE, PairKind.VERSION}:
        return False
    target = parse_target(finding.targets[-1].partition(" #")[0])
    are_published = (isinstance(package, IndexPackage) for package in target.packages)
    return target.device == "cpu" and all(are_published)


def _onset(bucket: Bucket, config: Config, *, limit_s: float) -> Onset | None:
    try:
        with _limited(limit_s):
            bisection = bisect(bucket, config)
    except _OutOfTimeError:
        log.info("%s: not dated, as the time is over", bucket.fingerprint)
        return None
    except CiguardError as error:
        log.info("%s: not dated: %s", bucket.fingerprint, error)
        return None
    between = tuple(bisection.between[:_MAX_BETWEEN])
    return Onset(first_bad=bisection.first_bad, last_good=bisection.last_good, between=between)


def _free_bytes() -> int:
    folder = cache_folder()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Raise once the time is over, even during an installation.

    Signals reach the main thread only, so other threads have no time at all.
    """
    if threading.current_thread() is not threading.main_thread():
        raise _OutOfTimeError

    def end(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise _OutOfTimeError

    previous = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
