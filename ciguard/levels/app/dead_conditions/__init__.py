"""Dead conditions: sub-conditions that no answer of a service can change."""

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
    "contradictory_conditions",
    "dead_conditions",
    "has_solver",
    "read_vocabulary",
]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.levels.app.static_analysis.application import Application
    from ciguard.levels.app.static_analysis.findings import ServiceFunction


def has_solver() -> bool:
    """Return whether z3, which proves contradictions, is installed."""
    return find_spec("z3") is not None


def contradictory_conditions(
    application: Application, function: ServiceFunction
) -> Iterator[DeadCondition]:
    """Yield sub-conditions that are constant because of others; none if z3 is not installed.

    Args:
        application: the parsed application.
        function: the function whose conditions are checked.
    """
    if has_solver():
        from ciguard.levels.app.dead_conditions.contradictions import (  # noqa: PLC0415 - needs an extra
            contradictions,
        )

        yield from contradictions(application, function)
