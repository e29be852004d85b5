"""Steps at which graphs fail, as workers report them at the beginning of a message."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.outcomes import Errored, Rejected

if TYPE_CHECKING:
    from ciguard.domain.outcomes import Outcome

_PLACE = re.compile(r"step (\d{1,4}): ")


def failed_step(outcome: Outcome) -> int | None:
    """Return the index of the step at which a graph failed; None if it is unknown."""
    if not isinstance(outcome, Rejected | Errored):
        return None
    match = _PLACE.match(outcome.message)
    return int(match[1]) if match else None


def is_about_sizes(outcome: Rejected) -> bool:
    """Return whether a compiler refused a call because a size of its argument is unknown.

    The fault is then not with the call, but with the one whose result has the size.
    """
    return "data-dependent" in outcome.message


def without_step_number(message: str) -> str:
    """Return a message without the number of the step at its beginning."""
    return _PLACE.sub("", message, count=1)
