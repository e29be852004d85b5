"""Draws the content of simulated answers at random."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import Sentiment
from ciguard.levels.app.providers.recognised import (
    EMOTIONS,
    ENTITY_KINDS,
    BoundingBox,
    Entity,
    Face,
    Scored,
    ScoredSentence,
    Word,
    sentences,
)
from ciguard.levels.app.virtualization.misreading import misheard_text, misread_text

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.levels.app.input_synthesis.inputs import InputSpec
    from ciguard.levels.app.virtualization.relations import Relations

_MIN_SCORE, _MAX_UNRELATED_SCORE, _MAX_SCORE = 0.5, 0.75, 0.99
"""Minimum score, maximum score of unrelated labels, and maximum score of all labels."""
_CLEAR_SHARE = 0.9
"""Share of faces whose emotion is `VERY_LIKELY` instead of `LIKELY`."""
_MIN_BEST_SCORE = 0.8
"""Minimum score of the right label, and maximum score of similar ones."""
_MAX_UNSPECIFIC = 2
"""Maximum number of results for an input whose specification has no key."""
_LETTER_WIDTH, _LINE_HEIGHT = 12, 24
"""Width of a letter and height of a line, in pixels."""
_SENTIMENT_SCORES = {
    Sentiment.POSITIVE: (0.3, 0.95),
    Sentiment.NEGATIVE: (-0.95, -0.3),
    Sentiment.NEUTRAL: (-0.2, 0.2),
}
"""Minimum and maximum score of each sentiment."""
_SENTENCE_DEVIATION = 0.1
"""Standard deviation of the sentences' scores around the document's score."""
_EMOTION_WORDS = {
    "joy": ("joy", "happ", "smil", "laugh"), "sorrow": ("sorrow", "sad", "cry"),
    "anger": ("ang", "mad"), "surprise": ("surpris", "astonish"),
}  # fmt: skip
"""Prefixes of words that describe a face with an emotion."""
_EMOTION_OF = {Sentiment.POSITIVE: "joy", Sentiment.NEGATIVE: "sorrow"}
_MAX_ENTITIES = 4
_CAPITALISED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")
"""Possible names: capitalised words that do not begin a sentence."""


@dataclass(frozen=True, slots=True)
class AnswerGenerator:
    """Draws the content of one answer.

    Parameter `input_spec` of its methods specifies what the input shows. It is None if nothing is
    known of the input: then any answer may be drawn. If its key is empty, the input shows nothing
    in particular, and few results are drawn.
    """

    rng: random.Random
    is_confused: bool
    """True if the answer is to miss what the input shows."""

    def confused_labels(self, probabilities: Mapping[str, float]) -> Scored:
        """Return labels with scores, drawn with the probabilities of a confusion matrix's row."""
        return [
            (label, self._score())
            for label, probability in probabilities.items()
            if self.rng.random() < probability
        ]

    def scored_labels(
        self, relations: Relations, input_spec: InputSpec | None, count: int, best: str = ""
    ) -> Scored:
        """Return labels with scores, the likeliest first.

        Args:
            relations: labels to draw from.
            input_spec: specification of the input; see the class.
            count: number of labels to return; fewer are returned if there are not as many.
            best: label that stands for the specification's key if the key itself is not a label.
        """
        if input_spec is not None and not input_spec.key:
            few = min(count, self.rng.randint(0, _MAX_UNSPECIFIC), len(relations.labels))
            drawn = self.rng.sample(relations.labels, few)
            return [(name, self._score()) for name in drawn]
        key = self.rng.choice(relations.labels) if input_spec is None else input_spec.key
        similar = relations.related(key)
        best = relations.spelled(key) or best or next(iter(similar), "")
        is_missed = self.is_confused and input_spec is not None
        related = [] if is_missed or not best else [best]
        if not is_missed or self.rng.random() < 1 / 2:
            alternatives = [name for name in similar if name != best]
            added = min(len(alternatives), count - len(related), self.rng.randint(1, count))
            related += self.rng.sample(alternatives, added)
        missing = best if is_missed else ""
        others = self._unrelated_labels(related, relations.labels, count, missing=missing)
        scored = [
            *((name, self._score(is_best=name == best)) for name in related),
            *((name, self.rng.uniform(_MIN_SCORE, _MAX_UNRELATED_SCORE)) for name in others),
        ]
        return sorted(scored, key=lambda pair: -pair[1])

    def _unrelated_labels(
        self, chosen: Sequence[str], labels: Sequence[str], count: int, *, missing: str
    ) -> list[str]:
        """Return random labels that fill an answer up to `count` labels.

        Args:
            chosen: labels that the answer already has.
            labels: labels to draw from.
            count: number of labels in the whole answer.
            missing: label that the answer must not have; empty for none.
        """
        missing_count = min(count, len(labels) - (missing in labels)) - len(chosen)
        others: list[str] = []
        while len(others) < missing_count:
            name = self.rng.choice(labels)
            if name != missing and name not in (*chosen, *others):
                others.append(name)
        return others

    def _score(self, *, is_best: bool = False) -> float:
        """Return a random score, which is higher for the right label."""
        return (
            self.rng.uniform(_MIN_BEST_SCORE, _MAX_SCORE)
            if is_best
            else self.rng.uniform(_MIN_SCORE, _MIN_BEST_SCORE)
        )

    def box(self) -> BoundingBox:
        """Return a random box in an image, as shares of its size."""
        left, top = self.rng.uniform(0, 0.6), self.rng.uniform(0, 0.6)
        width, height = self.rng.uniform(0.1, 0.4), self.rng.uniform(0.1, 0.4)
        return BoundingBox(*(round(number, 4) for number in (left, top, width, height)))

    def faces(self, input_spec: InputSpec | None) -> list[Face]:
        """Return random faces, or the face that the input shows.

        A confused answer has a face with another emotion, or no face.
        """
        if input_spec is None:
            emotions = self.rng.choices(("", *EMOTIONS), k=self.rng.randint(0, _MAX_UNSPECIFIC))
        elif not input_spec.key and input_spec.feeling is None:
            emotions = [""] * self.rng.randint(0, 1)
        else:
            emotion = _emotion(input_spec)
            emotions = self._other_emotion(emotion) if self.is_confused else [emotion]
        return [self._face(emotion, index) for index, emotion in enumerate(emotions)]

    def _other_emotion(self, emotion: str) -> list[str]:
        """Return the emotions of the faces in a wrong answer: another one, or no face at all."""
        others = ["", *(other for other in EMOTIONS if other != emotion)]
        return [self.rng.choice(others)] if emotion and self.rng.random() < 1 / 2 else []

    def _face(self, emotion: str, index: int) -> Face:
        """Return a face that shows an emotion; an empty emotion stands for none."""
        side = self.rng.randint(60, 120)
        box = BoundingBox(20 + index * 160, self.rng.randint(10, 60), side, side)
        likely = {other: self.rng.choice(("VERY_UNLIKELY", "UNLIKELY")) for other in EMOTIONS}
        if emotion:
            likely[emotion] = "VERY_LIKELY" if self.rng.random() < _CLEAR_SHARE else "LIKELY"
        rest = dict.fromkeys(("under_exposed", "blurred", "headwear"), "VERY_UNLIKELY")
        return Face(box, self._score(), {**likely, **rest})

    def lines(self, input_spec: InputSpec | None, labels: Sequence[str]) -> list[list[Word]]:
        """Return the lines of a text as words with their boxes."""
        text = self._text(input_spec, "\n", labels)
        if input_spec is not None and self.is_confused:
            text = misread_text(text, self.rng)
        lines = [line.split() for line in text.splitlines()]
        return [self._line(words, index) for index, words in enumerate(filter(None, lines))]

    def _text(self, input_spec: InputSpec | None, separator: str, labels: Sequence[str]) -> str:
        """Return the text that the input shows; random labels if nothing is known of the input."""
        if input_spec is not None:
            return input_spec.key
        return separator.join(self.rng.choices(labels, k=self.rng.randint(0, _MAX_UNSPECIFIC + 1)))

    def _line(self, words: Sequence[str], index: int) -> list[Word]:
        """Return the words of a line with their boxes, from left to right."""
        located, left = [], _LETTER_WIDTH
        for word in words:
            box = BoundingBox(
                left, _LINE_HEIGHT * (index + 1), _LETTER_WIDTH * len(word), _LINE_HEIGHT
            )
            located.append(Word(word, box, self._score()))
            left += _LETTER_WIDTH * (len(word) + 1)
        return located

    def transcript(self, input_spec: InputSpec | None, labels: Sequence[str]) -> tuple[str, float]:
        """Return a transcript and its confidence."""
        text = self._text(input_spec, " ", labels)
        if input_spec is None:
            text = text.lower()
        elif self.is_confused:
            text = misheard_text(text, self.rng, labels)
        return text.strip(), self._score()

    def sentiments(
        self, input_spec: InputSpec | None, text: str
    ) -> tuple[float, list[ScoredSentence]]:
        """Return the score of a document, and its sentences with scores near that score."""
        sentiments = list(Sentiment)
        if input_spec is None:
            sentiment = self.rng.choice(sentiments)
        else:
            sentiment = input_spec.feeling or Sentiment.NEUTRAL
            if self.is_confused and input_spec.feeling is not None:
                others = [other for other in sentiments if other is not sentiment]
                sentiment = self.rng.choice(others)
        score = self.rng.uniform(*_SENTIMENT_SCORES[sentiment])
        return score, [
            ScoredSentence(
                sentence, begin, max(-1.0, min(1.0, self.rng.gauss(score, _SENTENCE_DEVIATION)))
            )
            for begin, sentence in sentences(text)
        ]

    def entities(
        self, input_spec: InputSpec | None, text: str, *, has_sentiment: bool
    ) -> list[Entity]:
        """Return the entity that the input shows, and other names in the text.

        Args:
            input_spec: specification of the input; see the class.
            text: the text of the request.
            has_sentiment: True if each entity has a sentiment score.
        """
        key = "" if input_spec is None else input_spec.key
        others = [name for name in dict.fromkeys(_CAPITALISED.findall(text)) if name not in key]
        maximum = _MAX_UNSPECIFIC if input_spec is not None and not key else _MAX_ENTITIES
        names_with_kinds = [
            (name, self._kind("")) for name in others[: self.rng.randint(0, maximum)]
        ]
        if input_spec is not None and input_spec.kind and not key:
            key = (others or text.split() or [""])[-1]
            names_with_kinds = [entity for entity in names_with_kinds if entity[0] != key]
        if input_spec is not None and key:
            kind = input_spec.kind.upper() if input_spec.kind.upper() in ENTITY_KINDS else "OTHER"
            if not self.is_confused:
                names_with_kinds.insert(0, (key, kind))
            elif self.rng.random() < 1 / 2:
                names_with_kinds.insert(0, (key, self._kind(kind)))
        shares = sorted((self.rng.uniform(0.1, 1) for _ in names_with_kinds), reverse=True)
        sentiments = [
            self.rng.uniform(-0.9, 0.9) if has_sentiment else None for _ in names_with_kinds
        ]
        return [
            Entity(name, kind, share / sum(shares), text.find(name), sentiment, self._score())
            for (name, kind), share, sentiment in zip(
                names_with_kinds, shares, sentiments, strict=True
            )
        ]

    def _kind(self, other_than: str) -> str:
        """Return a random kind of entity, except one."""
        return self.rng.choice([kind for kind in ENTITY_KINDS[:7] if kind != other_than])


def _emotion(input_spec: InputSpec) -> str:
    """Return the emotion in the specification of an input with a face; empty for none."""
    for emotion, signs in _EMOTION_WORDS.items():
        if any(word.startswith(signs) for word in input_spec.key.lower().split()):
            return emotion
    return _EMOTION_OF.get(input_spec.feeling, "") if input_spec.feeling else ""
