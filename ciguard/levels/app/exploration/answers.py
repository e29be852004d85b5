"""Stub responses that may change a condition, enumerated from the literals that it uses."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import BoundingBox, Entity, Face, Word
from ciguard.levels.app.providers.registered import (
    face_messages_of,
    messages_of,
    speech_messages_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Scored
    from ciguard.levels.app.static_analysis.findings import ServiceCondition

_USUAL = {
    RecognitionTask.LABELS: "Sky",
    RecognitionTask.OBJECTS: "Person",
    RecognitionTask.TEXT: "Hello",
    RecognitionTask.CATEGORIES: "News",
    RecognitionTask.ENTITIES: "London",
    RecognitionTask.SPEECH: "hello",
    RecognitionTask.PHRASES: "the weather",
    RecognitionTask.LANGUAGE: "en",
}
"""A common result of each task, which conditions rarely compare with."""
_WRITTEN = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_MANY = 12
_SURE, _UNSURE = 0.95, 0.3
_STEP = 0.05
"""Distance from a number that is compared with, as a share of the maximum score."""
_SIZE = (32, 32)
_PLACE = BoundingBox(2, 2, 18, 18)
_AGES = range(1, 100)


@dataclass(frozen=True, slots=True)
class StubResponse:
    """The stub response of one operation."""

    operation: Operation
    title: str
    """Short description of the response for reports."""
    content: Json
    """Response in the service's message format."""
    keys: tuple[str, ...] = ()
    """Names or texts of the results."""
    kind: str = ""
    """Type of an entity, if a condition depends on it; else empty."""
    error: str = ""
    """Error code if the service refuses, with the title as message; else empty."""
    is_of_content: bool = False
    """True if the service refuses because of the content of the request."""
    text: bytes = b""
    """The text that the service refuses; empty if it may refuse any content."""
    is_under_way: bool = False
    """True if a job is still running when its result is first requested."""
    is_searched: bool = False
    """True if the response was drawn at random, so that no real input may lead to it."""

    @property
    def is_refusal(self) -> bool:
        """True if the service refuses the request."""
        return bool(self.error or self.text)

    def to_json(self) -> Json:
        """Return the response in the format of `in_target`."""
        if self.error:
            return {"error": {"code": str(self.error), "message": self.title}}
        if self.is_under_way:
            return {"answer": self.content, "under_way": True}
        return {"answer": self.content}


def refusals_of(operation: Operation) -> tuple[StubResponse, ...]:
    """Return the refusals of the service: of any request, or because of its content."""
    usual_content = answers_to(operation, ())[1].content
    return tuple(
        StubResponse(
            operation,
            refusal.message,
            usual_content,
            error=refusal.code,
            is_of_content=refusal.is_of_content,
            text=refusal.text,
        )
        for refusal in messages_of(operation).refusals(operation)
    )


def answers_to(
    operation: Operation, goals: Sequence[ServiceCondition], texts_around: Sequence[str] = ()
) -> tuple[StubResponse, ...]:
    """Return stub responses of an operation that may reach goals, the plainest first.

    Args:
        operation: the operation that answers.
        goals: the goals; those that depend on other operations are ignored.
        texts_around: texts of the module that conditions may compare with through variables.
    """
    own_goals = [
        condition
        for condition in goals
        if any(answer.operation == operation for answer, _ in condition.answers)
    ]
    tests = [condition.goal.test for condition in own_goals if condition.goal.test is not None]
    literals = [literal for test in tests for literal in test.literals]
    goal_texts = (text for condition in own_goals for text in condition.goal.texts if text)
    texts = list(dict.fromkeys((*goal_texts, *texts_around)))
    numbers = [float(literal) for literal in literals if not isinstance(literal, str | bool)]
    messages = messages_of(operation)
    if operation.task is RecognitionTask.SENTIMENT:
        sentiments = messages.sentiments_around(numbers)
        return tuple(StubResponse(operation, title, content) for title, content in sentiments)
    if operation.task is RecognitionTask.FACES:
        return tuple(_faces(operation, numbers))
    if operation.returns_job_result:
        empty, plain, *others = _listed(operation, texts, numbers)
        late = replace(plain, title="not done at once", is_under_way=True)
        return (empty, plain, late, *others)
    kinds = messages.KINDS if operation.task is RecognitionTask.ENTITIES else ()
    entities = (_of_kind(operation, kind, at) for at in (_SURE, _UNSURE) for kind in kinds)
    return (*_listed(operation, texts, numbers), *entities)


