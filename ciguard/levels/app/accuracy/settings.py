"""How applications are tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.repair.measures import ALPHA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ciguard.levels.app.exploration.surroundings import Surroundings
    from ciguard.levels.app.input_synthesis.inputs import Inverse, ServiceInput
    from ciguard.levels.app.repair.relatedness import Relatedness
    from ciguard.levels.app.virtualization.chosen import Chosen
    from ciguard.levels.app.virtualization.faults import Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How applications are tried."""

    inverse: Inverse
    """Makes inputs."""
    serving: Callable[[Sequence[ServiceInput]], Chosen]
    """Returns what answers in the place of the service, given all inputs of a function."""
    related: Relatedness
    """Labels that may be added to each other."""
    inputs: int = 100
    """Of a function, for all its sub-conditions together, as in the paper's evaluation."""
    alpha: float = ALPHA
    """Least recall that is no failure."""
    budget_s: float = 120.0
    """Of a function."""
    seed: int = 0
    is_real: bool = False
    """Whether the application asks the service itself."""
    surroundings: Surroundings | None = None
    """What the application has around it; None: as `Surroundings()`."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong on purpose, in calls of their own."""
