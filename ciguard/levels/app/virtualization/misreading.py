"""Texts as they come back when they are read or heard wrongly."""

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
"""What letters are taken for; others are lost."""
_ONE_IN = 8
"""Letters or words, at most, for each wrong one."""


def misread(text: str, rng: random.Random) -> str:
    """Return a text with some letters taken for others; never the same text."""
    letters = list(text)
    visible = [at for at, letter in enumerate(letters) if not letter.isspace()]
    for at in rng.sample(visible, _wrong(len(visible), rng)):
        letters[at] = _ALIKE.get(letters[at], "")
    return "".join(letters)


def misheard(text: str, rng: random.Random, words: Sequence[str]) -> str:
    """Return a text with some words lost, or taken for others; never the same text.

    Args:
        text: that was said.
        rng: decides.
        words: that may be heard instead.
    """
    heard = text.split()
    for at in rng.sample(range(len(heard)), _wrong(len(heard), rng)):
        other = rng.choice(words).lower() if words else ""
        heard[at] = other if rng.random() < 1 / 2 and other != heard[at].lower() else ""
    return " ".join(filter(None, heard))


def _wrong(count: int, rng: random.Random) -> int:
    """Return how many of so many are wrong: one at least, where there is any."""
    return rng.randint(1, 1 + count // _ONE_IN) if count else 0