def written(operation: Operation, lines: Sequence[str]) -> StubResponse:
    """Return a stub response with recognised lines of text.

    Args:
        operation: the operation that answers.
        lines: the lines that it recognises.
    """
    return _answer(operation, lines, _SURE)


def content_of(operation: Operation, scored: Scored, kinds: Sequence[str] = ()) -> Json:
    """Return named results in the service's message format.

    Args:
        operation: the operation that answers.
        scored: the name of each result and its score, 0 to 1.
        kinds: the type of each entity in the service's terms; empty: all are locations.
    """
    messages = messages_of(operation)
    writers: dict[RecognitionTask, Callable[[], Json]] = {
        RecognitionTask.LABELS: lambda: messages.label_answer(scored),
        RecognitionTask.OBJECTS: lambda: messages.object_answer(
            scored, [_PLACE.of(_SIZE)] * len(scored)
        ),
        RecognitionTask.CATEGORIES: lambda: messages.category_answer(scored),
        RecognitionTask.ENTITIES: lambda: messages.entity_answer([
            Entity(text, kind, score, 0)
            for (text, score), kind in zip(scored, kinds or ["LOCATION"] * len(scored), strict=True)
        ]),
        RecognitionTask.TEXT: lambda: messages.text_answer(
            [[Word(text, _PLACE, score)] for text, score in scored], _SIZE
        ),
        RecognitionTask.SPEECH: lambda: speech_messages_of(operation).speech_answer(scored),
    }  # fmt: skip
    if operation.task not in writers:
        return messages.listed_answer(operation, scored)
    return writers[operation.task]()


def usual_for(operation: Operation) -> str:
    """Return a common result of an operation, which conditions rarely compare with."""
    return _USUAL.get(operation.task, "Thing")


def most_of(operation: Operation) -> float:
    """Return the maximum score of an operation."""
    return operation.between[1] if operation.between else 1.0


def _shares(operation: Operation, numbers: Sequence[float]) -> list[float]:
    """Return the numbers that may be scores, as shares of the maximum score."""
    return [n / most_of(operation) for n in numbers if 0 <= n <= most_of(operation)]


def _faces(operation: Operation, numbers: Sequence[float]) -> Iterator[StubResponse]:
    """Yield faces with one certain attribute each, after a face without any."""
    messages, max_score = face_messages_of(operation), most_of(operation)

    def response(title: str, *faces: Face, attribute: str = "") -> StubResponse:
        return StubResponse(operation, title, messages.face_answer(faces, _SIZE), (attribute,))

    near = [share + step for share in _shares(operation, numbers) for step in (-_STEP, _STEP)]
    scores = sorted({_UNSURE, *(score for score in near if 0 <= score <= 1)})
    yield StubResponse(operation, "nothing recognised", messages.face_answer((), _SIZE))
    for attribute in ("", *messages.SHOWN_BY_FACES):
        title = f"a face that shows {attribute}" if attribute else "a face"
        yield response(title, _face(operation, attribute), attribute=attribute)
    for score in scores:
        title = f"a face, detection confidence {max_score * score:g}"
        yield response(title, _face(operation, confidence=score))
    yield response(
        f"{len(messages.SHOWN_BY_FACES)} faces",
        *(_face(operation, attribute) for attribute in messages.SHOWN_BY_FACES),
    )
    if messages.ARE_FACES_MEASURED:
        for attribute in messages.SHOWN_BY_FACES:
            for score in scores:
                title = f"a face that shows {attribute}, {max_score * score:g}"
                yield response(title, _face(operation, attribute, reported_confidence=score))
        ages = sorted({n + step for n in numbers for step in (-10, 0, 1) if n + step in _AGES})
        for age, attribute in itertools.product(ages, ("", *messages.SHOWN_BY_FACES)):
            title = f"a face, {age:g} years old{attribute and f', that shows {attribute}'}"
            yield response(title, _face(operation, attribute, age=int(age)))


