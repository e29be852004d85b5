"""What answers in the place of a service."""

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


class Recogniser:
    """Base of an engine that recognises one thing, with what may not be installed here."""

    NAME: ClassVar[str]
    TASK: ClassVar[RecognitionTask]
    MODULES: ClassVar[tuple[str, ...]]
    """Top-level ones."""
    PROGRAM: ClassVar[str] = ""
    """That they run; empty for none."""

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.NAME

    @property
    def is_simulated(self) -> bool:
        """It recognises."""
        return False

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked for what it recognises, and all of it is installed."""
        is_asked = operation.task is self.TASK and are_recognised(operation)
        return is_asked and are_installed(*self.MODULES, program=self.PROGRAM)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return what is recognised; see `Engine`."""
        refuse(operation, about)
        return self.recognised(operation, about)

    def recognised(self, operation: Operation, about: bytes) -> Json:
        """Return what is recognised in a content that no service refuses at once.

        Raises:
            ServiceError: if the content is damaged, or this fails.
        """
        raise NotImplementedError


def are_installed(*modules: str, program: str = "") -> bool:
    """Return whether modules can be imported, and a program be run, without doing so.

    Args:
        modules: top-level ones.
        program: that they run; empty for none.
    """
    return all(find_spec(one) for one in modules) and (not program or bool(shutil.which(program)))
