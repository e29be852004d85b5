"""Generates answers for tasks without an installed recogniser; reports call them simulated.

An answer depends only on the content, the operation and the seed. With a configured probability, it
has what the input was made to show, in the service's words. A run with such answers shows how an
application handles typical answers, but not how well the real service recognises.
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
    face_messages_of,
    is_recognisable,
    messages_of,
    speech_messages_of,
)
from ciguard.levels.app.virtualization.drawing import AnswerGenerator
from ciguard.levels.app.virtualization.relations import Relations, relations_of, topics_of
from ciguard.levels.app.virtualization.validation import refuse_invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.values import Json
    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored
    from ciguard.levels.app.virtualization.confusion_matrix import ConfusionMatrix

_LABELLED = frozenset({RecognitionTask.LABELS, RecognitionTask.OBJECTS})
_MIN_LABELS, _MAX_LABELS = 3, 10
_MAX_TOPICS = 3
_SIZE = (640, 480)


@dataclass(frozen=True)
class SimulationEngine:
    """Generates answers from the specifications of inputs.

    Raises:
        ConfigurationError: if the confusion is not between 0 and 1.
    """

    labels: Vocabulary | None
    """Labels of answers; None for ciguard's own list. Paths such as `/News` are topics."""
    input_specs: Mapping[str, InputSpec]
    """Specifications of the synthesised inputs, by the digest of their content."""
    confusion: float = 0.2
    """Share of known inputs for which the answer misses what the input shows."""
    seed: int = 0
    confusion_matrix: ConfusionMatrix = field(default_factory=dict)
    """Confusion matrix of some labels; for these, it replaces `confusion`."""

    def __post_init__(self) -> None:
        if not 0 <= self.confusion <= 1:
            msg = f"confusion has to be a number from 0 to 1, not {self.confusion}."
            raise ConfigurationError(msg)

    @property
    def name(self) -> str:
        """Name of the engine in reports."""
        source = "ciguard's own" if self.labels is None else "of the vocabulary"
        return f"generator of labels ({source}), texts and sentiment"

    @property
    def is_simulated(self) -> bool:
        """True: the engine recognises nothing."""
        return True

    @cached_property
    def _relations(self) -> Relations:
        return relations_of(self.labels)

    @cached_property
    def _topics(self) -> Relations:
        return topics_of(self.labels)

    def serves(self, operation: Operation) -> bool:
        """Return whether the provider can write answers for the operation's task."""
        return is_recognisable(operation)

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return a possible answer of the service; see `Engine`."""
        refuse_invalid(operation, content)
        digest = digest_of(content)
        # All operations of a provider find the same entities in one text.
        is_shared = operation.task is RecognitionTask.ENTITIES
        subject = f"{operation.provider} {operation.task}" if is_shared else operation.title
        rng = random.Random(f"{self.seed} {subject} {digest}")  # noqa: S311 - nothing secret is drawn
        generator = AnswerGenerator(rng, is_confused=rng.random() < self.confusion)
        input_spec = _spec_for_task(self.input_specs.get(digest), operation.task)
        if operation.task in {RecognitionTask.SENTIMENT, RecognitionTask.ENTITIES}:
            return _text_answer(generator, operation, input_spec, content.decode("utf-8"))
        return self._generate(generator, operation, input_spec)

    def _generate(
        self, generator: AnswerGenerator, operation: Operation, input_spec: InputSpec | None
    ) -> Json:
        """Return a random answer about an image or a sound, or with topics of a text."""
        labels, task = self._relations.labels, operation.task
        confusions = (
            self.confusion_matrix.get((task, input_spec.key.lower()))
            if input_spec is not None
            else None
        )
        if confusions is not None:
            return _answer(operation, generator.confused_labels(confusions), generator)
        match task:
            case RecognitionTask.FACES:
                return face_messages_of(operation).face_answer(generator.faces(input_spec), _SIZE)
            case RecognitionTask.TEXT:
                lines = generator.lines(input_spec, labels)
                return messages_of(operation).text_answer(lines, _SIZE)
            case RecognitionTask.SPEECH:
                transcripts = [generator.transcript(input_spec, labels)]
                return speech_messages_of(operation).speech_answer(transcripts)
            case RecognitionTask.CATEGORIES:
                count = generator.rng.randint(1, _MAX_TOPICS)
                best = self._subtopic(input_spec)
                return _answer(
                    operation,
                    generator.scored_labels(self._topics, input_spec, count, best),
                    generator,
                )
            case _:
                count = generator.rng.randint(_MIN_LABELS, _MAX_LABELS)
                scored = generator.scored_labels(
                    self._relations, input_spec, count, self._service_spelling(input_spec, task)
                )
        return _answer(operation, scored, generator)

    def _service_spelling(self, input_spec: InputSpec | None, task: RecognitionTask) -> str:
        """Return the specified label with a capital, as services spell labels; empty for None.

        It is also empty for labels if the user has a vocabulary, which lists all labels; the names
        of objects are not limited to a vocabulary.
        """
        if input_spec is None or (task is RecognitionTask.LABELS and self.labels is not None):
            return ""
        return input_spec.key[:1].upper() + input_spec.key[1:]

    def _subtopic(self, input_spec: InputSpec | None) -> str:
        """Return the specified topic if it lies below one of ciguard's own topics; else empty."""
        if input_spec is None or not self._topics.is_open:
            return ""
        top = "/".join(input_spec.key.split("/")[:2])
        return input_spec.key if top and self._topics.spelled(top) else ""


def _answer(operation: Operation, scored: Scored, generator: AnswerGenerator) -> Json:
    """Return an answer with labels, topics or objects, as the task of the operation says."""
    messages = messages_of(operation)
    if operation.task is RecognitionTask.LABELS:
        return messages.label_answer(scored)
    if operation.task is RecognitionTask.CATEGORIES:
        return messages.category_answer(scored)
    return messages.object_answer(scored, [generator.box() for _ in scored])


def _spec_for_task(input_spec: InputSpec | None, task: RecognitionTask) -> InputSpec | None:
    """Return what an input shows to a task: nothing, if the input was made for another task."""
    if input_spec is None or input_spec.task is task or {input_spec.task, task} <= _LABELLED:
        return input_spec
    return InputSpec(task)


def _text_answer(
    generator: AnswerGenerator, operation: Operation, input_spec: InputSpec | None, text: str
) -> Json:
    """Return a random answer with the sentiment of a text, or with its entities."""
    messages = messages_of(operation)
    if operation.task is RecognitionTask.SENTIMENT:
        return messages.sentiment_answer(*generator.sentiments(input_spec, text))
    has_sentiment = "sentiment" in operation.name
    return messages.entity_answer(generator.entities(input_spec, text, has_sentiment=has_sentiment))