def _face(
    operation: Operation,
    shown: str = "",
    *,
    confidence: float = _SURE,
    reported_confidence: float = _SURE,
    age: int = 30,
) -> Face:
    likelihoods = {
        attribute: "VERY_LIKELY" if attribute == shown else "VERY_UNLIKELY"
        for attribute in face_messages_of(operation).SHOWN_BY_FACES
    }
    return Face(_PLACE, confidence, likelihoods, age, reported_confidence)


def _of_kind(operation: Operation, kind: str, score: float) -> StubResponse:
    """Return a stub response with one entity of a type."""
    messages, usual = messages_of(operation), _USUAL[operation.task]
    content = messages.entity_answer([Entity(usual, kind, score, 0)])
    title = f"{usual!r}, type {kind}, score {score:g}"
    return StubResponse(operation, title, content, (usual,), kind=messages.KINDS[kind])


def _listed(
    operation: Operation, texts: Sequence[str], numbers: Sequence[float]
) -> Iterator[StubResponse]:
    usual = usual_for(operation)
    if operation.task is not RecognitionTask.LANGUAGE:  # a text always has a language
        yield StubResponse(operation, "nothing recognised", content_of(operation, []))
    variants = list(dict.fromkeys(form for text in texts for form in _forms(text)))
    if operation.task is RecognitionTask.CATEGORIES:
        topic = messages_of(operation).topic
        usual, texts = topic(usual), [topic(text) for text in texts]
        variants = texts
    for text in (usual, *variants):
        yield _answer(operation, [text], _SURE)
    shares = _shares(operation, numbers)
    for score in sorted({_UNSURE, *(n + s for n in shares for s in (-_STEP, 0.0, _STEP))}):
        for text in (usual, *texts):
            yield _answer(operation, [text], min(max(score, 0.0), 1.0))
    yield _answer(operation, [usual, *texts], _SURE)
    yield _answer(operation, [*reversed(texts), usual], _SURE)
    for text in (usual, *texts):
        for score in (_SURE, _UNSURE):
            yield _answer(operation, [text, usual, usual], score)
    yield _answer(operation, [usual] * _MANY, _SURE)
    if operation.task in _WRITTEN:
        for text in (
            "42",
            "12:30",
            *(form for label in texts for form in (f"{label} 42", f"42 {label}")),
        ):
            yield _answer(operation, [text], _SURE)


def _forms(text: str) -> Iterator[str]:
    """Yield a text and variants: in other cases, doubled, and without its first or last letter."""
    forms = (text, text.capitalize(), text.upper(), f"{text} {text}", text[:-1], text[1:])
    yield from filter(None, forms)


def _answer(operation: Operation, texts: Sequence[str], score: float) -> StubResponse:
    shown = ", ".join(repr(text) for text in texts[:_MAX_SHOWN])
    rest = f" and {len(texts) - _MAX_SHOWN} more" if len(texts) > _MAX_SHOWN else ""
    score_text = (
        "" if operation.task is RecognitionTask.TEXT else f", score {most_of(operation) * score:g}"
    )
    content = content_of(operation, [(text, score) for text in texts])
    return StubResponse(operation, f"{shown}{rest}{score_text}", content, tuple(texts))


_MAX_SHOWN = 3
