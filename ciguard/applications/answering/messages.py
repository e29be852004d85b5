"""Answers as Google's messages have them, in JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.domain import Json

EMOTIONS = ("joy", "sorrow", "anger", "surprise")
"""That a face is said to show."""
ENTITY_KINDS = (
    "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD", "OTHER",
    "PHONE_NUMBER", "ADDRESS", "DATE", "NUMBER", "PRICE",
)  # fmt: skip
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_OTHER_LIKELIHOODS = ("under_exposed", "blurred", "headwear")
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in an image, in pixels, or in shares of its size."""

    left: float
    top: float
    width: float
    height: float

    def corners(self) -> list[Json]:
        """Return its corners, clockwise from the one at the left and top."""
        right, bottom = self.left + self.width, self.top + self.height
        corners = ((self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom))
        return [{"x": x, "y": y} for x, y in corners]


@dataclass(frozen=True, slots=True)
class Word:
    """A word that is written in an image."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class Face:
    """A face in an image."""

    box: Box
    confidence: float
    likelihoods: Mapping[str, str]
    """By emotion; `UNKNOWN` for those that nobody judged."""


@dataclass(frozen=True, slots=True)
class Felt:
    """A sentence, and what feeling there is in it."""

    text: str
    begin: int
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """Something that a text speaks of."""

    name: str
    kind: str
    salience: float
    begin: int
    """Where the text names it; -1 for nowhere."""
    score: float | None = None
    """What is felt of it; None where nobody asked."""


def label_answer(found: Sequence[tuple[str, float]]) -> Json:
    """Return labels with their scores, the likeliest first."""
    records = [{"description": name, "score": s, "topicality": s} for name, s in _sorted(found)]
    return {"label_annotations": records} if records else {}


def object_answer(found: Sequence[tuple[str, float]], boxes: Sequence[Box]) -> Json:
    """Return objects with their scores, the likeliest first, each in a box of shares."""
    records = [
        {"name": name, "score": score, "bounding_poly": {"normalized_vertices": box.corners()}}
        for (name, score), box in zip(_sorted(found), boxes, strict=True)
    ]
    return {"localized_object_annotations": records} if records else {}


def category_answer(found: Sequence[tuple[str, float]]) -> Json:
    """Return paths of topics with their confidence, the likeliest first."""
    records = [{"name": name, "confidence": score} for name, score in _sorted(found)]
    return {"categories": records} if records else {}


def _sorted(found: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(((name, round(score, _DIGITS)) for name, score in found), key=lambda f: -f[1])


def face_answer(faces: Sequence[Face]) -> Json:
    """Return faces, with the boxes of head and skin the same."""
    records = [
        {
            "bounding_poly": {"vertices": face.box.corners()},
            "fd_bounding_poly": {"vertices": face.box.corners()},
            "detection_confidence": round(face.confidence, _DIGITS),
            **{
                f"{name}_likelihood": face.likelihoods.get(name, "UNKNOWN")
                for name in (*EMOTIONS, *_OTHER_LIKELIHOODS)
            },
        }
        for face in faces
    ]
    return {"face_annotations": records} if records else {}


def text_answer(lines: Sequence[Sequence[Word]], size: tuple[int, int]) -> Json:
    """Return what is written: all of it first, then word by word, then as a page.

    Args:
        lines: words of each line, none of them empty.
        size: width and height of the image.
    """
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
    for at, word in enumerate(line):
        symbols: list[Json] = [{"text": letter} for letter in word.text]
        end = "SPACE" if at < len(line) - 1 else "LINE_BREAK"
        symbols[-1]["property"] = {"detected_break": {"type": end}}
        confidence = round(word.confidence, _DIGITS)
        yield {"bounding_box": _around([word]), "symbols": symbols, "confidence": confidence}


def _around(words: Sequence[Word]) -> Json:
    """Return the rectangle around words."""
    left, top = min(word.box.left for word in words), min(word.box.top for word in words)
    right = max(word.box.left + word.box.width for word in words)
    bottom = max(word.box.top + word.box.height for word in words)
    return {"vertices": Box(left, top, right - left, bottom - top).corners()}


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each sentence of a text begins, and the sentence."""
    for found in _SENTENCE.finditer(text):
        sentence = found.group()
        if sentence.strip(" \t.!?"):
            yield found.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()


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
    return {"score": round(score, _DIGITS), "magnitude": round(magnitude, _DIGITS)}


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
        "salience": round(entity.salience, _DIGITS),
        "mentions": [{"text": span, "type": "PROPER"}],
    }
    if entity.score is not None:
        record["sentiment"] = _sentiment(entity.score, abs(entity.score))
    return record


def speech_answer(transcript: str, confidence: float) -> Json:
    """Return what was said, as one result with one alternative; nothing where nothing was."""
    if not transcript:
        return {}
    alternative = {"transcript": transcript, "confidence": round(confidence, _DIGITS)}
    return {"results": [{"alternatives": [alternative], "language_code": "en-us"}]}
