"""Answers of Google's services, as their messages have them in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.described import described
from ciguard.levels.app.providers.description import NOT_MADE, MediaKind, RecognitionTask, kind_of
from ciguard.levels.app.providers.recognised import (
    DIGITS,
    EMOTIONS,
    ENTITY_KINDS,
    BoundingBox,
    around,
    ordered,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.providers.recognised import Entity, Face, Felt, Scored, Size, Word

CLIENTS: frozenset[str] = frozenset({"vision", "language", "speech"})
TASKS: frozenset[RecognitionTask] = frozenset(RecognitionTask) - NOT_MADE
SHOWN_BY_FACES: tuple[str, ...] = (*EMOTIONS, "under_exposed", "blurred", "headwear")
ARE_FACES_MEASURED: bool = False
KINDS: Mapping[str, str] = {kind: kind for kind in (*ENTITY_KINDS, "UNKNOWN")}
_STEP = 0.05
"""Beside a number that is compared with."""
_LANDMARKS = (("LEFT_EYE", 0.3, 0.35), ("RIGHT_EYE", 0.7, 0.35), ("NOSE_TIP", 0.5, 0.55))
"""Where they are in a face, in shares of it."""


def topic(text: str) -> str:
    """Return a category as the path that it is."""
    return text if text.startswith("/") else f"/{text}"


def label_answer(found: Scored) -> Json:
    """Return labels with their scores, the likeliest first."""
    records = [{"description": name, "score": s, "topicality": s} for name, s in ordered(found)]
    return {"label_annotations": records} if records else {}


def object_answer(found: Scored, boxes: Sequence[BoundingBox]) -> Json:
    """Return objects with their scores, the likeliest first, each in a box of shares."""
    records = [
        {"name": name, "score": score, "bounding_poly": {"normalized_vertices": _vertices(box)}}
        for (name, score), box in zip(ordered(found), boxes, strict=True)
    ]
    return {"localized_object_annotations": records} if records else {}


def category_answer(found: Scored) -> Json:
    """Return paths of topics with their confidence, the likeliest first."""
    records = [{"name": name, "confidence": score} for name, score in ordered(found)]
    return {"categories": records} if records else {}


def face_answer(faces: Sequence[Face], size: Size) -> Json:
    """Return faces, with the boxes of head and skin the same."""
    del size  # their boxes are in pixels
    records = [_face(face) for face in faces]
    return {"face_annotations": records} if records else {}


def _face(face: Face) -> Json:
    poly = {"vertices": _vertices(face.box)}
    sure = round(face.confidence, DIGITS)
    return {
        "bounding_poly": poly,
        "fd_bounding_poly": poly,
        "landmarks": [
            {
                "type": kind,
                "position": {
                    "x": face.box.left + face.box.width * x,
                    "y": face.box.top + face.box.height * y,
                },
            }
            for kind, x, y in _LANDMARKS
        ],
        "detection_confidence": sure,
        "landmarking_confidence": sure,
        **{f"{name}_likelihood": face.likelihoods.get(name, "UNKNOWN") for name in SHOWN_BY_FACES},
    }


def _vertices(box: BoundingBox) -> Json:
    return [{"x": x, "y": y} for x, y in box.corners()]


def text_answer(lines: Sequence[Sequence[Word]], size: Size) -> Json:
    """Return what is written: all of it first, then word by word, then as a page."""
    words = [word for line in lines for word in line]
    if not words:
        return {}
    whole = "\n".join(" ".join(word.text for word in line) for line in lines)
    first = {"locale": "en", "description": whole, "bounding_poly": _around(words)}
    width, height = size
    block = {
        "bounding_box": _around(words),
        "block_type": "TEXT",
        "paragraphs": [
            {
                "bounding_box": _around(words),
                "words": [word for line in lines for word in _page_words(line)],
            }
        ],
    }
    return {
        "text_annotations": [
            first,
            *({"description": word.text, "bounding_poly": _around([word])} for word in words),
        ],
        "full_text_annotation": {
            "pages": [{"width": width, "height": height, "blocks": [block]}],
            "text": whole,
        },
    }


def _page_words(line: Sequence[Word]) -> Iterator[Json]:
    parts = [(word, part) for word in line for part in word.text.split()]
    for at, (word, part) in enumerate(parts):
        symbols: list[Json] = [{"text": letter} for letter in part]
        end = "SPACE" if at < len(parts) - 1 else "LINE_BREAK"
        symbols[-1]["property"] = {"detected_break": {"type": end}}
        confidence = round(word.confidence, DIGITS)
        yield {"bounding_box": _around([word]), "symbols": symbols, "confidence": confidence}


def _around(words: Sequence[Word]) -> Json:
    return {"vertices": _vertices(around([word.box for word in words]))}


def sentiment_answer(score: float, felt: Sequence[Felt]) -> Json:
    """Return the feeling of a document, and of its sentences.

    The magnitude is the sum of what is felt in its sentences, in whatever direction, so it grows
    with the length of the text, as the service's does.
    """
    magnitude = sum(abs(one.score) for one in felt)
    return {
        "document_sentiment": _sentiment(score, magnitude),
        "language": "en",
        "sentences": [
            {
                "text": {"content": one.text, "begin_offset": one.begin},
                "sentiment": _sentiment(one.score, abs(one.score)),
            }
            for one in felt
        ],
    }


def _sentiment(score: float, magnitude: float) -> Json:
    return {"score": round(score, DIGITS), "magnitude": round(magnitude, DIGITS)}


def sentiments_around(numbers: Sequence[float]) -> Iterator[tuple[str, Json]]:
    """Yield scores and magnitudes on both sides of each number, and at it."""
    near = {edge for n in numbers for edge in (n - _STEP, n, n + _STEP)}
    scores = sorted({-0.9, 0.0, 0.9, *(n for n in near if -1 <= n <= 1)})
    magnitudes = sorted({0.0, 4.0, *(n for n in near if n >= 0)})
    for magnitude in magnitudes:
        for score in scores:
            felt = {"score": score, "magnitude": magnitude}
            content = _about_one_sentence({"document_sentiment": felt})
            yield f"score {score:g}, magnitude {magnitude:g}", content


def _about_one_sentence(document: Json) -> Json:
    """Return what is felt in a text of one sentence: the same in it as in all."""
    felt = document["document_sentiment"]
    sentence = {"text": {"content": "This is a text."}, "sentiment": felt}
    return {"document_sentiment": felt, "sentences": [sentence]}


def entity_answer(entities: Sequence[Entity]) -> Json:
    """Return what a text speaks of, what is most of it first."""
    return {
        "language": "en",
        "entities": [_entity(one) for one in sorted(entities, key=lambda entity: -entity.salience)],
    }


def _entity(entity: Entity) -> Json:
    span = {"content": entity.name, "begin_offset": entity.begin}
    record: dict[str, Json] = {
        "name": entity.name,
        "type": entity.kind,
        "salience": round(entity.salience, DIGITS),
        "mentions": [{"text": span, "type": "PROPER"}],
    }
    if entity.score is not None:
        record["sentiment"] = _sentiment(entity.score, abs(entity.score))
    return record


def speech_answer(found: Scored) -> Json:
    """Return what was said, each part as a result with one alternative; nothing for silence."""
    results = [
        {
            "alternatives": [{"transcript": said, "confidence": round(confidence, DIGITS)}],
            "language_code": "en-us",
        }
        for said, confidence in found
        if said
    ]
    return {"results": results} if results else {}


def listed_answer(operation: Operation, found: Scored) -> Json:
    """Return results of what its description says where they lie, landmarks and logos."""
    poly = {"bounding_poly": {"vertices": _vertices(BoundingBox(2, 2, 18, 18))}}
    records = [described(operation, name, score, poly) for name, score in ordered(found)]
    return {operation.records: records} if records else {}


def refusals(operation: Operation) -> Sequence[Refusal]:
    """Return its own: no quota, an image that is none, a text that is too short."""
    quota = Refusal("Quota exceeded.", Code.RESOURCE_EXHAUSTED, is_of_content=False)
    if operation.task is RecognitionTask.CATEGORIES:
        message = "Invalid text content: too few tokens (words) to process."
        return quota, Refusal(message, Code.INVALID_ARGUMENT, text=b"Hello there.")
    if kind_of(operation.task) is MediaKind.IMAGE:
        return quota, Refusal("Bad image data.", Code.INVALID_ARGUMENT)
    return (quota,)
