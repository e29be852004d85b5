"""Documents about a topic (Keeper, 3.2.1); where more is needed, a user's folder has texts."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.variants import InputMaker
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_LENGTH = 5
"""Sentences of a document: well above the words that services ask for."""


class DocumentWriter(InputMaker):
    """Writes documents with the words of a topic, or without any."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it knows words of that topic."""
        return wanted.task is RecognitionTask.CATEGORIES and (
            not wanted.key or bool(_words_of(wanted.key))
        )

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield documents about the topic, `food` or `/Food & Drink`; see `InputMaker`."""
        words = _words_of(wanted.key)
        while True:
            text = _written(words, rng)
            yield ServiceInput(wanted, text.encode(), "sentences of ciguard's own")


@cache
def _known() -> dict[str, Any]:
    """Return the topics, by their names, and sentences."""
    return tomllib.loads((files(__package__) / "documents.toml").read_text("utf-8"))


def _words_of(topic: str) -> list[str]:
    """Return the words of a topic; none if it is not known."""
    first = topic.strip("/").partition("/")[0]  # of a path, what all below it belong to
    asked = set(re.findall(r"[a-z]+", first.lower())) - {"and"}
    asked |= {one.removesuffix("s") for one in asked} | {f"{one}s" for one in asked}
    topics: dict[str, list[str]] = _known()["topics"]
    best = max(topics, key=lambda names: len(asked & set(names.split())))
    return topics[best] if asked & set(best.split()) else []


def _written(words: Sequence[str], rng: random.Random) -> str:
    if not words:
        return " ".join(rng.sample(_known()["plain"], 3))
    sentences = rng.sample(_known()["sentences"], _LENGTH)
    return " ".join(one.format(*rng.sample(words, 3)) for one in sentences)
