"""Whose services answers are written for: one module each, all with these functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ciguard.applications.answering import (
    aws_messages,
    azure_faces,
    azure_messages,
    azure_speech,
    google_messages,
)
from ciguard.applications.providers.description import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ciguard.applications.answering.codes import Refusal
    from ciguard.applications.answering.recognised import (
        Box,
        Entity,
        Face,
        Felt,
        Scored,
        Size,
        Word,
    )
    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json


class Messages(Protocol):
    """Writes what is recognised as a provider's services say it, in JSON."""

    CLIENTS: frozenset[str]
    """That are answered, by the names that descriptions give them."""
    TASKS: frozenset[Task]
    """That engines can answer."""
    KINDS: Mapping[str, str]
    """What its services call a kind of entities → one of `ENTITY_KINDS`; empty if it is none."""

    def topic(self, text: str) -> str:
        """Return how a category is spelled."""

    def label_answer(self, found: Scored) -> Json:
        """Return labels, the likeliest first."""

    def object_answer(self, found: Scored, boxes: Sequence[Box]) -> Json:
        """Return objects, the likeliest first, each in a box of shares."""

    def category_answer(self, found: Scored) -> Json:
        """Return topics, the likeliest first."""

    def text_answer(self, lines: Sequence[Sequence[Word]], size: Size) -> Json:
        """Return what is written in an image of that size; none of its lines is empty."""

    def sentiment_answer(self, score: float, felt: Sequence[Felt]) -> Json:
        """Return what is felt in a document, -1 to 1, and in each of its sentences."""

    def sentiments_around(self, numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
        """Yield what may be felt, on both sides of each number: its title and the answer."""

    def about_one_sentence(self, document: Json) -> Json:
        """Return what is felt in a text of one sentence, of what is felt in all of it."""

    def entity_answer(self, entities: Sequence[Entity]) -> Json:
        """Return what a text speaks of, what is most of it first."""

    def listed_answer(self, operation: Operation, found: Scored) -> Json:
        """Return results of any other operation whose description says where they lie."""

    def refusals(self, operation: Operation) -> Sequence[Refusal]:
        """Return how the service may refuse."""


class FaceMessages(Protocol):
    """Writes faces as a provider's services say them."""

    SHOWN_BY_FACES: tuple[str, ...]
    """What its services tell of a face."""
    ARE_FACES_MEASURED: bool
    """Whether they tell ages, and in numbers how sure they are of what a face shows."""

    def face_answer(self, faces: Sequence[Face], size: Size) -> Json:
        """Return faces in an image of that size."""


class SpeechMessages(Protocol):
    """Writes speech as a provider's services say it."""

    def speech_answer(self, found: Scored) -> Json:
        """Return what was said, one part after the other."""


_MESSAGES: Mapping[str, Messages] = {
    "google": google_messages,
    "aws": aws_messages,
    "azure": azure_messages,
}


_OF_FACES: Mapping[str, FaceMessages] = {
    "google": google_messages,
    "aws": aws_messages,
    "azure": azure_faces,
}
_OF_SPEECH: Mapping[str, SpeechMessages] = {
    "google": google_messages,
    "aws": aws_messages,
    "azure": azure_speech,
}
_SIZE = (640, 480)
"""Of an image in which there is nothing."""


def messages_of(operation: Operation) -> Messages:
    """Return what writes the answers of an operation's provider.

    Raises:
        KeyError: if nobody does, see `are_written`.
    """
    return _MESSAGES[operation.provider]


def face_messages_of(operation: Operation) -> FaceMessages:
    """Return what writes the faces of an operation's provider.

    Raises:
        KeyError: if nobody does: the client for them is not answered, see `are_written`.
    """
    return _OF_FACES[operation.provider]


def speech_messages_of(operation: Operation) -> SpeechMessages:
    """Return what writes the speech of an operation's provider.

    Raises:
        KeyError: if nobody does: the client for it is not answered, see `are_written`.
    """
    return _OF_SPEECH[operation.provider]


def are_written(operation: Operation) -> bool:
    """Return whether answers of an operation's client are written."""
    messages = _MESSAGES.get(operation.provider)
    return messages is not None and operation.client in messages.CLIENTS


def are_recognised(operation: Operation) -> bool:
    """Return whether what engines recognise can be written as answers of an operation."""
    return are_written(operation) and operation.task in messages_of(operation).TASKS


def empty_answer(operation: Operation) -> Json:
    """Return what is answered where nothing is recognised; a text has no feeling then.

    Raises:
        KeyError: if nobody writes answers of its provider, see `are_written`.
    """
    messages = messages_of(operation)
    writers: Mapping[Task, Callable[[], Json]] = {
        Task.LABELS: lambda: messages.label_answer([]),
        Task.OBJECTS: lambda: messages.object_answer([], []),
        Task.CATEGORIES: lambda: messages.category_answer([]),
        Task.FACES: lambda: face_messages_of(operation).face_answer([], _SIZE),
        Task.TEXT: lambda: messages.text_answer([], _SIZE),
        Task.SPEECH: lambda: speech_messages_of(operation).speech_answer([]),
        Task.SENTIMENT: lambda: messages.sentiment_answer(0.0, []),
        Task.ENTITIES: lambda: messages.entity_answer([]),
    }
    return writers.get(operation.task, lambda: messages.listed_answer(operation, []))()
