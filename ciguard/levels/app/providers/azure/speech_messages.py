"""Writes answers of Azure's Speech service, with the field names of its client."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.codes import Code, Refusal
from ciguard.levels.app.providers.recognised import DIGITS, as_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.recognised import Scored

_WORDS = re.compile(r"[\w'-]+")


def speech_answer(scored_results: Scored) -> Json:
    """Return a transcript as one sentence; its text is empty for silence.

    As in the service, it has an initial capital and a full stop.
    """
    parts = [(text.strip(), score) for text, score in scored_results if text.strip()]
    if not parts:
        return {"text": "", "n_best": []}
    transcript = " ".join(text for text, _ in parts)
    sentence = as_sentence(transcript)
    lexical = " ".join(_WORDS.findall(transcript.lower()))
    best = {
        "confidence": round(min(score for _, score in parts), DIGITS),
        "lexical": lexical,
        "itn": lexical,
        "masked_itn": lexical,
        "display": sentence,
    }
    return {"text": sentence, "n_best": [best]}


def refusals() -> Sequence[Refusal]:
    """Return the errors that the service may return; the client reports them in its results."""
    message = "WebSocket upgrade failed: Too many requests (429). Please check your quota."
    return (Refusal(message, Code.RESOURCE_EXHAUSTED, depends_on_content=False),)
