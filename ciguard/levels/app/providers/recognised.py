"""Recognised content, before it is written in the format of a service."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Scored: TypeAlias = list[tuple[str, float]]
"""Recognised labels with their scores, 0 to 1."""
Size: TypeAlias = tuple[int, int]
"""Width and height of an image, in pixels."""
EMOTIONS = ("joy", "sorrow", "anger", "surprise")
"""Emotions of a face that engines distinguish."""
ENTITY_KINDS = (
    "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD", "OTHER",
    "PHONE_NUMBER", "ADDRESS", "DATE", "NUMBER", "PRICE",
)  # fmt: skip
NEUTRAL = 0.2
"""Minimum score at which a sentiment is more likely than neutral."""
_STEEPNESS = 6.0
"""Factor of the scores in a softmax: the larger, the nearer is the best score's share to 1."""
_HIGH_CONFIDENCE, _STEP = 0.95, 0.05
LIKELIHOODS = ("UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
"""Likelihoods in ascending order, after that of a property which was not judged."""
_LIKELIHOOD_SHARES = {"VERY_LIKELY": 1.0, "LIKELY": 0.75, "POSSIBLE": 0.5}
"""Likelihood of a property → share of `Face.reported_confidence`; 0 for other likelihoods."""
DIGITS = 4
"""Decimal places of scores."""
SENTENCE_ENDS = ".?!"
"""Characters that end a sentence."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A rectangle in an image, in pixels or as shares of the image size."""

    left: float
    top: float
    width: float
    height: float

    def corners(self) -> list[tuple[float, float]]:
        """Return the corners, clockwise from the top left."""
        right, bottom = self.left + self.width, self.top + self.height
        return [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom)]

    def of(self, size: Size) -> BoundingBox:
        """Return this box, which is in pixels, as shares of an image size, clipped to the image."""
        width, height = size
        left, top = (min(max(share, 0.0), 1.0) for share in (self.left / width, self.top / height))
        return BoundingBox(
            left, top, min(self.width / width, 1.0 - left), min(self.height / height, 1.0 - top)
        )


def bounding_box_of(boxes: list[BoundingBox]) -> BoundingBox:
    """Return the smallest box that contains all boxes of a list, which is not empty."""
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    right = max(box.left + box.width for box in boxes)
    bottom = max(box.top + box.height for box in boxes)
    return BoundingBox(left, top, right - left, bottom - top)


@dataclass(frozen=True, slots=True)
class Word:
    """A word in an image."""

    text: str
    box: BoundingBox
    confidence: float


@dataclass(frozen=True, slots=True)
class Face:
    """A face in an image."""

    box: BoundingBox
    confidence: float
    likelihoods: Mapping[str, str]
    """Likelihood of each emotion and other property, such as `LIKELY`; `UNKNOWN` if not judged."""
    age: int = 30
    reported_confidence: float = 0.97
    """Confidence of a very likely property, in services with numeric confidences."""

    def confidences(self) -> dict[str, float]:
        """Return the confidence of each property, 0 to 1."""
        return {
            name: self.reported_confidence * _LIKELIHOOD_SHARES.get(likelihood, 0.0)
            for name, likelihood in self.likelihoods.items()
        }


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence with its sentiment score, -1 to 1."""

    text: str
    begin: int
    """Offset of the sentence in the text."""
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity in a text."""

    name: str
    kind: str
    """One of `ENTITY_KINDS`, or a kind of the service that none of them matches."""
    salience: float
    begin: int
    """Offset of the name in the text; -1 if it does not occur."""
    score: float | None = None
    """Sentiment score of the entity, -1 to 1; None if not requested."""
    reported_confidence: float | None = None
    """Confidence in services that return one; None if the salience is the confidence."""

    @property
    def confidence(self) -> float:
        """Confidence of the entity, 0 to 1; the salience if no other confidence is known."""
        return self.salience if self.reported_confidence is None else self.reported_confidence


def sentiment_confidences(scores: Sequence[float]) -> list[float]:
    """Return the confidence of each sentiment: the softmax of the sentiments' scores.

    Args:
        scores: score of each sentiment, -1 to 1.
    """
    weights = [math.exp(_STEEPNESS * score) for score in scores]
    return [weight / sum(weights) for weight in weights]


def confidences_around(
    sentiments: Sequence[str], numbers: Sequence[float]
) -> Iterator[tuple[str, list[float]]]:
    """Yield title and confidences of all sentiments; each sentiment in turn is the likeliest.

    The confidence of the likeliest is high first, then just below, at and just above each number.

    Args:
        sentiments: names of the sentiments; their confidences sum to 1.
        numbers: numbers from 0 to 1 with which conditions may compare confidences.
    """
    near = sorted({edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if 0 <= edge <= 1})
    for share in (_HIGH_CONFIDENCE, *near):
        for index, sentiment in enumerate(sentiments):
            shares = [0.0] * len(sentiments)
            shares[index] = share
            shares[(index + 1) % len(shares)] = 1 - share
            yield f"{sentiment} {share:g}", shares


def likeliest_first(scored_results: Scored) -> Scored:
    """Return results with scores rounded to `DIGITS` decimal places, the likeliest first."""
    return sorted(
        ((name, round(score, DIGITS)) for name, score in scored_results),
        key=lambda scored: -scored[1],
    )


def as_sentence(text: str) -> str:
    """Return a transcript with an initial capital and a full stop, as services write sentences."""
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    return first + text[1:] + ("" if text.endswith(tuple(SENTENCE_ENDS)) else ".")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each sentence."""
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        if sentence.strip(" \t.!?"):
            yield match.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()
