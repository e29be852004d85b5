"""Answers of services that may turn a condition: enumerated from what the application compares."""

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
"""A result that nothing was compared with, as far as known."""
_WRITTEN = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_MANY = 12
_SURE, _UNSURE = 0.95, 0.3
_STEP = 0.05
"""Beside a number that is compared with, as a share of what scores go up to."""
_SIZE = (32, 32)
_PLACE = BoundingBox(2, 2, 18, 18)
_AGES = range(1, 100)


@dataclass(frozen=True, slots=True)
class StubResponse:
    """What one operation is to answer."""

    operation: Operation
    title: str
    """In words, for people."""
    content: Json
    """As the service's message has it."""
    keys: tuple[str, ...] = ()
    """What is recognised."""
    kind: str = ""
    """Of an entity, where it matters."""
    error: str = ""
    """Code with which the service refuses instead; its message is the title."""
    is_of_content: bool = False
    """Whether it refuses because of what it is asked about."""
    text: bytes = b""
    """That it refuses; empty where it may refuse any."""
    is_under_way: bool = False
    """Whether what was begun a moment ago is not done yet when it is first asked for."""
    is_searched: bool = False
    """Whether it was drawn at random: what people would recognise as it, nobody knows."""

    @property
    def is_refusal(self) -> bool:
        """Whether the service does not answer what it is asked about."""
        return bool(self.error or self.text)

    def to_json(self) -> Json:
        """Return it as `in_target` takes it."""
        if self.error:
            return {"error": {"code": str(self.error), "message": self.title}}
        if self.is_under_way:
            return {"answer": self.content, "under_way": True}
        return {"answer": self.content}


def refusals_of(operation: Operation) -> tuple[StubResponse, ...]:
    """Return how the service may refuse: whatever it is asked about, or because of that."""
    plain = answers_to(operation, ())[1].content
    return tuple(
        StubResponse(
            operation,
            one.message,
            plain,
            error=one.code,
            is_of_content=one.is_of_content,
            text=one.text,
        )
        for one in messages_of(operation).refusals(operation)
    )


def answers_to(
    operation: Operation, goals: Sequence[ServiceCondition], texts_around: Sequence[str] = ()
) -> tuple[StubResponse, ...]:
    """Return answers of an operation that goals may need, the plainest first.

    Args:
        operation: that is asked.
        goals: that its answers decide, among others.
        texts_around: which conditions may compare with by variables.
    """
    own = [one for one in goals if any(a.operation == operation for a, _ in one.answers)]
    tests = [one.goal.test for one in own if one.goal.test is not None]
    literals = [literal for test in tests for literal in test.literals]
    said = (text for one in own for text in one.goal.texts if text)
    texts = list(dict.fromkeys((*said, *texts_around)))
    numbers = [float(one) for one in literals if not isinstance(one, str | bool)]
    messages = messages_of(operation)
    if operation.task is RecognitionTask.SENTIMENT:
        felt = messages.sentiments_around(numbers)
        return tuple(StubResponse(operation, title, content) for title, content in felt)
    if operation.task is RecognitionTask.FACES:
        return tuple(_faces(operation, numbers))
    if operation.is_begun_before:
        nothing, plain, *others = _listed(operation, texts, numbers)
        late = replace(plain, title="not done at once", is_under_way=True)
        return (nothing, plain, late, *others)
    kinds = messages.KINDS if operation.task is RecognitionTask.ENTITIES else ()
    of_kinds = (_of_kind(operation, kind, at) for at in (_SURE, _UNSURE) for kind in kinds)
    return (*_listed(operation, texts, numbers), *of_kinds)


def written(operation: Operation, lines: Sequence[str]) -> StubResponse:
    """Return an answer in which lines of text are recognised.

    Args:
        operation: that is asked.
        lines: that it recognises.
    """
    return _answer(operation, lines, _SURE)


def content_of(operation: Operation, found: Scored, kinds: Sequence[str] = ()) -> Json:
    """Return an answer of results that have a name, as the service says it.

    Args:
        operation: that is asked.
        found: what it recognises, and how likely each is, 0 to 1.
        kinds: of each entity, as the service calls them; all are places otherwise.
    """
    messages = messages_of(operation)
    written: dict[RecognitionTask, Callable[[], Json]] = {
        RecognitionTask.LABELS: lambda: messages.label_answer(found),
        RecognitionTask.OBJECTS: lambda: messages.object_answer(
            found, [_PLACE.of(_SIZE)] * len(found)
        ),
        RecognitionTask.CATEGORIES: lambda: messages.category_answer(found),
        RecognitionTask.ENTITIES: lambda: messages.entity_answer([
            Entity(text, kind, score, 0)
            for (text, score), kind in zip(found, kinds or ["LOCATION"] * len(found), strict=True)
        ]),
        RecognitionTask.TEXT: lambda: messages.text_answer(
            [[Word(text, _PLACE, score)] for text, score in found], _SIZE
        ),
        RecognitionTask.SPEECH: lambda: speech_messages_of(operation).speech_answer(found),
    }  # fmt: skip
    if operation.task not in written:
        return messages.listed_answer(operation, found)
    return written[operation.task]()


