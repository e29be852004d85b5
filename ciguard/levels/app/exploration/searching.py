"""Searches for answers that turn conditions which no plain answer turned.

Answers are drawn at random from what the application's text speaks of: its texts and numbers,
alone, joined and varied, what its regular expressions match, scores beside its numbers. One that
brought about something new is varied in turn. Nothing is followed or solved: what an answer does is
seen when the function is called with it.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.levels.app.exploration.answers import most_of, usual_for
from ciguard.levels.app.exploration.searched import UNLIKELY, RecognisedItem
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import face_messages_of, messages_of
from ciguard.values import SamplingScope, String, compile_sampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.exploration.hints import Hints
    from ciguard.levels.app.providers.description import Operation

_MAX_RESULTS = 25
_VARIED, _LATELY, _COUNTED, _ONE_LINE, _OTHER_TEXT, _ALIKE = 0.7, 0.5, 0.25, 0.6, 0.6, 0.5
"""Shares: of answers that are varied, of the latest among these, of those with as many results as a
number says, of written ones with one line, of changes to a text, of results with equal scores."""
_LATEST = 3
_SHARES = (0.01, 1.0, -1.0)
"""What a number may be a score times: some compute in percent, some with the opposite."""
_NEAR = (-0.01, 0.0, 0.01)
_AGES = range(1, 100)
_WIDTHS = (8, 18, 60, 200, 600)
_JOINED_BY = ("", "", "", " ", " ", " ", "\n", "-", ": ")
_LIKELIHOODS = (UNLIKELY, "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
_WRITTEN = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_NUMBER = re.compile(r"\d+")

Guess = dict["Operation", tuple[RecognisedItem, ...]]
"""What each operation recognises."""


class Search:
    """For answers that bring about what none did before."""

    def __init__(self, operations: Sequence[Operation], hints: Hints, *, seed: int = 0) -> None:
        """Prepare it.

        Args:
            operations: that the function asks.
            hints: what its text speaks of.
            seed: of what is drawn.
        """
        self._operations = operations
        self._rng = random.Random(seed)  # noqa: S311 - repeatable
        self._texts = Texts(hints, self._rng)
        self._numbers = hints.numbers
        self._good: list[Guess] = []
        self._seen: set[frozenset[object]] = set()

    def guess(self) -> Guess:
        """Return what to answer next."""
        if not self._good or self._rng.random() > _VARIED:
            return {one: self._several(one) for one in self._operations}
        last = _LATEST if self._rng.random() < _LATELY else 0
        before = self._rng.choice(self._good[-last:])
        changed = self._rng.choice(self._operations)
        return {**before, changed: self._varied(changed, before[changed])}

    def note(self, guess: Guess, seen: frozenset[object]) -> None:
        """Note what an answer brought about.

        Args:
            guess: that was answered.
            seen: how conditions turned out.
        """
        if seen not in self._seen:
            self._seen.add(seen)
            self._good.append(guess)

    def _several(self, operation: Operation) -> tuple[RecognisedItem, ...]:
        rng = self._rng
        counts = [int(one) + more for one in self._numbers for more in (0, 1)]
        few = [one for one in counts if 0 < one <= _MAX_RESULTS]
        count = rng.choice([1, 2, 3, *(rng.randint(0, 9) for _ in range(3))])
        if few and rng.random() < _COUNTED:
            count = rng.choice(few)
        if operation.task in _WRITTEN and rng.random() < _ONE_LINE:
            count = 1
        kinds = [self._one(operation) for _ in range(rng.choice([1, 2, max(1, count)]))]
        drawn = [rng.choice(kinds) for _ in range(count)]
        if rng.random() < _ALIKE:
            return tuple(drawn)
        return tuple(replace(one, score=self._score(operation)) for one in drawn)

    def _varied(
        self, operation: Operation, results: tuple[RecognisedItem, ...]
    ) -> tuple[RecognisedItem, ...]:
        rng = self._rng
        if not results:
            return self._several(operation)
        at = rng.randrange(len(results))
        one, other = results[at], self._one(operation)
        changes: list[list[RecognisedItem]] = [
            [replace(one, score=other.score)],
            [replace(one, kind=other.kind, likelihoods=other.likelihoods)],
            [one, other],
            [one] * rng.randint(2, 4),
            [other],
            [],
        ]
        changed = rng.choice(changes)
        if operation.task in _WRITTEN and rng.random() < _OTHER_TEXT:
            changed = [replace(one, key=self._texts.like(one.key))]
        return (*results[:at], *changed, *results[at + 1 :])[:_MAX_RESULTS]

    def _one(self, operation: Operation) -> RecognisedItem:
        rng = self._rng
        messages = messages_of(operation)
        kinds = list(messages.KINDS) if operation.task is RecognitionTask.ENTITIES else [""]
        of_faces = operation.task is RecognitionTask.FACES
        shown = face_messages_of(operation).SHOWN_BY_FACES if of_faces else ()
        likely = rng.sample(shown, rng.randint(0, min(3, len(shown))))
        ages = [int(one) + step for one in self._numbers for step in (-10, 0, 1)]
        return RecognisedItem(
            key=self._texts.draw(usual_for(operation)),
            score=self._score(operation),
            kind=rng.choice(kinds),
            likelihoods={
                what: rng.choice(_LIKELIHOODS) if what in likely else UNLIKELY for what in shown
            },
            age=rng.choice([rng.choice(_AGES), *(age for age in ages if age in _AGES)]),
            width=rng.choice(_WIDTHS),
        )

    def _score(self, operation: Operation) -> float:
        rng = self._rng
        least = -1.0 if operation.task is RecognitionTask.SENTIMENT else 0.0
        ways = (1 / most_of(operation), *_SHARES)
        near = [n * way + step for n in self._numbers for way in ways for step in _NEAR]
        fitting = [one for one in near if least <= one <= 1.0]
        some = rng.sample(fitting, min(4, len(fitting)))
        anything = [rng.uniform(least, 1.0), rng.uniform(least, 1.0), 0.95, 0.3]
        return round(rng.choice(anything + some), 4)


class Texts:
    """Draws texts of what an application speaks of."""

    def __init__(self, hints: Hints, rng: random.Random) -> None:
        """Prepare it.

        Args:
            hints: what they are made of.
            rng: of what is drawn.
        """
        self._hints = hints
        self._rng = rng
        # Digits as people write them, where an expression takes those of all scripts.
        self._matching = [compile_sampler(String(pattern=f"(?a){one}")) for one in hints.patterns]

    def draw(self, usual: str) -> str:
        """Return a text.

        Args:
            usual: a word that nothing is compared with.
        """
        rng = self._rng
        words = [self._word(usual) for _ in range(rng.choice((2, 2, 3, 3, 4, 5, 12)))]
        alone = self._word(usual)
        ways = [usual, alone, alone.capitalize(), alone.lower(), alone.title()]
        ways += [rng.choice(_JOINED_BY).join(words)] * 4
        if self._matching:
            ways.append(self._matched())
        return rng.choice(ways)

    def like(self, text: str) -> str:
        """Return a text like another one."""
        rng = self._rng
        ways = [
            f"{text}{rng.choice(('', ' '))}{self._number()}",
            rng.choice(_JOINED_BY).join(rng.sample((text, self._word("it")), 2)),
        ]
        if _NUMBER.search(text):
            number, digit = self._number(), str(rng.randrange(10))
            ways += [_NUMBER.sub(number, text, count=1), re.sub(r"\d(?=\D*$)", digit, text)]
        if " " in text:
            words = text.split(" ")
            words[rng.randrange(len(words))] = self._word("it")
            ways.append(" ".join(words))
        return rng.choice(ways)

    def _word(self, usual: str) -> str:
        ways = [usual, self._number(), self._number()]
        if self._hints.texts:
            ways += self._rng.choices(self._hints.texts, k=3)
        if self._matching:
            ways.append(self._matched())
        return self._rng.choice(ways)

    def _matched(self) -> str:
        value = self._rng.choice(self._matching)(self._rng, SamplingScope())
        return str(value.value) if isinstance(value, LiteralValue) else ""

    def _number(self) -> str:
        rng = self._rng
        near = [n + rng.choice((-1, 0, 1)) for n in self._hints.numbers]
        return f"{rng.choice([rng.randrange(10 ** rng.randint(1, 5)), *near]):.15g}"
