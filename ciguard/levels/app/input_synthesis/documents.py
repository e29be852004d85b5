"""Documents about a topic (Keeper paper, section 3.2.1)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_SENTENCE_COUNT = 5
"""Number of sentences in a document, well above the minimum length that services accept."""


class DocumentWriter(InputMaker):
    """Documents with the words of a topic, or without words of any topic."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether words of the topic are known."""
        return wanted.task is RecognitionTask.CATEGORIES and (
            not wanted.key or bool(_words_of(wanted.key))
        )

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield documents about the topic, such as `food` or `/Food & Drink`; see `InputMaker`."""
        words = _words_of(wanted.key)
        while True:
            text = _document(words, rng)
            yield ServiceInput(wanted, text.encode(), "sentences of ciguard's own")


@cache
def _templates() -> dict[str, Any]:
    """Return the content of `documents.toml`: words of topics, and templates of sentences."""
    return tomllib.loads((files(__package__) / "documents.toml").read_text("utf-8"))


def _words_of(topic: str) -> list[str]:
    """Return the words of a topic; empty if the topic is not known."""
    top = topic.strip("/").partition("/")[0]  # the top level of a path
    topic_words = set(re.findall(r"[a-z]+", top.lower())) - {"and"}
    topic_words |= {word.removesuffix("s") for word in topic_words} | {
        f"{word}s" for word in topic_words
    }
    topics: dict[str, list[str]] = _templates()["topics"]
    best = max(topics, key=lambda names: len(topic_words & set(names.split())))
    return topics[best] if topic_words & set(best.split()) else []


def _document(words: Sequence[str], rng: random.Random) -> str:
    if not words:
        return " ".join(rng.sample(_templates()["plain"], 3))
    sentences = rng.sample(_templates()["sentences"], _SENTENCE_COUNT)
    return " ".join(sentence.format(*rng.sample(words, 3)) for sentence in sentences)
