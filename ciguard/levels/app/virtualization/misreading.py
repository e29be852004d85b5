"""Distorts texts like errors of text recognition or speech recognition."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

_LOOK_ALIKES = {
    "0": "O", "O": "0", "o": "c", "1": "l", "l": "1", "I": "l", "5": "S", "S": "5", "8": "B",
    "B": "8", "e": "c", "c": "e", "m": "rn", "w": "vv", "u": "v", "n": "h", "a": "o", "t": "f",
    "T": "7", "7": "T", "Z": "2", "2": "Z", "g": "9", "6": "b", "i": "j", ".": ",", ",": ".",
}  # fmt: skip
"""Letter → letters that replace it; other letters are dropped."""
_ITEMS_PER_ERROR = 8
"""Number of letters or words for which the maximum number of errors grows by one."""


def misread_text(text: str, rng: random.Random) -> str:
    """Return a text with some letters replaced by look-alikes; it differs from the given text."""
    letters = list(text)
    visible = [index for index, letter in enumerate(letters) if not letter.isspace()]
    for index in rng.sample(visible, _error_count(len(visible), rng)):
        letters[index] = _LOOK_ALIKES.get(letters[index], "")
    return "".join(letters)


def misheard_text(text: str, rng: random.Random, words: Sequence[str]) -> str:
    """Return a text with some words dropped or replaced; it differs from the given text.

    Args:
        text: the spoken text.
        rng: the source of randomness.
        words: words that may replace those of the text.
    """
    recognised = text.split()
    for index in rng.sample(range(len(recognised)), _error_count(len(recognised), rng)):
        other = rng.choice(words).lower() if words else ""
        recognised[index] = (
            other if rng.random() < 1 / 2 and other != recognised[index].lower() else ""
        )
    return " ".join(filter(None, recognised))


def _error_count(count: int, rng: random.Random) -> int:
    """Return a random number of errors among `count` items: at least 1, or 0 without items."""
    return rng.randint(1, 1 + count // _ITEMS_PER_ERROR) if count else 0
