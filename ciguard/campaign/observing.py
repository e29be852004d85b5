"""Observation of operators: before the first run in an environment, calls of all APIs are traced.

The operators that they run, and the arguments of these, serve as models for the calls of operators
that the library does not document. They become part of the experience, which later runs reuse.
"""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

from ciguard.campaign.experience import Snapshot, snapshot_of
from ciguard.domain.case import case_to_json
from ciguard.domain.outcomes import Passed
from ciguard.execution import Job
from ciguard.knowledge import Experience, experience_lines
from ciguard.levels import ObservingLevel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ciguard.campaign.group import Group
    from ciguard.domain.case import Case
    from ciguard.domain.values import Json
    from ciguard.execution import Dispatcher
    from ciguard.levels import VisitedLevel

log = logging.getLogger(__name__)

_OBSERVED = "observed"
"""Second member of a case whose operators are observed, see `execution.worker.observing`."""
KEY = "observe"
"""First member of the keys of jobs whose results are not judged."""
_CASE_LIMIT_S = 2.0
_WAIT_S = 1.0
_WINDOW = 8
"""Number of APIs whose calls run or wait at the same time."""
_MIN_KNOWN_SHARE = 0.125
"""Share of the operators with observed calls from which on an experience needs no more."""


def with_observed_operators(
    snapshot: Snapshot, level: VisitedLevel, group: Group, dispatcher: Dispatcher, *, limit_s: float
) -> Snapshot:
    """Return the experience with observed operators; unchanged if it has them already.

    Args:
        snapshot: experience that a run begins with.
        level: level that uses the experience.
        group: targets of the library, the first of which is observed.
        dispatcher: dispatcher of the targets, without any job.
        limit_s: maximum time, in seconds.
    """
    targets = [
        member.name
        for member in group.running
        if member.environment.library.observes_operators
        and member.name in group.running_eagerly
        and member.identity.device == "cpu"
    ]
    if not targets or not isinstance(level, ObservingLevel) or not _is_needed(snapshot, level):
        return snapshot
    learned = dict(snapshot.learned)
    records = _records(level.calls_to_observe(snapshot.learned), targets[0], dispatcher, limit_s)
    for api, experience in level.observed(records).items():
        learned[api] = _sum(learned.get(api), experience)
    if not learned:
        return snapshot
    text = "".join(experience_lines(group.library, learned))
    return snapshot_of(text, name=f"the experience with {group.library}")


def _is_needed(snapshot: Snapshot, level: ObservingLevel) -> bool:
    known = [api for api in level.observable if api in snapshot.learned]
    count = sum(bool(snapshot.learned[api].observed) for api in known)
    return count < _MIN_KNOWN_SHARE * len(level.observable)


def _sum(known: Experience | None, observed: Experience) -> Experience:
    total = Experience()
    for part in (known, observed):
        if part is not None:
            total.update(part)
    return total


def _records(
    calls: Iterator[Sequence[Case]], target: str, dispatcher: Dispatcher, limit_s: float
) -> Iterator[Sequence[Json]]:
    """Yield the operators of all calls with their arguments, in the order of the calls."""
    until = time.monotonic() + limit_s
    rows: dict[int, list[Sequence[Json]]] = {}

    def collect(waiting: int) -> None:
        while dispatcher.waiting(target) > waiting and not dispatcher.failure(target):
            for result in dispatcher.wait(_WAIT_S):
                rows[result.job.key[1]] = [*_decoded(result.outcomes)]  # type: ignore[index]

    for number, cases in enumerate(calls):
        if time.monotonic() > until:
            break
        encoded = tuple(
            json.dumps([case.api, _OBSERVED, case_to_json(case)]).encode("ascii") for case in cases
        )
        dispatcher.add(Job(target, (KEY, number), encoded, max_hangs=1, limit_s=_CASE_LIMIT_S))
        collect(_WINDOW)
    collect(0)
    for _, row in sorted(rows.items()):
        yield from row


def _decoded(outcomes: Iterable[object]) -> Iterator[Sequence[Json]]:
    for outcome in outcomes:
        if isinstance(outcome, Passed):
            try:
                records = json.loads(outcome.encoded)
                yield from [(str(operator), dict(arguments)) for operator, arguments in records]
            except (ValueError, TypeError):  # the library has corrupted its worker
                log.warning("malformed observation: %.80r", outcome.encoded)
