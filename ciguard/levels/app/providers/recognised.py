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
_SURE, _STEP = 0.95, 0.05
_LIKELY = {"VERY_LIKELY": 1.0, "LIKELY": 0.75, "POSSIBLE": 0.5}
"""Confidence of a likelihood, as a share of the face's certainty; others count as 0."""
DIGITS = 4
"""Decimal places of scores."""
ENDS = ".?!"
"""Characters that end a sentence."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A rectangle in an image, in pixels or as shares of its size."""

    left: float
    top: float
    width: float
    height: float

    def corners(self) -> list[tuple[float, float]]:
        """Return its corners, clockwise from the one at the left and top."""
        right, bottom = self.left + self.width, self.top + self.height
        return [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom)]

    def of(self, size: Size) -> BoundingBox:
        """Return a box in pixels as shares of an image size, clipped to the image."""
        width, height = size
        left, top = (min(max(share, 0.0), 1.0) for share in (self.left / width, self.top / height))
        return BoundingBox(
            left, top, min(self.width / width, 1.0 - left), min(self.height / height, 1.0 - top)
        )


def bounding_box_of(boxes: list[BoundingBox]) -> BoundingBox:
    """Return the bounding box of boxes."""
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
    """Likelihoods of emotions and other properties; `UNKNOWN` if not judged."""
    age: int = 30
    reported_confidence: float = 0.97
    """Confidence of a very likely property, in services with numeric confidences."""

    def shares(self) -> dict[str, float]:
        """Return the confidence of each property, 0 to 1."""
        return {
            name: self.reported_confidence * _LIKELY.get(likelihood, 0.0)
            for name, likelihood in self.likelihoods.items()
        }


@dataclass(frozen=True, slots=True)
class ScoredSentence:
    """A sentence with its sentiment score, -1 to 1."""

    text: str
    begin: int
    score: float


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity in a text."""

    name: str
    kind: str
    """One of `ENTITY_KINDS`, or a kind of the service that none of them matches."""
    salience: float
    begin: int
    """Offset in the text; -1 if it does not occur."""
    score: float | None = None
    """Sentiment score of the entity, -1 to 1; None if not requested."""
    reported_confidence: float | None = None
    """Confidence in services that return one; None to use the salience."""

    @property
    def confidence(self) -> float:
        """Confidence in services that return one."""
        return self.salience if self.reported_confidence is None else self.reported_confidence


def as_shares(tops: Sequence[float]) -> list[float]:
    """Return confidences of sentiments from their scores: a softmax.

    Args:
        tops: score of each sentiment, -1 to 1.
    """
    weights = [math.exp(_STEEPNESS * top) for top in tops]
    return [weight / sum(weights) for weight in weights]


def shares_around(
    feelings: Sequence[str], numbers: Sequence[float]
) -> Iterator[tuple[str, list[float]]]:
    """Yield each sentiment with a high confidence, then with confidences around each number.

    Args:
        feelings: names of the sentiments; their confidences sum to 1.
        numbers: numbers that conditions may compare confidences with.
    """
    near = sorted({edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if 0 <= edge <= 1})
    for share in (_SURE, *near):
        for index, feeling in enumerate(feelings):
            shares = [0.0] * len(feelings)
            shares[index] = share
            shares[(index + 1) % len(shares)] = 1 - share
            yield f"{feeling} {share:g}", shares


def likeliest_first(found: Scored) -> Scored:
    """Return results with rounded scores, the likeliest first."""
    return sorted(
        ((name, round(score, DIGITS)) for name, score in found), key=lambda scored: -scored[1]
    )


def as_sentence(text: str) -> str:
    """Return a transcript with the capital and full stop of a service; sentences stay unchanged."""
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    return first + text[1:] + ("" if text.endswith(tuple(ENDS)) else ".")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each sentence."""
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        if sentence.strip(" \t.!?"):
            yield match.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()
