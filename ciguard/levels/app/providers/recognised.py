"""What engines recognise, before a service's message says it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Scored: TypeAlias = list[tuple[str, float]]
"""What is recognised, each with how likely that is, 0 to 1."""
Size: TypeAlias = tuple[int, int]
"""Width and height of an image, in pixels."""
EMOTIONS = ("joy", "sorrow", "anger", "surprise")
"""That a face is said to show."""
ENTITY_KINDS = (
    "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD", "OTHER",
    "PHONE_NUMBER", "ADDRESS", "DATE", "NUMBER", "PRICE",
)  # fmt: skip
NEUTRAL = 0.2
"""Score from which on a feeling is surer than that there is none."""
_STEEPNESS = 6.0
_SURE, _STEP = 0.95, 0.05
_LIKELY = {"VERY_LIKELY": 1.0, "LIKELY": 0.75, "POSSIBLE": 0.5}
"""Share of a face's sureness; no other likelihood says that it shows something."""
DIGITS = 4
"""Of a score, after the point."""
ENDS = ".?!"
"""What a sentence ends with."""
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A rectangle in an image, in pixels, or in shares of its size."""

    left: float
    top: float
    width: float
    height: float

    def corners(self) -> list[tuple[float, float]]:
        """Return its corners, clockwise from the one at the left and top."""
        right, bottom = self.left + self.width, self.top + self.height
        return [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom)]

    def of(self, size: Size) -> BoundingBox:
        """Return a box in pixels in shares of an image's size, no more than the whole of it."""
        width, height = size
        left, top = (min(max(one, 0.0), 1.0) for one in (self.left / width, self.top / height))
        return BoundingBox(
            left, top, min(self.width / width, 1.0 - left), min(self.height / height, 1.0 - top)
        )


def around(boxes: list[BoundingBox]) -> BoundingBox:
    """Return the rectangle around others."""
    left, top = min(one.left for one in boxes), min(one.top for one in boxes)
    right = max(one.left + one.width for one in boxes)
    bottom = max(one.top + one.height for one in boxes)
    return BoundingBox(left, top, right - left, bottom - top)


@dataclass(frozen=True, slots=True)
class Word:
    """A word that is written in an image."""

    text: str
    box: BoundingBox
    confidence: float


@dataclass(frozen=True, slots=True)
class Face:
    """A face in an image."""

    box: BoundingBox
    confidence: float
    likelihoods: Mapping[str, str]
    """Of what it shows, such as an emotion; `UNKNOWN` for what nobody judged."""
    age: int = 30
    sureness: float = 0.97
    """How sure the surest of its likelihoods is, where a service tells that in numbers."""

    def shares(self) -> dict[str, float]:
        """Return how sure each of its likelihoods is, as a share of one."""
        return {
            what: self.sureness * _LIKELY.get(likelihood, 0.0)
            for what, likelihood in self.likelihoods.items()
        }


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
    """Of `ENTITY_KINDS`, or what a service calls a kind that is none of these."""
    salience: float
    begin: int
    """Where the text names it; -1 for nowhere."""
    score: float | None = None
    """What is felt of it; None where nobody asked."""
    sureness: float | None = None
    """How sure a service is of it that says so; None: as its salience."""

    @property
    def certainty(self) -> float:
        """How sure a service is of it that says so."""
        return self.salience if self.sureness is None else self.sureness


def as_shares(tops: Sequence[float]) -> list[float]:
    """Return how sure each of several feelings is, the surer the further its score is ahead.

    Args:
        tops: score of each, -1 to 1.
    """
    weights = [math.exp(_STEEPNESS * top) for top in tops]
    return [weight / sum(weights) for weight in weights]


def shares_around(
    feelings: Sequence[str], numbers: Sequence[float]
) -> Iterator[tuple[str, list[float]]]:
    """Yield each feeling surely, then each with a share on both sides of each number.

    Args:
        feelings: in the order of the shares; all shares are one.
        numbers: that shares may be compared with.
    """
    near = sorted({edge for n in numbers for edge in (n - _STEP, n, n + _STEP) if 0 <= edge <= 1})
    for share in (_SURE, *near):
        for at, feeling in enumerate(feelings):
            shares = [0.0] * len(feelings)
            shares[at] = share
            shares[(at + 1) % len(shares)] = 1 - share
            yield f"{feeling} {share:g}", shares


def ordered(found: Scored) -> Scored:
    """Return results with their scores rounded, the likeliest first."""
    return sorted(((name, round(score, DIGITS)) for name, score in found), key=lambda f: -f[1])


def displayed(text: str) -> str:
    """Return what was said as services write it that punctuate: a sentence stays as it is."""
    first = text[:1].upper() if text[:1].isascii() else text[:1]
    return first + text[1:] + ("" if text.endswith(tuple(ENDS)) else ".")


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each sentence of a text begins, and the sentence."""
    for found in _SENTENCE.finditer(text):
        sentence = found.group()
        if sentence.strip(" \t.!?"):
            yield found.start() + len(sentence) - len(sentence.lstrip()), sentence.strip()
