"""Distorts texts as wrong reading or speech recognition does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_ALIKE = {
    "0": "O", "O": "0", "o": "c", "1": "l", "l": "1", "I": "l", "5": "S", "S": "5", "8": "B",
    "B": "8", "e": "c", "c": "e", "m": "rn", "w": "vv", "u": "v", "n": "h", "a": "o", "t": "f",
    "T": "7", "7": "T", "Z": "2", "2": "Z", "g": "9", "6": "b", "i": "j", ".": ",", ",": ".",
}  # fmt: skip
"""Look-alikes that replace a letter; letters without one are dropped."""
_ITEMS_PER_ERROR = 8
"""Number of letters or words for each further error."""


def misread(text: str, rng: random.Random) -> str:
    """Return a text with some letters replaced by look-alikes; never the same text."""
    letters = list(text)
    visible = [index for index, letter in enumerate(letters) if not letter.isspace()]
    for index in rng.sample(visible, _error_count(len(visible), rng)):
        letters[index] = _ALIKE.get(letters[index], "")
    return "".join(letters)


def misheard(text: str, rng: random.Random, words: Sequence[str]) -> str:
    """Return a text with some words dropped or replaced; never the same text.

    Args:
        text: the spoken text.
        rng: the source of randomness.
        words: words that may replace others.
    """
    recognised = text.split()
    for index in rng.sample(range(len(recognised)), _error_count(len(recognised), rng)):
        other = rng.choice(words).lower() if words else ""
        recognised[index] = (
            other if rng.random() < 1 / 2 and other != recognised[index].lower() else ""
        )
    return " ".join(filter(None, recognised))


def _error_count(count: int, rng: random.Random) -> int:
    """Return how many items out of a count are wrong: at least one, if there are any."""
    return rng.randint(1, 1 + count // _ITEMS_PER_ERROR) if count else 0
