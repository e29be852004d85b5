"""Transcribes English speech, with PocketSphinx and its bundled model."""

from __future__ import annotations

from importlib import import_module
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import speech_messages_of
from ciguard.levels.app.virtualization import sounds
from ciguard.levels.app.virtualization.engine import Recogniser

if TYPE_CHECKING:
    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.description import Operation

_MODULE = "pocketsphinx"
_NOISES = ("<", "[", "+")
"""Prefixes of the markers of silence and noise among the words."""


class SpeechEngine(Recogniser):
    """Transcribes short, clear sentences; this takes as long as the sound, or longer."""

    NAME = "PocketSphinx"
    TASK = RecognitionTask.SPEECH
    MODULES: ClassVar[tuple[str, ...]] = (_MODULE,)

    def recognise(self, operation: Operation, content: bytes) -> Json:
        """Return the transcript of a WAV file (16 kHz, 16 bits) and its confidence."""
        samples = sounds.samples(content)
        if not any(samples):  # PocketSphinx would recognise words in digital silence
            return {}
        decoder = _decoder()
        decoder.start_utt()
        decoder.process_raw(samples, full_utt=True)
        decoder.end_utt()
        hypothesis = decoder.hyp()
        if hypothesis is None or not hypothesis.hypstr:
            return {}
        probabilities = [word.prob for word in decoder.seg() if not word.word.startswith(_NOISES)]
        confidence = min(fmean(probabilities), 1.0) if probabilities else 0.0
        return speech_messages_of(operation).speech_answer([(hypothesis.hypstr, confidence)])


def _decoder() -> Any:
    """Return a new decoder: decoders adapt, so that results would depend on earlier sounds."""
    return import_module(_MODULE).Decoder(samprate=sounds.RATE_HZ, loglevel="FATAL")
