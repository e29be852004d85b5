"""Answers of Azure's Speech, with the names that its client has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.recognised import DIGITS, displayed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.recognised import Scored

_WORDS = re.compile(r"[\w'-]+")


def speech_answer(found: Scored) -> Json:
    """Return what was said as a sentence, as it is displayed; nothing for silence.

    The service writes a capital first and a point last, however it is said.
    """
    said = [(text.strip(), score) for text, score in found if text.strip()]
    if not said:
        return {"text": "", "n_best": []}
    spoken = " ".join(text for text, _ in said)
    shown = displayed(spoken)
    lexical = " ".join(_WORDS.findall(spoken.lower()))
    best = {
        "confidence": round(min(score for _, score in said), DIGITS),
        "lexical": lexical,
        "itn": lexical,
        "masked_itn": lexical,
        "display": shown,
    }
    return {"text": shown, "n_best": [best]}


def refusals() -> Sequence[Refusal]:
    """Return how the service may refuse: the client tells it as a result, and raises nothing."""
    message = "WebSocket upgrade failed: Too many requests (429). Please check your quota."
    return (Refusal(message, Code.RESOURCE_EXHAUSTED, is_of_content=False),)
