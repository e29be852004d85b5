"""Dead conditions: sub-conditions that no answer of a service can change, found statically."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from ciguard.levels.app.dead_conditions.dead_code import (
    DeadCondition,
    DeadConditionCause,
    dead_conditions,
)
from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary, read_vocabulary

__all__ = [
    "DeadCondition",
    "DeadConditionCause",
    "Vocabulary",
    "can_prove",
    "contradictory_conditions",
    "dead_conditions",
    "read_vocabulary",
]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.findings import ServiceFunction


def can_prove() -> bool:
    """Return whether z3 is installed."""
    return find_spec("z3") is not None


def contradictory_conditions(
    application: Application, function: ServiceFunction
) -> Iterator[DeadCondition]:
    """Yield sub-conditions that contradict others, so that they are constant; none without z3.

    Args:
        application: the parsed application.
        function: the function whose conditions are checked.
    """
    if can_prove():
        from ciguard.levels.app.dead_conditions.contradictions import (  # noqa: PLC0415 - an extra
            contradictions,
        )

        yield from contradictions(application, function)
