"""The real service, which the application calls with its own client and credentials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation


@dataclass(frozen=True, slots=True)
class RealService:
    """Stands for the real service in recordings; ciguard observes its answers."""

    name: str = "the service"
    is_simulated: bool = False

    def serves(self, operation: Operation) -> bool:
        """Return True: the application may request any operation."""
        del operation
        return True

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Raise an error: only the application calls the service.

        Raises:
            RuntimeError: always.
        """
        del content
        msg = f"{operation.title}: only the application may call the real service"
        raise RuntimeError(msg)
