"""Registered providers by name: those of ciguard and of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.contract import CallingConventions, Provider
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import (
        FaceMessages,
        Messages,
        SafetyMessages,
        SpeechMessages,
    )
    from ciguard.levels.app.providers.description import Operation, ProviderDescription

PROVIDERS: Registry[Provider] = Registry(
    "provider",
    group="ciguard.providers",
    accepts=lambda item: isinstance(item, Provider),
    built_in={
        name: f"ciguard.levels.app.providers.{name}.spec:PROVIDER"
        for name in ("google", "aws", "azure")
    },
)
_OWN_PREFIX = "ciguard.levels.app.providers."
_EMPTY_IMAGE_SIZE = (640, 480)
"""Width and height of an image that shows nothing, in pixels."""


def known_providers() -> tuple[ProviderDescription, ...]:
    """Return the descriptions of the registered providers."""
    return tuple(provider.description for provider in PROVIDERS.items().values())


def conventions() -> tuple[CallingConventions, ...]:
    """Return the calling conventions of the registered providers."""
    return tuple(provider.conventions for provider in PROVIDERS.items().values())


def conventions_of(provider: str) -> CallingConventions:
    """Return the calling conventions of a provider; the defaults if it is not registered."""
    registered = PROVIDERS.items().get(provider)
    return CallingConventions() if registered is None else registered.conventions


def hook_of(provider: str) -> Json:
    """Return the module (`hook`) and the `file` of the hook that an application's process loads.

    Raises:
        UnknownNameError: if the provider is not registered.
        ModuleNotFoundError: if the module is not installed.
    """
    registered = PROVIDERS.get(provider)
    return {"hook": registered.hook, "file": str(registered.hook_file)}


def hooks_of_other_packages(providers: Iterable[str]) -> dict[str, str]:
    """Return the hook module of each given provider that another package registers.

    Args:
        providers: names of providers; those that are not registered are left out.
    """
    registered = PROVIDERS.items()
    hooks = {name: registered[name].hook for name in providers if name in registered}
    return {name: hook for name, hook in hooks.items() if not hook.startswith(_OWN_PREFIX)}


def messages_of(operation: Operation) -> Messages:
    """Return the message writer of an operation's provider.

    Raises:
        UnknownNameError: if its provider is not registered; check with `has_answer_writer` first.
    """
    return PROVIDERS.get(operation.provider).messages


def face_messages_of(operation: Operation) -> FaceMessages:
    """Return the face writer of an operation's provider.

    Raises:
        UnknownNameError: if its provider is not registered; check with `has_answer_writer` first.
        LookupError: if the provider has no face writer.
    """
    faces = PROVIDERS.get(operation.provider).faces
    if faces is None:
        msg = f"provider {operation.provider} has no face writer, which {operation.title} needs"
        raise LookupError(msg)
    return faces


def speech_messages_of(operation: Operation) -> SpeechMessages:
    """Return the speech writer of an operation's provider.

    Raises:
        UnknownNameError: if its provider is not registered; check with `has_answer_writer` first.
        LookupError: if the provider has no speech writer.
    """
    speech = PROVIDERS.get(operation.provider).speech
    if speech is None:
        msg = f"provider {operation.provider} has no speech writer, which {operation.title} needs"
        raise LookupError(msg)
    return speech


def safety_messages_of(operation: Operation) -> SafetyMessages:
    """Return the writer of answers about unsafe content of an operation's provider.

    Raises:
        LookupError: if its provider has no such writer.
    """
    safety = PROVIDERS.get(operation.provider).safety
    if safety is None:
        msg = f"provider {operation.provider} has no safety writer, which {operation.title} needs"
        raise LookupError(msg)
    return safety


def has_answer_writer(operation: Operation) -> bool:
    """Return whether the operation's provider is registered and writes answers for its client."""
    provider = PROVIDERS.items().get(operation.provider)
    return provider is not None and operation.client in provider.messages.CLIENTS


def is_recognisable(operation: Operation) -> bool:
    """Return whether engines can recognise or simulate the operation's result."""
    return has_answer_writer(operation) and operation.task in messages_of(operation).TASKS


def answered_operations() -> tuple[Operation, ...]:
    """Return the operations that engines recognise or simulate."""
    return tuple(
        operation
        for provider in PROVIDERS.items().values()
        for name in provider.answered
        for operation in provider.description.operations(name)
        if has_answer_writer(operation)  # unsupported older clients share some names
    )


def empty_answer(operation: Operation) -> Json:
    """Return the answer that recognises nothing; for sentiment, the answer is neutral.

    Raises:
        UnknownNameError: if the provider is not registered; check with `has_answer_writer` first.
    """
    messages = messages_of(operation)
    writers: Mapping[RecognitionTask, Callable[[], Json]] = {
        RecognitionTask.LABELS: lambda: messages.label_answer([]),
        RecognitionTask.OBJECTS: lambda: messages.object_answer([], []),
        RecognitionTask.CATEGORIES: lambda: messages.category_answer([]),
        RecognitionTask.FACES: lambda: face_messages_of(operation).face_answer(
            [], _EMPTY_IMAGE_SIZE
        ),
        RecognitionTask.TEXT: lambda: messages.text_answer([], _EMPTY_IMAGE_SIZE),
        RecognitionTask.SPEECH: lambda: speech_messages_of(operation).speech_answer([]),
        RecognitionTask.SAFETY: lambda: safety_messages_of(operation).safety_answer({}),
        RecognitionTask.SENTIMENT: lambda: messages.sentiment_answer(0.0, []),
        RecognitionTask.ENTITIES: lambda: messages.entity_answer([]),
    }
    return writers.get(operation.task, lambda: messages.listed_answer(operation, []))()
