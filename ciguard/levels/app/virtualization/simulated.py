"""Answers that are made up, for what no engine here recognises; it says so wherever it is named.

An answer depends on the content, the operation and the seed alone. What an input was made to show
is answered as often as somebody says, and in the words that the service has for it. So it shows
what an application makes of answers that are usual of a service, and nothing of how well the real
service recognises anything.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.inputs import InputSpec, digest_of
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import (
    are_recognised,
    face_messages_of,
    messages_of,
    speech_messages_of,
)
from ciguard.levels.app.virtualization.drawing import Draw
from ciguard.levels.app.virtualization.relations import Relations, relations_of, topics_of
from ciguard.levels.app.virtualization.validation import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored
    from ciguard.levels.app.virtualization.habits import Habits

_LABELLED = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS})
_MIN_LABELS, _MAX_LABELS = 3, 10
_MAX_TOPICS = 3
_SIZE = (640, 480)


@dataclass(frozen=True)
class Simulated:
    """Makes answers up.

    Raises:
        ConfigurationError: if the confusion is no share.
    """

    labels: Vocabulary | None
    """That answers are from; None for a list of ciguard's own. Paths (`/News`) are topics."""
    known: Mapping[str, InputSpec]
    """What inputs were made to show, by the digest of their content."""
    confusion: float = 0.2
    """Share of known inputs that are taken for something else."""
    seed: int = 0
    habits: Habits = field(default_factory=dict)
    """What it says of some things, whatever the confusion is."""

    def __post_init__(self) -> None:
        if not 0 <= self.confusion <= 1:
            msg = f"confusion = {self.confusion}: is to be a share from 0 to 1."
            raise ConfigurationError(msg)

    @property
    def name(self) -> str:
        """How reports call it."""
        whose = "ciguard's own" if self.labels is None else "of the vocabulary"
        return f"simulated labels ({whose}), texts and feelings"

    @property
    def is_simulated(self) -> bool:
        """It recognises nothing."""
        return True

    @cached_property
    def _relations(self) -> Relations:
        return relations_of(self.labels)

    @cached_property
    def _topics(self) -> Relations:
        return topics_of(self.labels)

    def serves(self, operation: Operation) -> bool:
        """Return whether it makes up answers of that kind: to what inputs are made for."""
        return are_recognised(operation)

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return an answer that the service might give; see `Engine`."""
        refuse(operation, about)
        digest = digest_of(about)
        rng = random.Random(f"{self.seed} {operation.title} {digest}")  # noqa: S311 - no secret
        draw = Draw(rng, is_confused=rng.random() < self.confusion)
        wanted = _for_task(self.known.get(digest), operation.task)
        if operation.task in {RecognitionTask.SENTIMENT, RecognitionTask.ENTITIES}:
            return _of_text(draw, operation, wanted, about.decode("utf-8"))
        return self._drawn(draw, operation, wanted)

    def _drawn(self, draw: Draw, operation: Operation, wanted: InputSpec | None) -> Json:
        labels, task = self._relations.labels, operation.task
        habit = self.habits.get((task, wanted.key.lower())) if wanted is not None else None
        if habit is not None:
            return _answer(operation, draw.usual(habit), draw)
        match task:
            case RecognitionTask.FACES:
                return face_messages_of(operation).face_answer(draw.faces(wanted), _SIZE)
            case RecognitionTask.TEXT:
                lines = draw.lines(wanted, labels)
                return messages_of(operation).text_answer(lines, _SIZE)
            case RecognitionTask.SPEECH:
                said = [draw.transcript(wanted, labels)]
                return speech_messages_of(operation).speech_answer(said)
            case RecognitionTask.CATEGORIES:
                count = draw.rng.randint(1, _MAX_TOPICS)
                best = self._deeper(wanted)
                return _answer(operation, draw.names(self._topics, wanted, count, best), draw)
            case _:
                count = draw.rng.randint(_MIN_LABELS, _MAX_LABELS)
                found = draw.names(self._relations, wanted, count, self._own(wanted, task))
        return _answer(operation, found, draw)

    def _own(self, wanted: InputSpec | None, task: RecognitionTask) -> str:
        """Return what is wanted as the service writes it, if nobody says that it has no such name.

        A vocabulary is of labels: a service for objects has names of its own.
        """
        if wanted is None or (task is RecognitionTask.LABELS and self.labels is not None):
            return ""
        return wanted.key[:1].upper() + wanted.key[1:]

    def _deeper(self, wanted: InputSpec | None) -> str:
        """Return what is wanted, if it is a topic below one of ciguard's own; it lists few."""
        if wanted is None or not self._topics.is_open:
            return ""
        top = "/".join(wanted.key.split("/")[:2])
        return wanted.key if top and self._topics.spelled(top) else ""


def _answer(operation: Operation, found: Scored, draw: Draw) -> Json:
    messages = messages_of(operation)
    if operation.task is RecognitionTask.LABELS:
        return messages.label_answer(found)
    if operation.task is RecognitionTask.CATEGORIES:
        return messages.category_answer(found)
    return messages.object_answer(found, [draw.share() for _ in found])


def _for_task(wanted: InputSpec | None, task: RecognitionTask) -> InputSpec | None:
    """Return what an input shows to a service for a task: nothing, if it was made for another."""
    if wanted is None or wanted.task is task or {wanted.task, task} <= _LABELLED:
        return wanted
    return InputSpec(task)


def _of_text(draw: Draw, operation: Operation, wanted: InputSpec | None, text: str) -> Json:
    messages = messages_of(operation)
    if operation.task is RecognitionTask.SENTIMENT:
        return messages.sentiment_answer(*draw.feelings(wanted, text))
    is_felt = "sentiment" in operation.name
    return messages.entity_answer(draw.entities(wanted, text, is_felt=is_felt))
