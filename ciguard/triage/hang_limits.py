"""Timeouts of the repetitions of a hang.

The first repetition has a longer timeout than usual, as far as the budget allows. A call that then
returns is slow, and further repetitions have a timeout for its duration. Otherwise the call hangs,
and further repetitions have half the usual timeout.

A hang occupies a core for its whole timeout. So while others explore, the first repetition has its
minimum timeout, and hangs get a bounded share of the workers' time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Passed
from ciguard.oracles import SLOW, timeout_of, traits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.findings import Finding
    from ciguard.triage.candidates import Candidate

_MAX_TIMEOUT_FACTOR = 10.0
_MIN_TIMEOUT_FACTOR = 3.0
"""Maximum and minimum timeout of a hang's first repetition, as multiples of the usual timeout."""
_MAX_BUDGET_SHARE = 0.125
"""Maximum timeout of a hang's first repetition, as a fraction of its part of the remaining time.
The minimum takes precedence."""
_HANG_TIMEOUT_FACTOR = 0.5
"""Timeout of further repetitions of a hang, as a multiple of the usual timeout."""
_SLOW_TIMEOUT_FACTOR = 2.0
"""Timeout of further repetitions of a slow call, as a multiple of its first duration."""
MAX_SHARE_BESIDE_OTHERS = 0.05
"""Share of the workers' time for the repetitions of hangs while others explore."""


def takes_long(finding: Finding) -> bool:
    """Return whether each repetition of a finding probably takes its whole timeout."""
    return traits_of(finding.oracle).takes_whole_timeout


def hang_limit_s(candidate: Candidate, *, time_left_s: float) -> float:
    """Return the timeout of a hang's next repetition, in seconds.

    Args:
        candidate: the hang, with its repetitions so far.
        time_left_s: its part of the time until confirmation ends, in seconds; 0 for the minimum.
    """
    usual_s = timeout_of(candidate.finding)
    if not candidate.findings:
        allowed_s = min(_MAX_TIMEOUT_FACTOR * usual_s, _MAX_BUDGET_SHARE * time_left_s)
        return max(_MIN_TIMEOUT_FACTOR * usual_s, allowed_s)
    first = candidate.findings[0]
    if first.kind != SLOW:
        return _HANG_TIMEOUT_FACTOR * usual_s
    return _SLOW_TIMEOUT_FACTOR * max(
        o.cost_s for o in first.outcomes.values() if isinstance(o, Passed)
    )


def durations_s(hangs: Sequence[Candidate], repetitions: int, *, lanes: int) -> float:
    """Return the shortest time of the remaining repetitions of all hangs, in seconds.

    Args:
        hangs: the hangs, with their repetitions so far.
        repetitions: number of repetitions of each.
        lanes: number of hangs that are repeated at a time.
    """
    each_s = []
    for hang in hangs:
        done = len(hang.findings)
        factor = _HANG_TIMEOUT_FACTOR * (repetitions - max(1, done))
        factor += 0 if done else _MIN_TIMEOUT_FACTOR
        each_s.append(factor * timeout_of(hang.finding))
    return max(sum(each_s) / lanes, max(each_s, default=0.0))
