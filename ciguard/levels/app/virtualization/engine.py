"""The protocol of engines, which answer in place of a service, and base classes of engines."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Protocol

from ciguard.levels.app.providers.registered import is_recognisable
from ciguard.levels.app.virtualization.validation import refuse_invalid

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation, RecognitionTask


class Engine(Protocol):
    """Answers operations of a service by recognition, by simulation or from a recording."""

    @property
    def name(self) -> str:
        """Name of the engine in reports."""

    @property
    def is_simulated(self) -> bool:
        """True if the engine generates its answers, and recognises nothing."""

    def serves(self, operation: Operation) -> bool:
        """Return whether the engine can answer the operation with the installed packages."""

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the answer, in the JSON of the provider's messages.

        Args:
            operation: the requested operation.
            content: content of an image or sound, or a text in UTF-8.

        Raises:
            ServiceError: if the service would answer with an error.
        """


@dataclass(frozen=True, slots=True)
class EngineWrapper:
    """Base class of engines that wrap another engine and serve the same operations."""

    engine: Engine

    @property
    def name(self) -> str:
        """Name in reports: that of the wrapped engine."""
        return self.engine.name

    @property
    def is_simulated(self) -> bool:
        """True if the wrapped engine is simulated."""
        return self.engine.is_simulated

    def serves(self, operation: Operation) -> bool:
        """Return whether the wrapped engine serves the operation."""
        return self.engine.serves(operation)


class Recogniser:
    """Base class of engines that recognise content for one task, with optional packages."""

    NAME: ClassVar[str]
    TASK: ClassVar[RecognitionTask]
    MODULES: ClassVar[tuple[str, ...]]
    """Names of the top-level modules that the engine needs."""
    PROGRAM: ClassVar[str] = ""
    """Program that the engine needs; empty for none."""

    @property
    def name(self) -> str:
        """Name of the engine in reports."""
        return self.NAME

    @property
    def is_simulated(self) -> bool:
        """False: the engine recognises the content."""
        return False

    def serves(self, operation: Operation) -> bool:
        """Return whether the operation has the engine's task, and its packages are installed."""
        is_recognised = operation.task is self.TASK and is_recognisable(operation)
        return is_recognised and are_installed(*self.MODULES, program=self.PROGRAM)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the answer with the recognised content; see `Engine`."""
        refuse_invalid(operation, content)
        return self.recognise(operation, content)

    def recognise(self, operation: Operation, content: bytes) -> Json:
        """Return the answer to a content that `refuse_invalid` has accepted.

        Raises:
            ServiceError: if the content is damaged, or recognition fails.
        """
        raise NotImplementedError


def are_installed(*modules: str, program: str = "") -> bool:
    """Return whether modules and a program are installed, without importing or running them.

    Args:
        modules: names of top-level modules.
        program: name of a program; empty for none.
    """
    return all(find_spec(module) for module in modules) and (
        not program or bool(shutil.which(program))
    )
