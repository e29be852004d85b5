"""The protocol of engines, which answer in place of a service, and their base classes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Protocol

from ciguard.levels.app.providers.registered import are_recognised
from ciguard.levels.app.virtualization.validation import refuse

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation, RecognitionTask


class Engine(Protocol):
    """Answers operations of a service, by recognition or by simulation."""

    @property
    def name(self) -> str:
        """Name in reports."""

    @property
    def is_simulated(self) -> bool:
        """True if it generates its answers, and recognises nothing."""

    def serves(self, operation: Operation) -> bool:
        """Return whether it can answer the operation, with what is installed here."""

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the fields of the answer's message, as JSON.

        Args:
            operation: the requested operation.
            about: content of an image or sound, or a text in UTF-8.

        Raises:
            ServiceError: if the service would answer with an error.
        """


@dataclass(frozen=True, slots=True)
class EngineWrapper:
    """Base of wrappers: they serve what the wrapped engine serves."""

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
    """Base of engines that recognise one thing, with optional packages."""

    NAME: ClassVar[str]
    TASK: ClassVar[RecognitionTask]
    MODULES: ClassVar[tuple[str, ...]]
    """Names of the top-level modules that it needs."""
    PROGRAM: ClassVar[str] = ""
    """Program that it needs; empty for none."""

    @property
    def name(self) -> str:
        """Name in reports."""
        return self.NAME

    @property
    def is_simulated(self) -> bool:
        """False: its answers are recognised."""
        return False

    def serves(self, operation: Operation) -> bool:
        """Return whether it recognises what the operation asks for, and is installed."""
        is_recognised = operation.task is self.TASK and are_recognised(operation)
        return is_recognised and are_installed(*self.MODULES, program=self.PROGRAM)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return the recognised content; see `Engine`."""
        refuse(operation, about)
        return self.recognise(operation, about)

    def recognise(self, operation: Operation, about: bytes) -> Json:
        """Return what is recognised in a content that passed `validation.refuse`.

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
