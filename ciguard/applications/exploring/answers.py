"""Answers of services that may turn a condition: enumerated from what the application compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.providers.description import Field, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ciguard.applications.finding.findings import Decided
    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json

_USUAL = {
    Task.LABELS: "Sky", Task.OBJECTS: "Person", Task.TEXT: "Hello", Task.CATEGORIES: "/News",
    Task.ENTITIES: "London", Task.SPEECH: "hello",
}  # fmt: skip
"""A result that nothing was compared with, as far as known."""
_REFUSED = {Task.CATEGORIES: "Invalid text content: too few tokens (words) to process."}
_REFUSED |= dict.fromkeys((Task.LABELS, Task.OBJECTS, Task.FACES, Task.TEXT), "Bad image data.")
REFUSES = "INVALID_ARGUMENT"
"""Code with which a service refuses what it is asked about."""
_SHOWN_BY_FACES = ("joy", "sorrow", "anger", "surprise", "under_exposed", "blurred", "headwear")
_ENTITIES = (
    "PERSON", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD", "OTHER", "PHONE_NUMBER",
    "ADDRESS", "DATE", "NUMBER", "PRICE", "UNKNOWN",
)  # fmt: skip
_WRITTEN = frozenset({Task.TEXT, Task.SPEECH})
_MANY = 12
_SURE, _UNSURE = 0.95, 0.3
_STEP = 0.05
"""Beside a number that is compared with."""


@dataclass(frozen=True, slots=True)
class Answered:
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
    """Code of gRPC, where the service refuses instead; its message is the title."""

    def to_json(self) -> Json:
        """Return it as `in_target` takes it."""
        if self.error:
            return {"error": {"code": self.error, "message": self.title}}
        return {"answer": self.content}


def refusals_of(operation: Operation) -> tuple[Answered, ...]:
    """Return how the service may refuse: whatever it is asked about, or because of that."""
    refusals = [Answered(operation, "Quota exceeded.", {}, error="RESOURCE_EXHAUSTED")]
    if operation.task in _REFUSED:
        refusals.append(Answered(operation, _REFUSED[operation.task], {}, error=REFUSES))
    return tuple(refusals)


def answers_to(
    operation: Operation, goals: Sequence[Decided], texts_around: Sequence[str] = ()
) -> tuple[Answered, ...]:
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
    if operation.task is Task.SENTIMENT:
        return tuple(_sentiments(operation, numbers))
    if operation.task is Task.FACES:
        return tuple(_faces(operation, numbers))
    kinds = _ENTITIES if operation.task is Task.ENTITIES else ()
    return (*_listed(operation, texts, numbers), *(_of_kind(operation, kind) for kind in kinds))


def written(operation: Operation, lines: Sequence[str]) -> Answered:
    """Return an answer in which lines of text are recognised.

    Args:
        operation: that is asked.
        lines: that it recognises.
    """
    return _answer(operation, lines, _SURE)


def _sentiments(operation: Operation, numbers: Sequence[float]) -> Iterator[Answered]:
    """Yield scores and magnitudes on both sides of each number, and at it."""
    around = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP)}
    scores = sorted({-0.9, 0.0, 0.9, *(n for n in around if -1 <= n <= 1)})
    magnitudes = sorted({0.0, 4.0, *(n for n in around if n >= 0)})
    for magnitude in magnitudes:
        for score in scores:
            title = f"score {score:g}, magnitude {magnitude:g}"
            felt = {"score": score, "magnitude": magnitude}
            sentence = {"text": {"content": "This is a text."}, "sentiment": felt}
            content = {"document_sentiment": felt, "sentences": [sentence]}
            yield Answered(operation, title, content)


def _faces(operation: Operation, numbers: Sequence[float]) -> Iterator[Answered]:
    """Yield faces that show one thing each, surely; the plainest shows nothing."""
    yield Answered(operation, "nothing recognised", {})
    for shown in ("", *_SHOWN_BY_FACES):
        title = f"a face that shows {shown}" if shown else "a face"
        yield Answered(operation, title, {operation.records: [_face(shown, _SURE)]}, (shown,))
    for score in sorted({_UNSURE, *(n + s for n in numbers for s in (-_STEP, _STEP))}):
        title = f"a face, detection confidence {score:g}"
        yield Answered(operation, title, {operation.records: [_face("", score)]})
    several = [_face(shown, _SURE) for shown in _SHOWN_BY_FACES]
    yield Answered(operation, f"{len(several)} faces", {operation.records: several})


def _face(shown: str, score: float) -> Json:
    likelihoods = {
        f"{one}_likelihood": "VERY_LIKELY" if one == shown else "VERY_UNLIKELY"
        for one in _SHOWN_BY_FACES
    }
    corners = [{"x": x, "y": y} for x, y in ((2, 2), (20, 2), (20, 20), (2, 20))]
    box = {"vertices": corners}
    landmarks = [
        {"type": kind, "position": {"x": x, "y": y}}
        for kind, x, y in (("LEFT_EYE", 7, 8), ("RIGHT_EYE", 15, 8), ("NOSE_TIP", 11, 12))
    ]
    return {
        **likelihoods, "bounding_poly": box, "fd_bounding_poly": box, "landmarks": landmarks,
        "detection_confidence": score, "landmarking_confidence": score,
    }  # fmt: skip


def _of_kind(operation: Operation, kind: str) -> Answered:
    usual = _USUAL[operation.task]
    record = {**_record(operation, usual, _SURE), "type": kind}
    title = f"{usual!r}, type {kind}"
    return Answered(operation, title, {operation.records: [record]}, (usual,), kind=kind)


def _listed(
    operation: Operation, texts: Sequence[str], numbers: Sequence[float]
) -> Iterator[Answered]:
    usual = _USUAL.get(operation.task, "")
    yield Answered(operation, "nothing recognised", {})
    spelled = list(dict.fromkeys(form for text in texts for form in _forms(text)))
    if operation.task is Task.CATEGORIES:
        spelled = [text if text.startswith("/") else f"/{text}" for text in texts]
        texts = spelled
    for text in (usual, *spelled):
        yield _answer(operation, [text], _SURE)
    between = [n for n in numbers if 0 <= n <= 1]
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


def _answer(operation: Operation, texts: Sequence[str], score: float) -> Answered:
    shown = ", ".join(repr(text) for text in texts[:_SHOWN])
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    records = [_record(operation, text, score) for text in texts]
    content: dict[str, Json] = {operation.records: records}
    if operation.task is Task.TEXT:
        whole = "\n".join(texts)
        content = {
            operation.records: [_record(operation, whole, score), *records],
            "full_text_annotation": {"text": whole, "pages": [_page(texts)]},
        }
    sure = "" if operation.task is Task.TEXT else f", score {score:g}"
    return Answered(operation, f"{shown}{more}{sure}", content, tuple(texts))


_SHOWN = 3


def _page(texts: Sequence[str]) -> Json:
    words = [
        {"symbols": [{"text": letter} for letter in word]}
        for text in texts
        for word in text.split()
    ]
    return {"width": 32, "height": 32, "blocks": [{"paragraphs": [{"words": words}]}]}


def _record(operation: Operation, text: str, score: float) -> Json:
    """Return one result, its fields where their paths say."""
    corners = [{"x": x, "y": y} for x, y in ((2, 2), (20, 2), (20, 20), (2, 20))]
    shares = [{"x": one["x"] / 32, "y": one["y"] / 32} for one in corners]
    # What a message has no field for is left out when it is made.
    record: Json = {
        "bounding_poly": {"vertices": corners, "normalized_vertices": shares},
        "mentions": [{"text": {"content": text}, "type": "PROPER"}],
        "type": "LOCATION",
    }
    fields = operation.fields or {}
    for field, value in ((Field.KEY, text), (Field.SCORE, score)):
        if field in fields:
            _put(record, fields[field].split("."), value)
    return record


def _put(record: Json, path: Sequence[str], value: object) -> None:
    """Set a field by its path; a number in it is the place in a list."""
    first, *rest = path
    if not rest:
        record[first] = value
    elif rest[0].isdecimal():
        items = record.setdefault(first, [{}])
        _put(items[int(rest[0])], rest[1:], value)
    else:
        _put(record.setdefault(first, {}), rest, value)
