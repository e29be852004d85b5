"""What answers in the place of a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation


class Engine(Protocol):
    """Recognises something, or pretends to."""

    @property
    def name(self) -> str:
        """How reports call it."""

    @property
    def is_simulated(self) -> bool:
        """Whether it makes its answers up, and recognises nothing."""

    def serves(self, operation: Operation) -> bool:
        """Return whether it can be asked that, with what is installed here."""

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the fields of the answer's message, as JSON.

        Args:
            operation: that is asked.
            about: content of an image or sound, or a text in UTF-8.

        Raises:
            ServiceError: if the service would answer with an error.
        """


@dataclass(frozen=True, slots=True)
class Passing:
    """Base of what stands before another engine, and serves what that does."""

    engine: Engine

    @property
    def name(self) -> str:
        """How reports call it: as if nothing stood before it."""
        return self.engine.name

    @property
    def is_simulated(self) -> bool:
        """Whether its engine makes its answers up."""
        return self.engine.is_simulated

    def serves(self, operation: Operation) -> bool:
        """Return whether its engine can be asked that."""
        return self.engine.serves(operation)
