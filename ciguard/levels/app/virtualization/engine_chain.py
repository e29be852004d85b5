"""A chain of engines, of which the first that serves an operation answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.errors import CiguardError

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine


class NoEngineError(CiguardError):
    """No engine serves a requested operation."""

    def __init__(self, operation: Operation, *, among: str) -> None:
        """Build the message.

        Args:
            operation: the requested operation.
            among: names of the available engines; empty for none.
        """
        super().__init__(
            f"{operation.title}: no engine answers this operation. Engines: {among or 'none'}. "
            "Record the service's own answers, or exclude the functions that call it."
        )


@dataclass(frozen=True, slots=True)
class EngineChain:
    """Answers each operation with the first of its engines that serves the operation."""

    engines: tuple[Engine, ...]

    @property
    def name(self) -> str:
        """Name in reports: the names of all engines; `engine_for` returns the one that answers."""
        return ", ".join(engine.name for engine in self.engines)

    @property
    def is_simulated(self) -> bool:
        """True if all of its engines are simulated."""
        return all(engine.is_simulated for engine in self.engines)

    def engine_for(self, operation: Operation) -> Engine | None:
        """Return the engine that answers an operation; None if none does."""
        serving = (engine for engine in self.engines if engine.serves(operation))
        return next(serving, None)

    def serves(self, operation: Operation) -> bool:
        """Return whether one of its engines serves the operation."""
        return self.engine_for(operation) is not None

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the answer of the first engine that serves the operation; see `Engine`.

        Raises:
            NoEngineError: if no engine serves it.
        """
        engine = self.engine_for(operation)
        if engine is None:
            raise NoEngineError(operation, among=self.name)
        return engine.answer(operation, content)
