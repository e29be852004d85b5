"""Texts with a sentiment on which people agree (Keeper paper, section 3.2.3)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.input_synthesis.inputs import InputSpec, Sentiment, ServiceInput
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_COLUMNS = ("feeling", "text")


@dataclass(frozen=True)
class SentimentTexts(InputMaker):
    """Texts that people have labelled with a sentiment."""

    texts: Mapping[Sentiment, tuple[str, ...]]
    """Sentiment → texts with this sentiment."""
    origin: str
    """Source of the texts, for reports."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether texts with the sentiment are known."""
        if wanted.task is not RecognitionTask.SENTIMENT:
            return False
        return bool(self.texts.get(wanted.feeling or Sentiment.NEUTRAL))

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield texts with the sentiment in random order; see `InputMaker`."""
        known = self.texts[wanted.feeling or Sentiment.NEUTRAL]
        for text in rng.sample(known, len(known)):
            yield ServiceInput(wanted, text.encode(), self.origin)


@cache
def bundled_texts() -> SentimentTexts:
    """Return the texts that come with ciguard."""
    content = (files(__package__) / "feelings.csv").read_text("utf-8")
    return SentimentTexts(_texts(content, "feelings.csv"), "a sentence of ciguard's own")


def read_texts(file: Path) -> SentimentTexts:
    """Read the user's texts from a CSV file with the columns `feeling` and `text`.

    Raises:
        ConfigurationError: if the file cannot be read or is invalid.
    """
    try:
        content = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{file} cannot be read as a UTF-8 CSV file: {error}"
        raise ConfigurationError(msg) from error
    return SentimentTexts(_texts(content, str(file)), str(file))


def _texts(content: str, file: str) -> dict[Sentiment, tuple[str, ...]]:
    texts_by_feeling: dict[Sentiment, list[str]] = {feeling: [] for feeling in Sentiment}
    try:
        rows = csv.DictReader(io.StringIO(content), strict=True)
        missing = [column for column in _COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            msg = (
                f"{file} lacks the column `{missing[0]}`. The first line has to be `feeling,text`."
            )
            raise ConfigurationError(msg)
        for row in rows:
            feeling, text = (row[column] or "" for column in _COLUMNS)
            if feeling not in set(Sentiment) or not text.strip():
                problem = (
                    "the text is empty"
                    if feeling in set(Sentiment)
                    else f"{feeling!r} is not a known feeling"
                )
                msg = (
                    f"{file}:{rows.line_num}: {problem}. Write a feeling "
                    f"({', '.join(Sentiment)}) and a text on each line."
                )
                raise ConfigurationError(msg)
            texts_by_feeling[Sentiment(feeling)].append(text)
    except csv.Error as error:
        msg = f"{file} cannot be read as a CSV file: {error}"
        raise ConfigurationError(msg) from error
    return {feeling: tuple(dict.fromkeys(texts)) for feeling, texts in texts_by_feeling.items()}