def usual_for(operation: Operation) -> str:
    """Return a result that nothing is compared with, as far as known."""
    return _USUAL.get(operation.task, "Thing")


def most_of(operation: Operation) -> float:
    """Return what an operation's scores go up to."""
    return operation.between[1] if operation.between else 1.0


def _shares(operation: Operation, numbers: Sequence[float]) -> list[float]:
    """Return numbers that may be scores, as shares of what those go up to."""
    return [n / most_of(operation) for n in numbers if 0 <= n <= most_of(operation)]


def _faces(operation: Operation, numbers: Sequence[float]) -> Iterator[StubResponse]:
    """Yield faces that show one thing each, surely; the plainest shows nothing."""
    messages, most = face_messages_of(operation), most_of(operation)

    def answered(title: str, *faces: Face, shown: str = "") -> StubResponse:
        return StubResponse(operation, title, messages.face_answer(faces, _SIZE), (shown,))

    around = [share + step for share in _shares(operation, numbers) for step in (-_STEP, _STEP)]
    scores = sorted({_UNSURE, *(one for one in around if 0 <= one <= 1)})
    yield StubResponse(operation, "nothing recognised", messages.face_answer((), _SIZE))
    for shown in ("", *messages.SHOWN_BY_FACES):
        title = f"a face that shows {shown}" if shown else "a face"
        yield answered(title, _face(operation, shown), shown=shown)
    for score in scores:
        title = f"a face, detection confidence {most * score:g}"
        yield answered(title, _face(operation, confidence=score))
    yield answered(
        f"{len(messages.SHOWN_BY_FACES)} faces",
        *(_face(operation, shown) for shown in messages.SHOWN_BY_FACES),
    )
    if messages.ARE_FACES_MEASURED:
        for shown in messages.SHOWN_BY_FACES:
            for score in scores:
                title = f"a face that shows {shown}, {most * score:g}"
                yield answered(title, _face(operation, shown, sureness=score))
        ages = sorted({n + step for n in numbers for step in (-10, 0, 1) if n + step in _AGES})
        for age, shown in itertools.product(ages, ("", *messages.SHOWN_BY_FACES)):
            title = f"a face, {age:g} years old{shown and f', that shows {shown}'}"
            yield answered(title, _face(operation, shown, age=int(age)))


def _face(
    operation: Operation,
    shown: str = "",
    *,
    confidence: float = _SURE,
    sureness: float = _SURE,
    age: int = 30,
) -> Face:
    likelihoods = {
        one: "VERY_LIKELY" if one == shown else "VERY_UNLIKELY"
        for one in face_messages_of(operation).SHOWN_BY_FACES
    }
    return Face(_PLACE, confidence, likelihoods, age, sureness)


def _of_kind(operation: Operation, kind: str, score: float) -> StubResponse:
    """Return an entity of a kind, which inputs are made for if people have a name for it."""
    messages, usual = messages_of(operation), _USUAL[operation.task]
    content = messages.entity_answer([Entity(usual, kind, score, 0)])
    title = f"{usual!r}, type {kind}, score {score:g}"
    return StubResponse(operation, title, content, (usual,), kind=messages.KINDS[kind])


def _listed(
    operation: Operation, texts: Sequence[str], numbers: Sequence[float]
) -> Iterator[StubResponse]:
    usual = usual_for(operation)
    if operation.task is not RecognitionTask.LANGUAGE:  # a text is in some language always
        yield StubResponse(operation, "nothing recognised", content_of(operation, []))
    spelled = list(dict.fromkeys(form for text in texts for form in _forms(text)))
    if operation.task is RecognitionTask.CATEGORIES:
        topic = messages_of(operation).topic
        usual, texts = topic(usual), [topic(text) for text in texts]
        spelled = texts
    for text in (usual, *spelled):
        yield _answer(operation, [text], _SURE)
    between = _shares(operation, numbers)
    for score in sorted({_UNSURE, *(n + s for n in between for s in (-_STEP, 0.0, _STEP))}):
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
            *(form for one in texts for form in (f"{one} 42", f"42 {one}")),
        ):
            yield _answer(operation, [text], _SURE)


def _forms(text: str) -> Iterator[str]:
    """Yield a text as it is, as services write labels, and what may become of it or be left."""
    forms = (text, text.capitalize(), text.upper(), f"{text} {text}", text[:-1], text[1:])
    yield from filter(None, forms)


def _answer(operation: Operation, texts: Sequence[str], score: float) -> StubResponse:
    shown = ", ".join(repr(text) for text in texts[:_SHOWN])
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    sure = (
        "" if operation.task is RecognitionTask.TEXT else f", score {most_of(operation) * score:g}"
    )
    content = content_of(operation, [(text, score) for text in texts])
    return StubResponse(operation, f"{shown}{more}{sure}", content, tuple(texts))


_SHOWN = 3
