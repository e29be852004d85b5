"""Draws what an answer that is made up says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import Feeling
from ciguard.levels.app.providers.recognised import (
    EMOTIONS,
    ENTITY_KINDS,
    BoundingBox,
    Entity,
    Face,
    Felt,
    Scored,
    Word,
    sentences,
)
from ciguard.levels.app.virtualization.misreading import misheard, misread

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.levels.app.input_synthesis.inputs import InputSpec
    from ciguard.levels.app.virtualization.relations import Relations

_LEAST, _UNSURE, _MOST = 0.5, 0.75, 0.99
"""Scores; of what is neither wanted nor like it, up to the second one."""
_PLAIN = 0.9
"""Share of faces whose emotion is beyond doubt."""
_SUREST = 0.8
"""Least score of what is wanted, and most of what is like it."""
_FEW = 2
"""Results at most where there is nothing in particular."""
_LETTER, _LINE = 12, 24
"""Width and height of what is written, in pixels."""
_SCORES = {
    Feeling.POSITIVE: (0.3, 0.95), Feeling.NEGATIVE: (-0.95, -0.3), Feeling.NEUTRAL: (-0.2, 0.2),
}  # fmt: skip
_NOISE = 0.1
"""Of a sentence's score around its document's."""
_SIGNS = {
    "joy": ("joy", "happ", "smil", "laugh"), "sorrow": ("sorrow", "sad", "cry"),
    "anger": ("ang", "mad"), "surprise": ("surpris", "astonish"),
}  # fmt: skip
"""What people may call a face that shows an emotion, by how the words begin."""
_FELT = {Feeling.POSITIVE: "joy", Feeling.NEGATIVE: "sorrow"}
_MAX_ENTITIES = 4
_CAPITALISED = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z]\w+")
"""What may be a name: no word that begins a sentence."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Draws one answer.

    Where nothing is known of the content, wanted is None: anything may come. Where it is known to
    show nothing in particular, its key is empty: little comes.
    """

    rng: random.Random
    is_confused: bool
    """Whether it misses what is wanted."""

    def usual(self, habit: Mapping[str, float]) -> Scored:
        """Return labels with scores, each as often as a habit says."""
        return [
            (label, self._score()) for label, share in habit.items() if self.rng.random() < share
        ]

    def names(
        self, relations: Relations, wanted: InputSpec | None, count: int, best: str = ""
    ) -> Scored:
        """Return labels with scores.

        Args:
            relations: that the labels are from.
            wanted: what is shown.
            count: of labels, where there are so many.
            best: what is answered for it, if the key is no label itself.
        """
        if wanted is not None and not wanted.key:
            few = min(count, self.rng.randint(0, _FEW), len(relations.labels))
            drawn = self.rng.sample(relations.labels, few)
            return [(name, self._score()) for name in drawn]
        key = self.rng.choice(relations.labels) if wanted is None else wanted.key
        near = relations.related(key)
        best = relations.spelled(key) or best or next(iter(near), "")
        is_missed = self.is_confused and wanted is not None
        found = [] if is_missed or not best else [best]
        if not is_missed or self.rng.random() < 1 / 2:
            like = [name for name in near if name != best]
            beside = min(len(like), count - len(found), self.rng.randint(1, count))
            found += self.rng.sample(like, beside)
        missing = best if is_missed else ""
        others = self._others(found, relations.labels, count, missing=missing)
        scored = [
            *((name, self._score(is_best=name == best)) for name in found),
            *((name, self.rng.uniform(_LEAST, _UNSURE)) for name in others),
        ]
        return sorted(scored, key=lambda one: -one[1])

    def _others(
        self, found: Sequence[str], labels: Sequence[str], count: int, *, missing: str
    ) -> list[str]:
        """Return any labels but one, so that there are as many as there should or can be."""
        most = min(count, len(labels) - (missing in labels)) - len(found)
        others: list[str] = []
        while len(others) < most:
            name = self.rng.choice(labels)
            if name != missing and name not in (*found, *others):
                others.append(name)
        return others

    def _score(self, *, is_best: bool = False) -> float:
        return self.rng.uniform(_SUREST, _MOST) if is_best else self.rng.uniform(_LEAST, _SUREST)

    def share(self) -> BoundingBox:
        """Return a part of an image."""
        left, top = self.rng.uniform(0, 0.6), self.rng.uniform(0, 0.6)
        width, height = self.rng.uniform(0.1, 0.4), self.rng.uniform(0.1, 0.4)
        return BoundingBox(*(round(one, 4) for one in (left, top, width, height)))

    def faces(self, wanted: InputSpec | None) -> list[Face]:
        """Return faces, with the emotion that is wanted if it is one."""
        if wanted is None:
            emotions = self.rng.choices(("", *EMOTIONS), k=self.rng.randint(0, _FEW))
        elif not wanted.key and wanted.feeling is None:
            emotions = [""] * self.rng.randint(0, 1)
        else:
            emotion = _emotion(wanted)
            emotions = self._missed(emotion) if self.is_confused else [emotion]
        return [self._face(emotion, at) for at, emotion in enumerate(emotions)]

    def _missed(self, emotion: str) -> list[str]:
        """Return no face, or one with another emotion."""
        others = ["", *(one for one in EMOTIONS if one != emotion)]
        return [self.rng.choice(others)] if emotion and self.rng.random() < 1 / 2 else []

    def _face(self, emotion: str, place: int) -> Face:
        side = self.rng.randint(60, 120)
        box = BoundingBox(20 + place * 160, self.rng.randint(10, 60), side, side)
        likely = {one: self.rng.choice(("VERY_UNLIKELY", "UNLIKELY")) for one in EMOTIONS}
        if emotion:
            likely[emotion] = "VERY_LIKELY" if self.rng.random() < _PLAIN else "LIKELY"
        rest = dict.fromkeys(("under_exposed", "blurred", "headwear"), "VERY_UNLIKELY")
        return Face(box, self._score(), {**likely, **rest})

    def lines(self, wanted: InputSpec | None, labels: Sequence[str]) -> list[list[Word]]:
        """Return what is written, where it may be in an image."""
        text = self._text(wanted, "\n", labels)
        if wanted is not None and self.is_confused:
            text = misread(text, self.rng)
        written = [line.split() for line in text.splitlines()]
        return [self._line(words, at) for at, words in enumerate(filter(None, written))]

    def _text(self, wanted: InputSpec | None, between: str, labels: Sequence[str]) -> str:
        if wanted is not None:
            return wanted.key
        return between.join(self.rng.choices(labels, k=self.rng.randint(0, _FEW + 1)))

    def _line(self, words: Sequence[str], place: int) -> list[Word]:
        found, left = [], _LETTER
        for word in words:
            box = BoundingBox(left, _LINE * (place + 1), _LETTER * len(word), _LINE)
            found.append(Word(word, box, self._score()))
            left += _LETTER * (len(word) + 1)
        return found

    def transcript(self, wanted: InputSpec | None, labels: Sequence[str]) -> tuple[str, float]:
        """Return what is said, and how sure that is."""
        said = self._text(wanted, " ", labels)
        if wanted is None:
            said = said.lower()
        elif self.is_confused:
            said = misheard(said, self.rng, labels)
        return said.strip(), self._score()

    def feelings(self, wanted: InputSpec | None, text: str) -> tuple[float, list[Felt]]:
        """Return the score of a document, and those of its sentences around it."""
        feelings = list(Feeling)
        if wanted is None:
            feeling = self.rng.choice(feelings)
        else:
            feeling = wanted.feeling or Feeling.NEUTRAL
            if self.is_confused and wanted.feeling is not None:
                feeling = self.rng.choice([one for one in feelings if one is not feeling])
        score = self.rng.uniform(*_SCORES[feeling])
        return score, [
            Felt(sentence, begin, max(-1.0, min(1.0, self.rng.gauss(score, _NOISE))))
            for begin, sentence in sentences(text)
        ]

    def entities(self, wanted: InputSpec | None, text: str, *, is_felt: bool) -> list[Entity]:
        """Return what is wanted, and other names in a text.

        Args:
            wanted: what it speaks of.
            text: that is asked about.
            is_felt: whether to tell what is felt of each.
        """
        key = "" if wanted is None else wanted.key
        others = [one for one in dict.fromkeys(_CAPITALISED.findall(text)) if one not in key]
        most = _FEW if wanted is not None and not key else _MAX_ENTITIES
        found = [(name, self._kind("")) for name in others[: self.rng.randint(0, most)]]
        if wanted is not None and wanted.kind and not key:
            key = (others or text.split() or [""])[-1]
            found = [one for one in found if one[0] != key]
        if wanted is not None and key:
            kind = wanted.kind.upper() if wanted.kind.upper() in ENTITY_KINDS else "OTHER"
            if not self.is_confused:
                found.insert(0, (key, kind))
            elif self.rng.random() < 1 / 2:
                found.insert(0, (key, self._kind(kind)))
        shares = sorted((self.rng.uniform(0.1, 1) for _ in found), reverse=True)
        felt = [self.rng.uniform(-0.9, 0.9) if is_felt else None for _ in found]
        return [
            Entity(name, kind, share / sum(shares), text.find(name), feeling, self._score())
            for (name, kind), share, feeling in zip(found, shares, felt, strict=True)
        ]

    def _kind(self, other_than: str) -> str:
        return self.rng.choice([one for one in ENTITY_KINDS[:7] if one != other_than])


def _emotion(wanted: InputSpec) -> str:
    """Return the emotion that a face is wanted to show; empty for none."""
    for emotion, signs in _SIGNS.items():
        if any(word.startswith(signs) for word in wanted.key.lower().split()):
            return emotion
    return _FELT.get(wanted.feeling, "") if wanted.feeling else ""
