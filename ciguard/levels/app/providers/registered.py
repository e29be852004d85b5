"""Providers by name: ciguard's own, and those of other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.contract import CallingConventions, Provider
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import FaceMessages, Messages, SpeechMessages
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
_OWN = "ciguard.levels.app.providers."
_SIZE = (640, 480)
"""Of an image in which there is nothing."""


def known_providers() -> tuple[ProviderDescription, ...]:
    """Return what the registered providers offer."""
    return tuple(one.description for one in PROVIDERS.items().values())


def conventions() -> tuple[CallingConventions, ...]:
    """Return how applications of the registered providers are called."""
    return tuple(one.called for one in PROVIDERS.items().values())


def conventions_of(provider: str) -> CallingConventions:
    """Return those of one provider; the usual ones if it is not registered."""
    found = PROVIDERS.items().get(provider)
    return CallingConventions() if found is None else found.called


def hook_of(provider: str) -> Json:
    """Return what the application's process loads a provider's hook by: its module, and its file.

    Raises:
        UnknownNameError: if the provider is not registered.
        ModuleNotFoundError: if there is no such module.
    """
    found = PROVIDERS.get(provider)
    return {"hook": found.hook, "file": str(found.hook_file)}


def outside_hooks(providers: Iterable[str]) -> dict[str, str]:
    """Return the modules of hooks that are not ciguard's own, by provider: nothing else finds them.

    Args:
        providers: names; one that is not registered here is taken for ciguard's own.
    """
    known = PROVIDERS.items()
    hooks = {name: known[name].hook for name in providers if name in known}
    return {name: hook for name, hook in hooks.items() if not hook.startswith(_OWN)}


def messages_of(operation: Operation) -> Messages:
    """Return what writes the answers of an operation's provider.

    Raises:
        UnknownNameError: if nobody does, see `are_written`.
    """
    return PROVIDERS.get(operation.provider).messages


def face_messages_of(operation: Operation) -> FaceMessages:
    """Return what writes the faces of an operation's provider.

    Raises:
        UnknownNameError: if its provider is not registered, see `are_written`.
        LookupError: if nobody writes them: the client for them is not answered.
    """
    faces = PROVIDERS.get(operation.provider).faces
    if faces is None:
        msg = f"{operation.title}: no client for faces is answered"
        raise LookupError(msg)
    return faces


def speech_messages_of(operation: Operation) -> SpeechMessages:
    """Return what writes the speech of an operation's provider.

    Raises:
        UnknownNameError: if its provider is not registered, see `are_written`.
        LookupError: if nobody writes it: the client for it is not answered.
    """
    speech = PROVIDERS.get(operation.provider).speech
    if speech is None:
        msg = f"{operation.title}: no client for speech is answered"
        raise LookupError(msg)
    return speech


def are_written(operation: Operation) -> bool:
    """Return whether answers of an operation's client are written."""
    provider = PROVIDERS.items().get(operation.provider)
    return provider is not None and operation.client in provider.messages.CLIENTS


def are_recognised(operation: Operation) -> bool:
    """Return whether what engines recognise can be written as answers of an operation."""
    return are_written(operation) and operation.task in messages_of(operation).TASKS


def answered_operations() -> tuple[Operation, ...]:
    """Return what engines answer, or make answers up to."""
    return tuple(
        found
        for provider in PROVIDERS.items().values()
        for name in provider.answered
        for found in provider.description.operations(name)
        if are_written(found)  # older clients have some names too
    )


def empty_answer(operation: Operation) -> Json:
    """Return what is answered where nothing is recognised; a text has no feeling then.

    Raises:
        UnknownNameError: if nobody writes answers of its provider, see `are_written`.
    """
    messages = messages_of(operation)
    writers: Mapping[RecognitionTask, Callable[[], Json]] = {
        RecognitionTask.LABELS: lambda: messages.label_answer([]),
        RecognitionTask.OBJECTS: lambda: messages.object_answer([], []),
        RecognitionTask.CATEGORIES: lambda: messages.category_answer([]),
        RecognitionTask.FACES: lambda: face_messages_of(operation).face_answer([], _SIZE),
        RecognitionTask.TEXT: lambda: messages.text_answer([], _SIZE),
        RecognitionTask.SPEECH: lambda: speech_messages_of(operation).speech_answer([]),
        RecognitionTask.SENTIMENT: lambda: messages.sentiment_answer(0.0, []),
        RecognitionTask.ENTITIES: lambda: messages.entity_answer([]),
    }
    return writers.get(operation.task, lambda: messages.listed_answer(operation, []))()
