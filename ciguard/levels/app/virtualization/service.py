"""The service itself, which the application asks with its own client and its own credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation


@dataclass(frozen=True, slots=True)
class Service:
    """Stands for the service: what it has answered is heard, and never asked for."""

    name: str = "the service"
    is_simulated: bool = False

    def serves(self, operation: Operation) -> bool:
        """Return whether it can be asked that: whatever the application asks."""
        del operation
        return True

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Refuse: only the application asks the service.

        Raises:
            RuntimeError: always.
        """
        del about
        msg = f"{operation.title}: the service was asked in the place of the application"
        raise RuntimeError(msg)
