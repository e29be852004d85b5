"""Random search for stub responses with outcomes of conditions that no plain response reached.

Results are drawn from the application's literals: its texts and numbers, alone, joined and mutated,
matches of its regular expressions, and scores near its numbers. A response with a new combination
of outcomes joins the corpus and is mutated later. The search is grey-box: its only feedback is
whether each condition was true or false in a call.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue
from ciguard.levels.app.exploration.answers import (
    colors_near,
    common_result_of,
    max_relative_score,
    max_score_of,
    moderated_topics,
)
from ciguard.levels.app.exploration.random_answers import UNLIKELY, RecognisedItem
from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import LIKELIHOODS
from ciguard.levels.app.providers.registered import (
    face_messages_of,
    messages_of,
    safety_messages_of,
)
from ciguard.values import SamplingScope, String, compile_sampler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.levels.app.exploration.hints import Hints
    from ciguard.levels.app.providers.description import Operation

_MAX_RESULTS = 25
_MUTATION_RATE = 0.7
"""Probability that a guess is a mutation of one in the corpus."""
_RECENT_PARENT_RATE = 0.5
"""Probability that the mutated guess is among the `_RECENT_COUNT` newest ones."""
_RECENT_COUNT = 3
_COUNT_FROM_NUMBERS_RATE = 0.25
"""Probability that the number of results comes from a number in the source."""
_ONE_LINE_RATE = 0.6
"""Probability that a recognised text has a single line."""
_TEXT_MUTATION_RATE = 0.6
"""Probability that a mutation of a recognised text changes its words."""
_EQUAL_SCORES_RATE = 0.5
"""Probability that equal results have equal scores."""
_FACTORS = (0.01, 1.0, -1.0)
"""Factors from a number in the source to a score: it may be a percentage or negated."""
_OFFSETS = (-0.01, 0.0, 0.01)
_AGES = range(1, 100)
_WIDTHS = (8, 18, 60, 200, 600)
_LEFTS = (0, 2, 40, 160, 320, 500, 620)
_SEPARATORS = ("", "", "", " ", " ", " ", "\n", "-", ": ")
_TEXT_TASKS = frozenset({RecognitionTask.TEXT, RecognitionTask.SPEECH})
_NUMBER = re.compile(r"\d+")

Guess = dict["Operation", tuple[RecognisedItem, ...]]
"""Operation → results that its stub response recognises."""


class AnswerSearch:
    """Corpus of guesses, and the generator of new ones."""

    def __init__(self, operations: Sequence[Operation], hints: Hints, *, seed: int = 0) -> None:
        """Create the search.

        Args:
            operations: the operations that the function calls.
            hints: the literals of its source.
            seed: the seed of the random generator.
        """
        self._operations = operations
        self._rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self._texts = TextGenerator(hints, self._rng)
        self._numbers = hints.numbers
        self._corpus: list[Guess] = []
        self._known_outcomes: set[frozenset[object]] = set()

    def guess(self) -> Guess:
        """Return the next guess: freshly drawn, or mutated from one in the corpus."""
        if not self._corpus or self._rng.random() > _MUTATION_RATE:
            return {operation: self._results(operation) for operation in self._operations}
        recent_count = _RECENT_COUNT if self._rng.random() < _RECENT_PARENT_RATE else 0
        parent = self._rng.choice(self._corpus[-recent_count:])
        operation = self._rng.choice(self._operations)
        return {**parent, operation: self._mutated(operation, parent[operation])}

    def observe(self, guess: Guess, outcomes: frozenset[object]) -> None:
        """Add a guess to the corpus if its combination of outcomes is new.

        Args:
            guess: the guess, with which the function was called.
            outcomes: the outcomes of conditions in that call.
        """
        if outcomes not in self._known_outcomes:
            self._known_outcomes.add(outcomes)
            self._corpus.append(guess)

    def _results(self, operation: Operation) -> tuple[RecognisedItem, ...]:
        rng = self._rng
        counts = [int(number) + extra for number in self._numbers for extra in (0, 1)]
        fitting_counts = [count for count in counts if 0 < count <= _MAX_RESULTS]
        count = rng.choice([1, 2, 3, *(rng.randint(0, 9) for _ in range(3))])
        if fitting_counts and rng.random() < _COUNT_FROM_NUMBERS_RATE:
            count = rng.choice(fitting_counts)
        is_one_line = operation.task in _TEXT_TASKS and rng.random() < _ONE_LINE_RATE
        if is_one_line or operation.task is RecognitionTask.SAFETY:
            count = 1
        kinds = [self._result(operation) for _ in range(rng.choice([1, 2, max(1, count)]))]
        items = [rng.choice(kinds) for _ in range(count)]
        if rng.random() < _EQUAL_SCORES_RATE:
            return tuple(items)
        return tuple(replace(item, score=self._score(operation)) for item in items)

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
            [replace(item, width=other.width, left=other.left)],
            [item, other],
            [item] * rng.randint(2, 4),
            [other],
            [],
        ]
        if item.likelihoods:
            one = rng.choice(list(item.likelihoods))
            changes.append(
                [replace(item, likelihoods={**item.likelihoods, one: rng.choice(LIKELIHOODS)})]
            )
        replacement = rng.choice(changes)
        if operation.task in _TEXT_TASKS and rng.random() < _TEXT_MUTATION_RATE:
            replacement = [replace(item, key=self._texts.mutated(item.key))]
        limit = 1 if operation.task is RecognitionTask.SAFETY else _MAX_RESULTS
        return (*results[:index], *replacement, *results[index + 1 :])[:limit]

    def _result(self, operation: Operation) -> RecognisedItem:
        rng = self._rng
        messages = messages_of(operation)
        kinds = list(messages.KINDS) if operation.task is RecognitionTask.ENTITIES else [""]
        attributes = _attributes(operation)
        likely_attributes = rng.sample(attributes, rng.randint(0, min(3, len(attributes))))
        ages = [int(number) + step for number in self._numbers for step in (-10, 0, 1)]
        return RecognisedItem(
            key=self._key(operation),
            score=self._score(operation),
            kind=rng.choice(kinds),
            likelihoods={
                attribute: rng.choice(LIKELIHOODS) if attribute in likely_attributes else UNLIKELY
                for attribute in attributes
            },
            age=rng.choice([rng.choice(_AGES), *(age for age in ages if age in _AGES)]),
            width=rng.choice(_WIDTHS),
            left=rng.choice(_LEFTS),
        )

    def _key(self, operation: Operation) -> str:
        if operation.task is RecognitionTask.MODERATION:
            return self._rng.choice(moderated_topics(operation))
        if operation.task is not RecognitionTask.COLORS:
            return self._texts.draw(common_result_of(operation))
        return self._rng.choice([f"#{self._rng.randbytes(3).hex()}", *colors_near(self._numbers)])

    def _score(self, operation: Operation) -> float:
        rng = self._rng
        min_score = -1.0 if operation.task is RecognitionTask.SENTIMENT else 0.0
        factors = (1 / max_score_of(operation), *_FACTORS)
        near = [
            number * factor + step
            for number in self._numbers
            for factor in factors
            for step in _OFFSETS
        ]
        max_score = max_relative_score(operation)
        fitting = [score for score in near if min_score <= score <= max_score]
        sampled = rng.sample(fitting, min(4, len(fitting)))
        anything = [rng.uniform(min_score, 1.0), rng.uniform(min_score, 1.0), 0.95, 0.3]
        return round(rng.choice(anything + sampled), 4)


def _attributes(operation: Operation) -> tuple[str, ...]:
    """Return the attributes that have a likelihood in results of an operation."""
    if operation.task is RecognitionTask.FACES:
        return face_messages_of(operation).FACE_PROPERTIES
    if operation.task is RecognitionTask.SAFETY or operation.judges_safety:
        return safety_messages_of(operation).UNSAFE_PROPERTIES
    return ()


class TextGenerator:
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
        self._pattern_samplers = [
            compile_sampler(String(pattern=f"(?a){pattern}")) for pattern in hints.patterns
        ]

    def draw(self, common_word: str) -> str:
        """Return a random text.

        Args:
            common_word: a word that no condition compares with.
        """
        rng = self._rng
        words = [self._word(common_word) for _ in range(rng.choice((2, 2, 3, 3, 4, 5, 12)))]
        word = self._word(common_word)
        candidates = [common_word, word, word.capitalize(), word.lower(), word.title()]
        candidates += [rng.choice(_SEPARATORS).join(words)] * 4
        if self._pattern_samplers:
            candidates.append(self._match())
        return rng.choice(candidates)

    def mutated(self, text: str) -> str:
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

    def _word(self, common_word: str) -> str:
        candidates = [common_word, self._number(), self._number()]
        if self._hints.texts:
            candidates += self._rng.choices(self._hints.texts, k=3)
        if self._pattern_samplers:
            candidates.append(self._match())
        return self._rng.choice(candidates)

    def _match(self) -> str:
        value = self._rng.choice(self._pattern_samplers)(self._rng, SamplingScope())
        return str(value.value) if isinstance(value, LiteralValue) else ""

    def _number(self) -> str:
        rng = self._rng
        near = [number + rng.choice((-1, 0, 1)) for number in self._hints.numbers]
        return f"{rng.choice([rng.randrange(10 ** rng.randint(1, 5)), *near]):.15g}"
