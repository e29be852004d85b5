"""Random search for answers that reach outcomes of conditions which no plain answer reached.

Answers are drawn from the literals of the application: its texts and numbers, alone, joined and
varied, matches of its regular expressions, and scores near its numbers. An answer with a new
outcome joins the corpus and is mutated in turn. The search is grey-box: its only feedback is how
conditions turned out in each call.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.levels.app.exploration.answers import most_of, usual_for
from ciguard.levels.app.exploration.drawn_answers import UNLIKELY, RecognisedItem
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import face_messages_of, messages_of
from ciguard.values import SamplingScope, String, compile_sampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.exploration.hints import Hints
    from ciguard.levels.app.providers.description import Operation

_MAX_RESULTS = 25
_MUTATED, _FROM_LATEST, _COUNT_FROM_NUMBERS, _ONE_LINE, _MUTATED_TEXT, _EQUAL_SCORES = (
    0.7,
    0.5,
    0.25,
    0.6,
    0.6,
    0.5,
)
"""Probabilities of mutating a good guess, of taking it from the latest, of drawing a count from the
numbers, of one line, of mutating the text, of equal scores."""
_LATEST = 3
_FACTORS = (0.01, 1.0, -1.0)
"""Factors from a number to a score: some code computes in percent, some with the negative."""
_OFFSETS = (-0.01, 0.0, 0.01)
_AGES = range(1, 100)
_WIDTHS = (8, 18, 60, 200, 600)
_SEPARATORS = ("", "", "", " ", " ", " ", "\n", "-", ": ")
_LIKELIHOODS = (UNLIKELY, "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
_WRITTEN = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_NUMBER = re.compile(r"\d+")

Guess = dict["Operation", tuple[RecognisedItem, ...]]
"""Results by operation."""


class AnswerSearch:
    """Search for answers with new outcomes of conditions."""

    def __init__(self, operations: Sequence[Operation], hints: Hints, *, seed: int = 0) -> None:
        """Create the search.

        Args:
            operations: the operations that the function calls.
            hints: the literals of its source.
            seed: the seed of the random generator.
        """
        self._operations = operations
        self._rng = random.Random(seed)  # noqa: S311 - repeatable
        self._texts = Texts(hints, self._rng)
        self._numbers = hints.numbers
        self._good: list[Guess] = []
        self._seen: set[frozenset[object]] = set()

    def guess(self) -> Guess:
        """Return the next guess: a new one, or a mutated good one."""
        if not self._good or self._rng.random() > _MUTATED:
            return {operation: self._results(operation) for operation in self._operations}
        last = _LATEST if self._rng.random() < _FROM_LATEST else 0
        before = self._rng.choice(self._good[-last:])
        changed = self._rng.choice(self._operations)
        return {**before, changed: self._mutated(changed, before[changed])}

    def observe(self, guess: Guess, seen: frozenset[object]) -> None:
        """Add a guess to the corpus if its outcomes are new.

        Args:
            guess: the guess that was answered.
            seen: the outcomes of conditions.
        """
        if seen not in self._seen:
            self._seen.add(seen)
            self._good.append(guess)

    def _results(self, operation: Operation) -> tuple[RecognisedItem, ...]:
        rng = self._rng
        counts = [int(number) + extra for number in self._numbers for extra in (0, 1)]
        fitting_counts = [count for count in counts if 0 < count <= _MAX_RESULTS]
        count = rng.choice([1, 2, 3, *(rng.randint(0, 9) for _ in range(3))])
        if fitting_counts and rng.random() < _COUNT_FROM_NUMBERS:
            count = rng.choice(fitting_counts)
        if operation.task in _WRITTEN and rng.random() < _ONE_LINE:
            count = 1
        kinds = [self._result(operation) for _ in range(rng.choice([1, 2, max(1, count)]))]
        drawn = [rng.choice(kinds) for _ in range(count)]
        if rng.random() < _EQUAL_SCORES:
            return tuple(drawn)
        return tuple(replace(item, score=self._score(operation)) for item in drawn)

    def _mutated(
        self, operation: Operation, results: tuple[RecognisedItem, ...]
    ) -> tuple[RecognisedItem, ...]:
        rng = self._rng
        if not results:
            return self._results(operation)
        index = rng.randrange(len(results))
        item, other = results[index], self._result(operation)
        changes: list[list[RecognisedItem]] = [
            [replace(item, score=other.score)],
            [replace(item, kind=other.kind, likelihoods=other.likelihoods)],
            [item, other],
            [item] * rng.randint(2, 4),
            [other],
            [],
        ]
        replacement = rng.choice(changes)
        if operation.task in _WRITTEN and rng.random() < _MUTATED_TEXT:
            replacement = [replace(item, key=self._texts.like(item.key))]
        return (*results[:index], *replacement, *results[index + 1 :])[:_MAX_RESULTS]

    def _result(self, operation: Operation) -> RecognisedItem:
        rng = self._rng
        messages = messages_of(operation)
        kinds = list(messages.KINDS) if operation.task is RecognitionTask.ENTITIES else [""]
        is_faces = operation.task is RecognitionTask.FACES
        attributes = face_messages_of(operation).SHOWN_BY_FACES if is_faces else ()
        likely_attributes = rng.sample(attributes, rng.randint(0, min(3, len(attributes))))
        ages = [int(number) + step for number in self._numbers for step in (-10, 0, 1)]
        return RecognisedItem(
            key=self._texts.draw(usual_for(operation)),
            score=self._score(operation),
            kind=rng.choice(kinds),
            likelihoods={
                attribute: rng.choice(_LIKELIHOODS) if attribute in likely_attributes else UNLIKELY
                for attribute in attributes
            },
            age=rng.choice([rng.choice(_AGES), *(age for age in ages if age in _AGES)]),
            width=rng.choice(_WIDTHS),
        )

    def _score(self, operation: Operation) -> float:
        rng = self._rng
        least = -1.0 if operation.task is RecognitionTask.SENTIMENT else 0.0
        factors = (1 / most_of(operation), *_FACTORS)
        near = [
            number * factor + step
            for number in self._numbers
            for factor in factors
            for step in _OFFSETS
        ]
        fitting = [score for score in near if least <= score <= 1.0]
        sampled = rng.sample(fitting, min(4, len(fitting)))
        anything = [rng.uniform(least, 1.0), rng.uniform(least, 1.0), 0.95, 0.3]
        return round(rng.choice(anything + sampled), 4)


class Texts:
    """Draw texts from the literals of an application."""

    def __init__(self, hints: Hints, rng: random.Random) -> None:
        """Create the generator.

        Args:
            hints: the literals of the application.
            rng: the random generator.
        """
        self._hints = hints
        self._rng = rng
        # ASCII digits only, although `\d` matches the digits of all scripts.
        self._matching = [
            compile_sampler(String(pattern=f"(?a){pattern}")) for pattern in hints.patterns
        ]

    def draw(self, usual: str) -> str:
        """Return a random text.

        Args:
            usual: a word that no condition compares with.
        """
        rng = self._rng
        words = [self._word(usual) for _ in range(rng.choice((2, 2, 3, 3, 4, 5, 12)))]
        alone = self._word(usual)
        candidates = [usual, alone, alone.capitalize(), alone.lower(), alone.title()]
        candidates += [rng.choice(_SEPARATORS).join(words)] * 4
        if self._matching:
            candidates.append(self._match())
        return rng.choice(candidates)

    def like(self, text: str) -> str:
        """Return a mutation of a text."""
        rng = self._rng
        candidates = [
            f"{text}{rng.choice(('', ' '))}{self._number()}",
            rng.choice(_SEPARATORS).join(rng.sample((text, self._word("it")), 2)),
        ]
        if _NUMBER.search(text):
            number, digit = self._number(), str(rng.randrange(10))
            candidates += [_NUMBER.sub(number, text, count=1), re.sub(r"\d(?=\D*$)", digit, text)]
        if " " in text:
            words = text.split(" ")
            words[rng.randrange(len(words))] = self._word("it")
            candidates.append(" ".join(words))
        return rng.choice(candidates)

    def _word(self, usual: str) -> str:
        candidates = [usual, self._number(), self._number()]
        if self._hints.texts:
            candidates += self._rng.choices(self._hints.texts, k=3)
        if self._matching:
            candidates.append(self._match())
        return self._rng.choice(candidates)

    def _match(self) -> str:
        value = self._rng.choice(self._matching)(self._rng, SamplingScope())
        return str(value.value) if isinstance(value, LiteralValue) else ""

    def _number(self) -> str:
        rng = self._rng
        near = [number + rng.choice((-1, 0, 1)) for number in self._hints.numbers]
        return f"{rng.choice([rng.randrange(10 ** rng.randint(1, 5)), *near]):.15g}"
