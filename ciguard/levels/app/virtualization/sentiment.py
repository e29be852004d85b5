"""Scores the sentiment of English texts with VADER's lexicon."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import ScoredSentence, sentences
from ciguard.levels.app.providers.registered import messages_of
from ciguard.levels.app.virtualization.engine import Recogniser

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MODULE = "vaderSentiment"


class SentimentEngine(Recogniser):
    """Scores the sentences of a text.

    The sign of a text's score agrees with that of Google for two texts in three.
    """

    NAME = "VADER"
    TASK = RecognitionTask.SENTIMENT
    MODULES: ClassVar[tuple[str, ...]] = (_MODULE,)

    @cached_property
    def _vader(self) -> Any:
        return import_module(f"{_MODULE}.{_MODULE}").SentimentIntensityAnalyzer()

    def recognise(self, operation: Operation, content: bytes) -> Json:
        """Return an answer with the score of each sentence, and their mean as the text's score."""
        scored = [
            ScoredSentence(sentence, begin, self._vader.polarity_scores(sentence)["compound"])
            for begin, sentence in sentences(content.decode("utf-8"))
        ]
        score = fmean(sentence.score for sentence in scored) if scored else 0.0
        return messages_of(operation).sentiment_answer(score, scored)
