"""Since which release: bisection of what is new, in what is left of a long run's time.

Only released versions of a library on the processor are tried, each in an environment of its own.
An installation that does not end in time is ended, and its bucket has no date.
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
from ciguard.targets import Published, cache_folder, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from ciguard.campaign.stages.stage import Turns
    from ciguard.campaign.state import CampaignState
    from ciguard.config import Config
    from ciguard.domain.events import Event
    from ciguard.domain.findings import Bucket

log = logging.getLogger(__name__)

_MIN_S = 10.0
"""In less no version can be tried."""
_MIN_FREE_BYTES = 8 << 30
"""Environments of several releases take some; what a run needs for its results must be left."""
_MAX_BETWEEN = 20


class Date(CampaignStage):
    """Finds since which release what is new shows; in long runs that others wait for less."""

    name = "date"

    def __init__(self, state: CampaignState) -> None:
        self._state = state

    def run(self, turns: Turns) -> Iterator[Event]:
        """Bisect what was confirmed and no record knows, the gravest first."""
        del turns
        state = self._state
        unknown = [
            bucket
            for bucket in state.intake.worst_first()
            if find_record(state.memory.records, bucket.fingerprint, *bucket.aliases) is None
        ]
        for bucket, onset in dated(unknown, state.config, until=state.budget.date_until):
            state.intake.date(bucket, onset)
        yield from ()


class _OutOfTimeError(BaseException):
    """The time for dating is over. No `except Exception` on the way may take it for its own."""


def dated(
    buckets: Iterable[Bucket], config: Config, *, until: float
) -> Iterator[tuple[Bucket, Onset]]:
    """Yield the buckets for which a release is found that shows them first, each with that.

    Args:
        buckets: confirmed ones, those that matter most first.
        config: limits and repetitions.
        until: when the last one must have ended, on the clock of `time.monotonic`.
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
    """Return whether a defect can be dated: it is a library's, and releases can be tried."""
    finding = bucket.finding
    if not finding.case.is_run_by_worker or is_measured(finding):
        return False
    if finding.pair not in {PairKind.NONE, PairKind.VERSION}:
        return False
    target = parse_target(finding.targets[-1].partition(" #")[0])
    return target.device == "cpu" and all(isinstance(p, Published) for p in target.packages)


def _onset(bucket: Bucket, config: Config, *, limit_s: float) -> Onset | None:
    try:
        with _limited(limit_s):
            found = bisect(bucket, config)
    except _OutOfTimeError:
        log.info("%s: no time was left to find since which release", bucket.fingerprint)
        return None
    except CiguardError as error:
        log.info("%s: not found since which release: %s", bucket.fingerprint, error)
        return None
    between = tuple(found.between[:_MAX_BETWEEN])
    return Onset(first_bad=found.first_bad, last_good=found.last_good, between=between)


def _free_bytes() -> int:
    folder = cache_folder()
    while not folder.exists():
        folder = folder.parent
    return shutil.disk_usage(folder).free


@contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Raise once the time is over, also where an installation is waited for.

    Signals reach the main thread only: elsewhere all time is over at once.
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
