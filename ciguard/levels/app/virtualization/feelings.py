"""Reads feelings in English texts, with VADER's list of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.recognised import Felt, sentences
from ciguard.levels.app.providers.registered import are_recognised, messages_of
from ciguard.levels.app.virtualization.installed import are_installed
from ciguard.levels.app.virtualization.validation import refuse

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MODULE = "vaderSentiment"


@dataclass(frozen=True)
class Feelings:
    """Scores the sentences of a text; it agrees with Google's sign two times in three."""

    @property
    def name(self) -> str:
        """How reports call it."""
        return "VADER"

    @property
    def is_simulated(self) -> bool:
        """It reads."""
        return False

    def serves(self, operation: Operation) -> bool:
        """Return whether it is asked for the feeling of a text, and VADER is installed."""
        is_asked = operation.task is RecognitionTask.SENTIMENT and are_recognised(operation)
        return is_asked and are_installed(_MODULE)

    @cached_property
    def _vader(self) -> Any:
        return import_module(f"{_MODULE}.{_MODULE}").SentimentIntensityAnalyzer()

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return what is felt in a text: the mean of its sentences, and each of them.

        Args:
            operation: that is asked.
            about: the text in UTF-8.

        Raises:
            ServiceError: if there is no text.
        """
        refuse(operation, about)
        felt = [
            Felt(sentence, begin, self._vader.polarity_scores(sentence)["compound"])
            for begin, sentence in sentences(about.decode("utf-8"))
        ]
        score = fmean(one.score for one in felt) if felt else 0.0
        return messages_of(operation).sentiment_answer(score, felt)
